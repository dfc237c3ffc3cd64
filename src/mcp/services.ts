// The MCP services of the gateway: two of the provider's, relayed, and one of our own for pictures.

import type { Clock } from '../lib/clock.ts';
import { once } from '../lib/once.ts';
import type { MediaFetcher } from '../media/fetch-media.ts';
import type { ServiceRoute } from '../server/service-route.ts';
import { createRelay } from './relay.ts';
import { checkService, type ProviderSettings, type ServiceName } from './settings.ts';

export interface McpOptions {
  /** As they are now. */
  readonly settings: () => ProviderSettings;
  /** Opens the key of the provider, which the file may hold sealed. @throws Error */
  readonly openKey: (text: string) => string;
  /** Binds the provider's sessions to the clients that have them. */
  readonly sessionKey: Buffer;
  /** The upstream that looks at pictures. */
  readonly upstreamId: string;
  readonly media: Pick<MediaFetcher, 'isEnabled' | 'fetch'>;
  /** Release version. */
  readonly version: string;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly onFailure: (error: unknown) => void;
}

export function createMcpServices(options: McpOptions) {
  const { settings } = options;
  const relay = createRelay(options);
  // Its SDK takes 30 MB: it is loaded when somebody first asks.
  const vision = once(() => import('./vision.ts'));
  const relayed = (name: Exclude<ServiceName, 'vision'>, does: string): ServiceRoute[] => {
    const path = `/mcp/${name}/mcp`;
    const common = { path, modelName: `mcp/${name}` };
    return [
      {
        ...{ ...common, method: 'POST', title: `sends MCP messages to a server that ${does}` },
        run: (input) => relay.send('POST', name, input),
      },
      {
        ...{ ...common, method: 'GET', title: `listens to the MCP server that ${does}` },
        run: (input) => relay.send('GET', name, input),
      },
      {
        ...{
          ...common,
          method: 'DELETE',
          title: `ends a session with the MCP server that ${does}`,
        },
        run: (input) => relay.send('DELETE', name, input),
      },
    ];
  };
  const routes: readonly ServiceRoute[] = [
    ...relayed('web_search', 'searches the web'),
    ...relayed('web_reader', 'reads web pages'),
    {
      method: 'POST',
      path: '/mcp/vision/mcp',
      title: 'sends MCP messages to a server that looks at pictures',
      async run(input) {
        checkService(settings(), 'vision');
        const { serveVision } = await vision();
        return serveVision(input, options);
      },
    },
  ];
  return { routes, close: () => relay.close() };
}
