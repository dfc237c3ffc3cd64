// The edge's view of the settings, derived once for each change of them.

import type { Settings } from '../config/effective.ts';
import { DEFAULT_EDGE_SETTINGS, type EdgeSettings } from '../server/settings.ts';

export function createEdgeSettings(current: () => Settings): () => EdgeSettings {
  let source: Settings | undefined;
  let derived = DEFAULT_EDGE_SETTINGS;
  return () => {
    const settings = current();
    if (settings === source) return derived;
    source = settings;
    const { host, port, authMode, apiKey, maxBodyBytes } = settings;
    const { trustedProxies, allowedHosts, corsOrigins } = settings;
    derived = {
      ...DEFAULT_EDGE_SETTINGS,
      host,
      port,
      authMode,
      apiKeys: apiKey === undefined ? [] : [{ id: 'api-key', key: apiKey }],
      consolePassword: settings.consolePassword,
      addressFilter: settings.addressFilter,
      sessionIdleMs: settings.console.sessionIdleMs,
      maxBodyBytes,
      trustedProxies,
      allowedHosts,
      corsOrigins,
    };
    return derived;
  };
}
