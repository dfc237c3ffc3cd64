// The settings of the edge, derived once per change, and its access control.

import {
  type AccessControl,
  type AccessControlOptions,
  type AccessStores,
  loadAccessControl,
} from '../access/access.ts';
import type { DoorLog } from '../access/access-log.ts';
import { keepPasswordHashed } from '../access/password-hash.ts';
import type { Settings } from '../config/effective.ts';
import type { LiveConfig } from '../config/live.ts';
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

export interface OpenAccessControlOptions
  extends Omit<AccessControlOptions, 'stores' | 'passwordSettled'> {
  readonly stores: AccessStores;
  readonly config: Pick<LiveConfig, 'raw' | 'update' | 'subscribe'>;
  readonly log: DoorLog;
}

/**
 * Access control over its stores; keeps the console password of the config file hashed. Close it before the
 * stores and the configuration.
 * @throws StoreError
 */
export async function openAccessControl({
  config,
  ...options
}: OpenAccessControlOptions): Promise<AccessControl> {
  const access = await loadAccessControl({ ...options, passwordSettled: () => keeper.settled() });
  const keeper = keepPasswordHashed({ config, hasher: access.hasher, log: options.log });
  return {
    ...access,
    async close() {
      await keeper.close();
      await access.close();
    },
  };
}
