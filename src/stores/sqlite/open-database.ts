// Opens the database of a data folder: checked, migrated and unlocked, or refused with a reason.

import { randomBytes } from 'node:crypto';
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
import { createVault, SealError, type Vault } from '../../sealing/seal.ts';
import { createSecretKey } from '../../sealing/secret-key.ts';
import {
  createAccessLogStore,
  createAddressRuleStore,
  createClientKeyStore,
  createConsoleSessionStore,
} from './access-stores.ts';
import { createAccountStore, type StoreLog } from './account-store.ts';
import { Checkpoints } from './checkpoints.ts';
import { damagedDatabase, isForWantOfRoom, noRoom } from './faults.ts';
import { MIGRATIONS, type Migration } from './migrations.ts';
import { createMonitorStore } from './monitor-store.ts';
import { createDurableResponseStore } from './response-store.ts';
import { builder } from './schema.ts';
import {
  type OpenHandle,
  openSqliteFile,
  openSqliteFileAlone,
  openSqliteInMemory,
  type Queries,
  SqliteConnection,
} from './session.ts';
import { createSealedStore, createSignatureStore } from './signature-store.ts';

export interface DatabaseOptions {
  readonly path: string;
  /** Of the secret key. */
  readonly vault: Vault;
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
  /** Hears of damaged rows. */
  readonly log?: StoreLog | undefined;
  readonly open?: OpenHandle | undefined;
  /** False keeps everything in memory: what is sealed with a key that is lost at the end is of no use. */
  readonly isLasting?: boolean | undefined;
  /** Of all kept answers together; the store's own bound when absent. */
  readonly maxKeptBytes?: number | undefined;
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
  const { path, vault, clock, log, maxKeptBytes } = options;
  const { connection, dataVault, isLasting } = await connect(options);
  const tables = { vault: dataVault, log };
  let current = vault;
  return {
    /** False while everything is in memory, for want of room. */
    isLasting,
    accounts: createAccountStore(connection, tables),
    signatures: createSignatureStore(connection),
    callTraces: createSealedStore(connection, tables, {
      table: 'call_traces',
      damaged: 'A stored trace of an upstream’s tools is damaged; it is left out.',
    }),
    sessions: createSealedStore(connection, tables, {
      table: 'session_bindings',
      damaged: 'A stored session is damaged; it is left out.',
    }),
    access: {
      clientKeys: createClientKeyStore(connection, log),
      addressRules: createAddressRuleStore(connection),
      accessLog: createAccessLogStore(connection),
      consoleSessions: createConsoleSessionStore(connection),
    },
    storedResponses: createDurableResponseStore(connection, {
      vault: dataVault,
      now: () => clock.now(),
      maxBytes: maxKeptBytes,
    }),
    requests: createMonitorStore(connection, () => clock.monotonic()),
    /** From then on the database opens with this vault's key only; no stored secret is sealed again. */
    async changeKey(next: Vault): Promise<void> {
      await connection.write('power-cut', (queries) => {
        const sealed = next.seal(readDataKey(queries, { path, vault: current }), PLACE);
        queries.run(builder.updateTable('data_keys').set({ sealed }).where('name', '=', NAME));
      });
      current = next;
    },
    close: () => connection.close(),
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
    // Not the indexes against their tables: that takes long, and SQLite notices what matters of it.
    const check = sql<{ quickCheck: string }>`pragma quick_check(1)`;
    const [found] = await connection.read((queries) => queries.rows(check));
    if (found?.quickCheck !== 'ok') throw damagedDatabase(path, found?.quickCheck);
    const context = { path, vault, now: clock.now() };
    const dataVault = await connection.read((queries) => {
      readVersion(queries, context);
      return openDataKey(queries, context);
    });
    await connection.write('power-cut', (queries) => migrate(queries, context));
    return { connection, dataVault, isLasting: true };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function openInMemory(options: DatabaseOptions) {
  const { path, vault, clock } = options;
  const open = openSqliteInMemory;
  const connection = new SqliteConnection({ path: ':memory:', name: path, clock, open });
  await fill(connection, options);
  const dataVault = await connection.read((queries) => openDataKey(queries, { path, vault }));
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
  await connection.write('power-cut', (queries) => {
    queries.exec(`pragma application_id = ${APPLICATION_ID}`);
    migrate(queries, { path, now: clock.now() });
    const sealed = vault.seal(randomBytes(32).toString('base64url'), PLACE);
    queries.run(builder.insertInto('data_keys').values({ name: NAME, sealed }));
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
function checkDatabaseFile(path: string): 'ours' | 'missing' {
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

/** The key that seals the secrets of this database is itself sealed, with the secret key. */
type DataKeyContext = Pick<DatabaseOptions, 'path' | 'vault'>;

const NAME = 'accounts';
const PLACE = 'data_keys/accounts/sealed';

/**
 * The vault of everything in this database.
 * @throws StoreError `unreadable` when the secret key is not the one the database was sealed with
 */
function openDataKey(queries: Queries, context: DataKeyContext): Vault {
  return createVault(createSecretKey(readDataKey(queries, context), context.path));
}

function readDataKey(queries: Queries, { path, vault }: DataKeyContext): string {
  const [row] = queries.rows(
    builder.selectFrom('data_keys').select('sealed').where('name', '=', NAME),
  );
  if (row === undefined) {
    const message = told`The database ${path} has lost the key of its secrets. It was left as it is. Put a backup in its place.`;
    throw new StoreError('unreadable', message);
  }
  try {
    return vault.open(row.sealed, PLACE);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    const why =
      error.fault === 'foreign-key'
        ? told`The database ${path} cannot be opened with this secret key. ${error.sentence} It was left as it is. Give back the key that was in use: ISTHMUS_SECRET_KEY, or the file secret.key in the data folder when that is not set.`
        : told`The database ${path} has a damaged key of its secrets. It was left as it is. Put a backup in its place.`;
    throw new StoreError('unreadable', why, error);
  }
}

export interface MigrationContext {
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly migrations?: readonly Migration[];
}

/** @throws StoreError `unreadable` when a later version of the program made the database */
export function migrate(queries: Queries, context: MigrationContext): void {
  const { now, migrations = MIGRATIONS } = context;
  const version = readVersion(queries, context);
  for (const migration of migrations.filter((one) => one.version > version)) {
    queries.exec(migration.sql);
    const row = { version: migration.version, name: migration.name, appliedAt: now };
    queries.run(builder.insertInto('migrations').values(row));
  }
}

/** 0 for a new database. @throws StoreError as `migrate` */
function readVersion(queries: Queries, context: MigrationContext): number {
  const { path, migrations = MIGRATIONS } = context;
  const table = sql`select 1 from sqlite_master where type = 'table' and name = 'migrations'`;
  if (queries.rows(table).length === 0) return 0;
  const known = migrations.at(-1)?.version ?? 0;
  const rows = queries.rows(builder.selectFrom('migrations').select('version').orderBy('version'));
  const version = rows.at(-1)?.version ?? 0;
  if (version <= known) return version;
  const message = told`The database ${path} is of version ${version}; this program knows versions up to ${known}. It was left as it is. Use the newer program again, or put back the backup from before it.`;
  throw new StoreError('unreadable', message);
}
