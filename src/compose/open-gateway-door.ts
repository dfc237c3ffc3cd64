// Opens the door over its stores and keeps the console password of the config file hashed.

import type { LiveConfig } from '../config/live.ts';
import type { DoorLog } from '../door/batch.ts';
import { type Door, type DoorOptions, type DoorStores, openDoor } from '../door/door.ts';
import { keepPasswordHashed } from '../door/hash-password-setting.ts';

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
