// Opens PostgreSQL where DATABASE_URL names one: its stores, and the settings that several gateways share.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { configPath } from '../config/effective.ts';
import type { Environment } from '../config/env.ts';
import { storedSource } from '../config/stored.ts';
import type { Clock } from '../lib/clock.ts';
import { createVault } from '../sealing/seal.ts';
import { createSecretKey, DATABASE_FILE } from '../sealing/secret-key.ts';
import type { Log } from '../server/settings.ts';
import type { DataKeyRow } from '../stores/data-key.ts';

interface SharedDatabaseOptions {
  readonly environment: Environment;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Of the database whose content is copied there; its own when absent. */
  readonly dataKey?: DataKeyRow | undefined;
}

export type SharedDatabase = Awaited<ReturnType<typeof openDatabaseAt>>;

const POOL_SIZE = 10;
const CONNECT_SECONDS = 5;
const STATEMENT_SECONDS = 10;
/** A database that starts together with the gateway is waited for. */
const START_WAIT_MS = 60_000;

/** Undefined without DATABASE_URL; PostgreSQL is not loaded then. @throws StoreError with the way out */
export async function openSharedDatabase(options: SharedDatabaseOptions) {
  const { databaseUrl: url } = options.environment;
  if (url === undefined) return undefined;
  const database = await openDatabaseAt(url, options);
  await warnOfFolder(database, options);
  return database;
}

/** Whoever sets DATABASE_URL without moving the data folder would find nothing of it, and no word of that. */
async function warnOfFolder(
  { name, stores }: SharedDatabase,
  { dataDir, log }: SharedDatabaseOptions,
): Promise<void> {
  const path = join(dataDir, DATABASE_FILE);
  if (!existsSync(path)) return;
  const isUsed = [await stores.accounts.list(), await stores.access.clientKeys.list()].some(
    ({ length }) => length > 0,
  );
  if (isUsed) return;
  const message = `DATABASE_URL names a database without accounts and keys, and those of ${path} are not read beside it. Stop the gateway and run "isthmus migrate-store --from sqlite --to postgres", which wants an empty database; or remove the file if nothing in it is needed.`;
  log.warn({ path, database: name }, message);
}

/** @throws StoreError as `openSharedDatabase` */
export async function openDatabaseAt(url: string, options: SharedDatabaseOptions) {
  const { environment, dataDir, clock, random, log, dataKey } = options;
  const { openPostgres, PostgresDatabase, requireSecretKey } = await import(
    '../stores/postgres/session.ts'
  );
  const { createSettingsStore } = await import('../stores/stores.ts');
  const key = requireSecretKey(environment.secretKey);
  const vault = createVault(createSecretKey(key, 'ISTHMUS_SECRET_KEY'));
  const database = new PostgresDatabase({
    ...{ url, clock, random, log },
    poolSize: environment.databasePoolSize ?? POOL_SIZE,
    connectTimeoutMs: 1000 * (environment.databaseConnectTimeout ?? CONNECT_SECONDS),
    statementTimeoutMs: 1000 * (environment.databaseStatementTimeout ?? STATEMENT_SECONDS),
  });
  try {
    await database.waitUntilReachable(START_WAIT_MS);
    const stores = await openPostgres({ database, vault, clock, log, dataKey });
    const store = createSettingsStore(database);
    const { name } = database;
    return {
      /** Of the database, without user and password. */
      name,
      stores,
      reachability: () => database.reachability(),
      /** Calls back when it is lost and when it is back; the answer ends it. */
      subscribe: (listener: Parameters<typeof database.subscribe>[0]) =>
        database.subscribe(listener),
      /** Of the settings, which are in the database as well. */
      source: storedSource({ store, name, filePath: configPath(dataDir), clock, log }),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
