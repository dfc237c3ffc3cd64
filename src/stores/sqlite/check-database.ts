// Whether what stands where a database should is one of ours, whole and private.

import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { sql } from 'kysely';
import { StoreError } from '../../accounts/account-store.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { codeOf, makePrivate } from '../../lib/private-file.ts';
import { firstOf } from '../database.ts';
import { damagedDatabase } from './faults.ts';
import type { SqliteConnection } from './session.ts';

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

function unreadable(path: string, what: Sentence): StoreError {
  const message = told`The database ${path} ${what}. It was left as it is. Put a backup in its place. To start with a new one, move it and its -wal and -shm files away.`;
  return new StoreError('unreadable', message);
}

/**
 * Not the indexes against their tables: that takes long, and SQLite notices what matters of it.
 * @throws StoreError `unreadable`
 */
export async function checkWhole(connection: SqliteConnection, name: string): Promise<void> {
  const check = sql<{ quickCheck: string }>`pragma quick_check(1)`;
  const found = await connection.read(() => firstOf(check));
  if (found?.quickCheck !== 'ok') throw damagedDatabase(name, found?.quickCheck);
}
