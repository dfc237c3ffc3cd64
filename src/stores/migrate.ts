// Brings a database to the shape that this program knows.

import { StoreError } from '../accounts/account-store.ts';
import { told } from '../lib/localized-message.ts';
import { type Dialect, firstOf, insert, runScript, type Work } from './database.ts';
import { MIGRATIONS, type Migration } from './migrations.ts';
import { builder } from './schema.ts';

interface MigrationContext {
  /** What messages call the database. */
  readonly name: string;
  readonly dialect: Dialect;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly migrations?: readonly Migration[];
}

/** @throws StoreError `unreadable` when a later version of the program made the database */
export function* migrate(context: MigrationContext): Work<void> {
  const { now, dialect, migrations = MIGRATIONS } = context;
  const version = yield* readVersion(context);
  for (const migration of migrations.filter((one) => one.version > version)) {
    const text = migration[dialect.name];
    if (text === undefined) continue;
    yield* runScript(text);
    const row = { version: migration.version, name: migration.name, appliedAt: now };
    yield* insert('migrations', [row]);
  }
}

/** 0 for a new database. @throws StoreError as `migrate` */
export function* readVersion(context: MigrationContext): Work<number> {
  const { name, dialect, migrations = MIGRATIONS } = context;
  if ((yield* firstOf(dialect.tableNamed('migrations'))) === undefined) return 0;
  const known = migrations.at(-1)?.version ?? 0;
  const latest = builder.selectFrom('migrations').select('version').orderBy('version', 'desc');
  const version = (yield* firstOf(latest.limit(1)))?.version ?? 0;
  if (version <= known) return version;
  const message = told`The database ${name} is of version ${version}; this program knows versions up to ${known}. It was left as it is. Use the newer program again, or put back the backup from before it.`;
  throw new StoreError('unreadable', message);
}
