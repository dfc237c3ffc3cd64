// Copies the database of a running gateway, and checks a copy.

import { backup, DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../lib/clock.ts';
import type { Vault } from '../../sealing/seal.ts';
import { openDataKey } from '../data-key.ts';
import { readVersion } from '../migrate.ts';
import { checkDatabaseFile, checkWhole } from './open-database.ts';
import { openSqliteFile, SqliteConnection } from './session.ts';

/** More pages than a database has: all in one step, so that no writer makes it begin again. */
const ALL_PAGES = 0x7fff_ffff;

/**
 * Writes the database as it is at one moment into an empty file; other processes read and write it meanwhile.
 * @throws Error when there is none, or it is none of ours
 */
export async function copyDatabase(path: string, target: string): Promise<void> {
  requireDatabase(path);
  const source = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
  try {
    await backup(source, target, { rate: ALL_PAGES });
  } finally {
    source.close();
  }
}

interface InspectOptions {
  readonly path: string;
  /** What messages call it. */
  readonly name: string;
  /** Of the secret key, where it is known: it must be the one that the database was sealed with. */
  readonly vault: Vault | undefined;
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
}

/**
 * Reads the whole of a copy. @returns the version of its shape
 * @throws StoreError `unreadable` when it is damaged, of a later version, or sealed with another key
 */
export async function inspectDatabase(options: InspectOptions): Promise<number> {
  const { path, name, vault, clock } = options;
  requireDatabase(path);
  const connection = new SqliteConnection({ path, name, clock, open: openSqliteFile });
  try {
    await checkWhole(connection, name);
    const context = { name, dialect: connection.dialect, now: clock.now() };
    return await connection.read(function* () {
      const version = yield* readVersion(context);
      if (vault !== undefined) yield* openDataKey({ name, vault });
      return version;
    });
  } finally {
    await connection.close();
  }
}

function requireDatabase(path: string): void {
  if (checkDatabaseFile(path) === 'ours') return;
  throw new Error(`There is no database ${path}.`);
}
