// The edge's view of the settings, derived once for each change of them.

import { type Door, type DoorOptions, type DoorStores, openDoor } from '../access/access.ts';
import type { DoorLog } from '../access/batch.ts';
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

// Opens the door over its stores and keeps the console password of the config file hashed.

export interface GatewayDoorOptions extends Omit<DoorOptions, 'stores' | 'passwordSettled'> {
  readonly stores: DoorStores;
  readonly config: Pick<LiveConfig, 'raw' | 'update' | 'subscribe'>;
  readonly log: DoorLog;
}

export interface GatewayDoor {
  readonly door: Door;
  /** Saves what has gathered; before the stores and the configuration are closed. */
  close(): Promise<void>;
}

/** @throws StoreError */
export async function openGatewayDoor({
  config,
  ...options
}: GatewayDoorOptions): Promise<GatewayDoor> {
  const door = await openDoor({ ...options, passwordSettled: () => keeper.settled() });
  const keeper = keepPasswordHashed({ config, hasher: door.hasher, log: options.log });
  return {
    door,
    async close() {
      await keeper.close();
      await door.close();
    },
  };
}
