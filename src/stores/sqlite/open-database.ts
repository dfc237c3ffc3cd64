// Opens the database of a data folder: checked, migrated and unlocked, or refused with a reason.

import { closeSync, existsSync, openSync, readdirSync, readSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { sql } from 'kysely';
import { StoreError } from '../../accounts/account-store.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import {
  codeOf,
  createPrivateFile,
  isOutOfRoom,
  makePrivate,
  placeFile,
} from '../../lib/private-file.ts';
import { createDataKey, openDataKey } from '../data-key.ts';
import { firstOf, runScript } from '../database.ts';
import { migrate, readVersion } from '../migrate.ts';
import { openStores, type StoresOptions } from '../stores.ts';
import { Checkpoints } from './checkpoints.ts';
import { damagedDatabase, isForWantOfRoom, noRoom } from './faults.ts';
import {
  type OpenHandle,
  openSqliteFile,
  openSqliteFileAlone,
  openSqliteInMemory,
  SqliteConnection,
} from './session.ts';

export interface DatabaseOptions extends Omit<StoresOptions, 'clock'> {
  readonly path: string;
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
  readonly open?: OpenHandle | undefined;
  /** False keeps everything in memory: what is sealed with a key that is lost at the end is of no use. */
  readonly isLasting?: boolean | undefined;
}

const NOTHING_KEPT =
  'The disk of the data folder has no room left, so no database can be made. Requests are served, but accounts, keys and records that are added are kept in memory only and are lost at the end. Free some room and start again.';
const NOTHING_NEW_KEPT =
  'The disk of the data folder has no room left. Requests are served with what is stored; nothing new is kept until there is room.';

export type SqliteStores = Awaited<ReturnType<typeof openDatabase>>;

/**
 * A missing file becomes a new database; any other is opened or refused, never replaced. On a full disk a
 * new one is kept in memory, and one that is there is read, and written again when there is room.
 * @throws StoreError `unreadable` for an empty, foreign, damaged or newer database or another secret
 * key, `unavailable` when the file cannot be read, written or locked
 */
export async function openDatabase(options: DatabaseOptions) {
  const { connection, dataVault, isLasting } = await connect(options);
  const stores = await openStores(connection, { ...options, name: options.path, dataVault });
  return {
    ...stores,
    /** False while everything is in memory, for want of room. */
    isLasting,
  };
}

/** The data vault is of the key that the database holds sealed. */
async function connect(options: DatabaseOptions) {
  const { path, isLasting = true, log, open = openSqliteFile } = options;
  if (!isLasting) return openInMemory(options);
  try {
    if (checkDatabaseFile(path) === 'missing') await createDatabase(options);
  } catch (error) {
    if (!isForWantOfRoom(error)) throw error;
    log?.warn({ path, error }, NOTHING_KEPT);
    return openInMemory(options);
  }
  removeUnfinished(path);
  try {
    return await openExisting(options, open);
  } catch (error) {
    if (!isForWantOfRoom(error)) throw error;
    const opened = await openExisting(options, openSqliteFileAlone);
    log?.warn({ path, error }, NOTHING_NEW_KEPT);
    return opened;
  }
}

async function openExisting(options: DatabaseOptions, open: OpenHandle) {
  const { path, vault, clock } = options;
  const checkpoints = open === openSqliteFileAlone ? undefined : new Checkpoints(path);
  const connection = new SqliteConnection({ path, clock, open, checkpoints });
  try {
    await checkWhole(connection, path);
    const context = { name: path, dialect: connection.dialect, now: clock.now() };
    const dataVault = await connection.read(function* () {
      yield* readVersion(context);
      return yield* openDataKey({ name: path, vault });
    });
    await connection.write('power-cut', () => migrate(context));
    return { connection, dataVault, isLasting: true };
  } catch (error) {
    await connection.close();
    throw error;
  }
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

async function openInMemory(options: DatabaseOptions) {
  const { path, vault, clock } = options;
  const open = openSqliteInMemory;
  const connection = new SqliteConnection({ path: ':memory:', name: path, clock, open });
  await fill(connection, options);
  const dataVault = await connection.read(() => openDataKey({ name: path, vault }));
  return { connection, dataVault, isLasting: false };
}

/** Built beside its place and put there whole: whoever is killed meanwhile leaves no half database. */
async function createDatabase(options: DatabaseOptions): Promise<void> {
  const { path } = options;
  try {
    const builtPath = createPrivateFile(path);
    try {
      await build(builtPath, options);
      placeFile(builtPath, path);
    } finally {
      for (const end of ['', '-wal', '-shm']) rmSync(builtPath + end, { force: true });
    }
  } catch (error) {
    // Another process was faster, and may have taken ours for a leftover.
    if (checkDatabaseFile(path) === 'ours') return;
    if (error instanceof StoreError) throw error;
    if (isOutOfRoom(error)) throw noRoom(path, error);
    const message = told`The database ${path} cannot be made (${codeOf(error) ?? 'unknown error'}). Let the user of this process write to its folder, or name another with ISTHMUS_DATA_DIR.`;
    throw new StoreError('unavailable', message, error);
  }
}

async function build(builtPath: string, options: DatabaseOptions): Promise<void> {
  const { path, clock, open = openSqliteFile } = options;
  const connection = new SqliteConnection({ path: builtPath, name: path, clock, open });
  try {
    await fill(connection, options);
    // The last to close would bring everything into the one file as well, but tells nobody of a full disk.
    await connection.emptyLog();
  } finally {
    await connection.close();
  }
}

async function fill(connection: SqliteConnection, options: DatabaseOptions): Promise<void> {
  const { path, vault, clock } = options;
  // The last moment for it: nothing was written yet.
  await connection.makeShrinkable();
  const { dialect } = connection;
  await connection.write('power-cut', function* () {
    yield* runScript(`pragma application_id = ${APPLICATION_ID}`);
    yield* migrate({ name: path, dialect, now: clock.now() });
    yield* createDataKey(vault);
  });
}

/** "isth": tells our databases from others (https://www.sqlite.org/fileformat2.html#application_id). */
const APPLICATION_ID = 0x69737468;

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

/** Removes what a process left that ended while it made a new database. */
function removeUnfinished(path: string): void {
  const prefix = `${basename(path)}.`;
  for (const name of readdirSync(dirname(path))) {
    const isOurs =
      name.startsWith(prefix) && /\.[0-9a-f]{12}\.new(-wal|-shm|-journal)?$/.test(name);
    if (isOurs) rmSync(join(dirname(path), name), { force: true });
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
