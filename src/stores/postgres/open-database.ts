// Opens the database of a PostgreSQL server: reached, migrated and unlocked, or refused with a reason.

import { StoreError } from '../../accounts/account-store.ts';
import { told } from '../../lib/localized-message.ts';
import { createDataKey, type DataKeyRow, openDataKey, requireSameDataKey } from '../data-key.ts';
import { migrate, readVersion } from '../migrations.ts';
import { openStores, type StoresOptions } from '../stores.ts';
import type { PostgresDatabase } from './session.ts';

export interface OpenPostgresOptions extends StoresOptions {
  readonly database: PostgresDatabase;
  /** That of a database whose rows are copied here, which its key seals; a new one of its own when absent. */
  readonly dataKey?: DataKeyRow | undefined;
}

export type PostgresStores = Awaited<ReturnType<typeof openPostgres>>;

/**
 * An empty database gets its tables and a key of its own. Of several processes that start at once one does so,
 * and the others wait for it. The caller closes the database.
 * @throws StoreError `unreadable` for one of a newer version, another program or another secret key, `unavailable`
 * when it cannot be reached or changed
 */
export async function openPostgres({ database, dataKey, ...options }: OpenPostgresOptions) {
  const { vault, clock } = options;
  const { name, dialect } = database;
  const dataVault = await database.alone(function* () {
    const context = { name, dialect, now: clock.now() };
    const isNew = (yield* readVersion(context)) === 0;
    yield* migrate(context);
    if (isNew) yield* createDataKey(vault, dataKey);
    else if (dataKey !== undefined) yield* requireSameDataKey(name, dataKey);
    return yield* openDataKey({ name, vault });
  });
  const stores = await openStores(database, { ...options, name, dataVault });
  return { ...stores, isLasting: true };
}

/** A key that is lost with this process would lose all replicas what is stored. @throws StoreError */
export function requireSecretKey(environmentKey: string | undefined): string {
  if (environmentKey !== undefined) return environmentKey;
  const message = told`DATABASE_URL is set, so ISTHMUS_SECRET_KEY must be set too, the same on every replica: it seals what they all store.`;
  throw new StoreError('unavailable', message);
}
