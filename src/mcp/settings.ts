// What the MCP services are built with, and which of them the settings of the external provider have on.

import { clientError } from '../canonical/error.ts';
import type { Settings } from '../config/effective.ts';
import type { Clock } from '../lib/clock.ts';
import type { ProxyChoice } from '../lib/outbound-proxy.ts';
import type { MediaFetcher } from '../media/fetch-media.ts';

type ProviderSettings = Settings['externalProvider'];

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
  readonly version: string;
  readonly userAgent: string;
  /** The proxy of the gateway as it is now. */
  readonly proxyFor: ProxyChoice;
  readonly clock: Clock;
  readonly onFailure: (error: unknown) => void;
}

export type ServiceName = 'web_search' | 'web_reader' | 'vision';

/** @throws GatewayError not-found naming the first setting that is off or missing */
export function checkService(settings: ProviderSettings, name: ServiceName): void {
  const { enabled, apiKey, mcp } = settings;
  const missing = [
    ['enabled', enabled],
    ['api_key', apiKey],
    ['mcp.enabled', mcp.enabled],
    [`mcp.${name}_enabled`, switchOf(settings, name)],
    name === 'vision' ? ['base_url', settings.baseUrl] : [`mcp.${name}_url`, urlOf(settings, name)],
  ].find(([, value]) => !value);
  if (missing === undefined) return;
  const setting = `proxy.extprov.${missing[0]}`;
  const message = `/mcp/${name}/mcp is off here: the gateway's setting ${setting} is not set.`;
  throw clientError('not-found', message);
}

function switchOf({ mcp }: ProviderSettings, name: ServiceName): boolean {
  switch (name) {
    case 'web_search':
      return mcp.webSearchEnabled;
    case 'web_reader':
      return mcp.webReaderEnabled;
    case 'vision':
      return mcp.visionEnabled;
    default:
      return name satisfies never;
  }
}

/** Where the provider has the service; undefined until that is set. */
export function urlOf(
  { mcp }: ProviderSettings,
  name: Exclude<ServiceName, 'vision'>,
): string | undefined {
  return name === 'web_search' ? mcp.webSearchUrl : mcp.webReaderUrl;
}
