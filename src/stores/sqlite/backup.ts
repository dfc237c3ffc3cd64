// Copies a database in use, checks copies, and keeps one from before an upgrade.

import { closeSync, existsSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { StoreError } from '../../accounts/account-store.ts';
import type { Clock } from '../../lib/clock.ts';
import { codeOf, told } from '../../lib/localized-message.ts';
import { createPrivateFile, makePrivate, replaceFile } from '../../lib/private-file.ts';
import type { Vault } from '../../sealing/seal.ts';
import { openDataKey } from '../data-key.ts';
import { firstOf } from '../database.ts';
import { readVersion } from '../migrations.ts';
import { damagedDatabase, unreadable } from './faults.ts';
import { type OpenHandle, openSqliteFile, SqliteConnection } from './session.ts';

/** More pages than a database has: all in one step, so that no writer makes it begin again. */
const ALL_PAGES = 0x7fff_ffff;

/** Copies the database of one moment into an empty file, also while it is used. @throws Error */
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

/** Reads a whole copy. @returns the version of its shape. @throws StoreError `unreadable` */
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

/** Keeps a copy for going back to the version before. @throws StoreError, or an error of SQLite */
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

// Whether what stands where a database should is one of ours, whole and private.

/** "isth": tells our databases from others (https://www.sqlite.org/fileformat2.html#application_id). */
export const APPLICATION_ID = 0x69737468;

const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
const APPLICATION_ID_AT = 68;

/** @returns `missing` when a new one may be made. @throws StoreError `unreadable` or `unavailable` */
export function checkDatabaseFile(path: string): 'ours' | 'missing' {
  try {
    if (!existsSync(path)) {
      if (!existsSync(`${path}-wal`)) return 'missing';
      throw unreadable(path, told`is missing, but its latest changes are there (${path}-wal)`);
    }
    if (!statSync(path).isFile()) throw unreadable(path, told`is not a file`);
    checkHeader(path);
    keepPrivate(path);
    return 'ours';
  } catch (error) {
    if (error instanceof StoreError) throw error;
    const message = told`The database ${path} cannot be read (${codeOf(error) ?? 'unknown error'}). Let the user of this process read and write it and its folder.`;
    throw new StoreError('unavailable', message, error);
  }
}

function checkHeader(path: string): void {
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, 'r');
  let length: number;
  try {
    length = readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  if (length === 0) throw unreadable(path, told`is empty (0 bytes)`);
  if (length < HEADER_BYTES || header.toString('latin1', 0, 16) !== MAGIC) {
    throw unreadable(path, told`is no database, or its beginning is damaged`);
  }
  if (header.readUInt32BE(APPLICATION_ID_AT) !== APPLICATION_ID) {
    throw unreadable(path, told`is a database of another program`);
  }
}

function keepPrivate(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    if (!existsSync(file) || makePrivate(file) !== 'exposed') continue;
    const message = told`${file} can be read by others and its mode cannot be changed. Run "chmod 600 ${file}" as its owner.`;
    throw new StoreError('unavailable', message);
  }
}

/** Leaves out the indexes, which take long and of which SQLite notices what matters. @throws StoreError */
export async function checkWhole(connection: SqliteConnection, name: string): Promise<void> {
  const check = sql<{ quickCheck: string }>`pragma quick_check(1)`;
  const found = await connection.read(() => firstOf(check));
  if (found?.quickCheck !== 'ok') throw damagedDatabase(name, found?.quickCheck);
}
