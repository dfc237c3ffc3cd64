// The database file before it is opened: only a file of ours is touched, and nothing is ever replaced.

import { closeSync, existsSync, openSync, readdirSync, readSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StoreError } from '../../accounts/account-store.ts';
import { told } from '../../lib/told.ts';
import { codeOf, makePrivate } from '../../sealing/private-file.ts';

/** "isth": tells our databases from others (https://www.sqlite.org/fileformat2.html#application_id). */
export const APPLICATION_ID = 0x69737468;

const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
const APPLICATION_ID_AT = 68;
/**
 * @returns `missing` when there is none and a new one may be made
 * @throws StoreError `unreadable` when something else stands there or the file is empty or damaged,
 * `unavailable` when it cannot be read or kept from others
 */
export function checkDatabaseFile(path: string): 'ours' | 'missing' {
  try {
    if (!existsSync(path)) return checkMissing(path);
    if (!statSync(path).isFile()) throw unreadable(path, told`is not a file`);
    checkHeader(path, readHeader(path));
    keepPrivate(path);
    return 'ours';
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw new StoreError(
      'unavailable',
      told`The database ${path} cannot be read (${codeOf(error) ?? 'unknown error'}). Let the user of this process read and write it and its folder.`,
      error,
    );
  }
}

/** Removes what a process left that ended while it made a new database. */
export function removeUnfinished(path: string): void {
  const prefix = `${basename(path)}.`;
  for (const name of readdirSync(dirname(path))) {
    const isOurs =
      name.startsWith(prefix) && /\.[0-9a-f]{12}\.new(-wal|-shm|-journal)?$/.test(name);
    if (isOurs) rmSync(join(dirname(path), name), { force: true });
  }
}

function checkMissing(path: string): 'missing' {
  if (!existsSync(`${path}-wal`)) return 'missing';
  throw unreadable(path, told`is missing, but its latest changes are there (${path}-wal)`);
}

function readHeader(path: string): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, 'r');
  try {
    return header.subarray(0, readSync(file, header, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

function checkHeader(path: string, header: Buffer): void {
  if (header.length === 0) throw unreadable(path, told`is empty (0 bytes)`);
  if (header.length < HEADER_BYTES || header.toString('latin1', 0, 16) !== MAGIC) {
    throw unreadable(path, told`is no database, or its beginning is damaged`);
  }
  if (header.readUInt32BE(APPLICATION_ID_AT) !== APPLICATION_ID) {
    throw unreadable(path, told`is a database of another program`);
  }
}

function keepPrivate(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    if (!existsSync(file) || makePrivate(file) !== 'exposed') continue;
    throw new StoreError(
      'unavailable',
      told`${file} can be read by others and its mode cannot be changed. Run "chmod 600 ${file}" as its owner.`,
    );
  }
}

function unreadable(path: string, what: string): StoreError {
  return new StoreError(
    'unreadable',
    told`The database ${path} ${what}. It was left as it is. Put a backup in its place. To start with a new one, move it and its -wal and -shm files away.`,
  );
}
