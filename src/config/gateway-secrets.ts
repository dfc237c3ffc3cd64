// The credentials among the settings: what no log and no record may hold.

import type { Settings } from './effective.ts';

/** Keys of stored accounts are not among them: they are sealed, and never come near the log. */
export function gatewaySecrets(settings: Settings): readonly string[] {
  const { apiKey, consolePassword, externalProvider, secretKey, upstreamSeeds } = settings;
  const single = [apiKey, consolePassword, externalProvider.apiKey, secretKey];
  const headers = Object.values(settings.telemetry?.headers ?? {});
  const keys = upstreamSeeds.flatMap(({ apiKeys }) => apiKeys);
  const given = [...single, ...headers, ...keys].filter((secret) => secret !== undefined);
  return [...new Set(given.filter((secret) => secret !== ''))];
}
