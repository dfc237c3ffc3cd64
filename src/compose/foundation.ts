// What everything else stands on: the secret key, the secrets of the config file and the database.

import { join } from 'node:path';
import { configPath } from '../config/effective.ts';
import type { LiveConfig } from '../config/live.ts';
import type { Clock } from '../lib/clock.ts';
import { DATABASE_FILE, loadSecretKey, type SecretKey } from '../sealing/secret-key.ts';
import { createVault } from '../sealing/vault.ts';
import type { Log } from '../server/log.ts';
import type { SqliteStores } from '../stores/sqlite/open-database.ts';
import { type ConfigSecrets, createConfigSecrets } from './config-secrets.ts';
import { keepConfigPrivate } from './keep-config-private.ts';

/** What every part of the gateway is built with. */
export interface GatewayContext {
  readonly config: LiveConfig;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Release version. */
  readonly version: string;
}

export interface Foundation {
  readonly secretKey: SecretKey;
  readonly secrets: ConfigSecrets;
  /** The caller closes them, after all that uses them. */
  readonly stores: SqliteStores;
}

/** @throws StoreError and others when the data folder cannot be used; the message names the way out */
export async function openFoundation({ config, clock, log }: GatewayContext): Promise<Foundation> {
  const { dataDir, secretKey: environmentKey } = config.current();
  const secretKey = loadSecretKey({ dataDir, environmentKey, log });
  const vault = createVault(secretKey);
  const { isLasting } = secretKey;
  const secrets = createConfigSecrets({ config, vault: isLasting ? vault : undefined, log });
  keepConfigPrivate({ config, path: configPath(dataDir), log });
  await secrets.keepSealed();
  // The database is a third of the start: its code is read while nothing else waits for it.
  const { openDatabase } = await import('../stores/sqlite/open-database.ts');
  const path = join(dataDir, DATABASE_FILE);
  const stores = await openDatabase({ path, vault, clock, log, isLasting });
  return { secretKey, secrets, stores };
}
