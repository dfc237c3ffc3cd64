// Which MCP services are on, as the settings of the external provider say, and what is missing where one is not.

import { clientError } from '../canonical/error.ts';
import type { Settings } from '../config/effective.ts';

export type ProviderSettings = Settings['externalProvider'];

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
