// The MCP services of the gateway: two of the provider's, relayed, and one of our own for pictures.

import { once } from '../lib/once.ts';
import type { ServiceRoute } from '../server/service-route.ts';
import { checkService, createRelay, type McpOptions, type ServiceName } from './relay.ts';

export function createMcpServices(options: McpOptions) {
  const { settings } = options;
  const relay = createRelay(options);
  // Its SDK takes 30 MB: it is loaded with the first request.
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
        isEndless: true,
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
      title: 'sends MCP messages to the vision server',
      async run(input) {
        checkService(settings(), 'vision');
        const { serveVision } = await vision();
        return serveVision(input, options);
      },
    },
  ];
  return { routes, close: () => relay.close() };
}
