// Copies a database that is in use, checks a copy, and keeps one from before an upgrade.

import { existsSync, rmSync, statSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../lib/clock.ts';
import { createPrivateFile, replaceFile } from '../../lib/private-file.ts';
import type { Vault } from '../../sealing/seal.ts';
import { openDataKey } from '../data-key.ts';
import { readVersion } from '../migrations.ts';
import { checkDatabaseFile, checkWhole } from './check-database.ts';
import { type OpenHandle, openSqliteFile, SqliteConnection } from './session.ts';

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
  readonly open?: OpenHandle | undefined;
}

/**
 * Reads the whole of a copy. @returns the version of its shape
 * @throws StoreError `unreadable` when it is damaged, of a later version, or sealed with another key
 */
export async function inspectDatabase(options: InspectOptions): Promise<number> {
  const { path, name, vault, clock, open = openSqliteFile } = options;
  requireDatabase(path);
  const connection = new SqliteConnection({ path, name, clock, open });
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

/** How long the copy from before an upgrade stays: what is removed from the database meanwhile is still in it. */
const UPGRADE_COPY_MS = 7 * 86_400_000;

/** Where the database is kept as it was before the last upgrade that changed its shape. */
function upgradeCopyOf(path: string): string {
  return `${path}.before-upgrade`;
}

/**
 * Keeps the database as it is beside it, in place of an older copy, for who goes back to the version before.
 * @param version of the shape that it has: where another process is faster, that one has kept a copy
 * @throws StoreError or an error of SQLite or the system
 */
export async function keepUpgradeCopy(options: InspectOptions, version: number): Promise<void> {
  const { path } = options;
  const kept = upgradeCopyOf(path);
  for (;;) {
    const copy = createPrivateFile(kept);
    try {
      await copyDatabase(path, copy);
      const copied = await inspectDatabase({ ...options, path: copy, name: kept });
      if (copied === version) replaceFile(copy, kept);
      return;
    } catch (error) {
      // A process that starts meanwhile may have taken it for a leftover.
      if (existsSync(copy)) throw error;
    } finally {
      for (const end of ['', '-wal', '-shm']) rmSync(copy + end, { force: true });
    }
  }
}

/** At once where it is old enough. */
export function removeUpgradeCopyInTime(
  path: string,
  { now, startTimer }: Pick<Clock, 'now' | 'startTimer'>,
): void {
  const made = statSync(upgradeCopyOf(path), { throwIfNoEntry: false })?.mtimeMs;
  if (made === undefined) return;
  const left = made + UPGRADE_COPY_MS - now();
  if (left <= 0) removeUpgradeCopy(path);
  else startTimer(Math.min(left, UPGRADE_COPY_MS), () => removeUpgradeCopy(path));
}

export function removeUpgradeCopy(path: string): void {
  rmSync(upgradeCopyOf(path), { force: true });
}

function requireDatabase(path: string): void {
  if (checkDatabaseFile(path) === 'ours') return;
  throw new Error(`There is no database ${path}.`);
}
