// Opens the database of a data folder: checked, migrated and unlocked, or refused with a reason.

import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StoreError } from '../../accounts/account-store.ts';
import type { Clock } from '../../lib/clock.ts';
import { codeOf, told } from '../../lib/localized-message.ts';
import type { LineLog } from '../../lib/log.ts';
import { createPrivateFile, isOutOfRoom, placeFile } from '../../lib/private-file.ts';
import { createDataKey, openDataKey } from '../data-key.ts';
import { runScript } from '../database.ts';
import { MIGRATIONS, migrate, readVersion } from '../migrations.ts';
import { openStores, type StoresOptions } from '../stores.ts';
import {
  APPLICATION_ID,
  checkDatabaseFile,
  checkWhole,
  keepUpgradeCopy,
  removeUpgradeCopyInTime,
} from './backup.ts';
import { isForWantOfRoom, lacksRoom, noRoom } from './faults.ts';
import {
  Checkpoints,
  type OpenHandle,
  openSqliteFile,
  openSqliteFileAlone,
  openSqliteInMemory,
  SqliteConnection,
} from './session.ts';

export interface DatabaseOptions extends Omit<StoresOptions, 'clock' | 'log'> {
  readonly path: string;
  readonly log?: LineLog | undefined;
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep' | 'startTimer'>;
  readonly open?: OpenHandle | undefined;
  /** False keeps everything in memory: what is sealed with a key that is lost at the end is of no use. */
  readonly isLasting?: boolean | undefined;
  /** Another process works on it: it is not upgraded, for an earlier version could not open it again. */
  readonly isInUse?: boolean | undefined;
}

const NOTHING_KEPT =
  'The disk of the data folder has no room left, so no database can be made. Requests are served, but accounts, keys and records that are added are kept in memory only and are lost at the end. Free some room and start again.';
const NOTHING_NEW_KEPT =
  'The disk of the data folder has no room left. Requests are served with what is stored; nothing new is kept until there is room.';

/** Of gigabytes it takes a minute or more, in which nobody is answered. */
const UPGRADING =
  'The database is upgraded for this version, which takes longer the larger it is. Requests are answered afterwards. Killed meanwhile, it stays as it was.';

const NO_COPY =
  'The disk of the data folder has no room for a copy of the database as it was before this upgrade. None is kept.';

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
    const { version, dataVault } = await connection.read(function* () {
      const version = yield* readVersion(context);
      return { version, dataVault: yield* openDataKey({ name: path, vault }) };
    });
    const isOlder = MIGRATIONS.some((step) => step.version > version && step.sqlite !== undefined);
    if (isOlder) {
      if (options.isInUse === true) throw inUse(path);
      options.log?.info({ path, from: version, to: MIGRATIONS.at(-1)?.version }, UPGRADING);
      await keepCopy(options, version);
    }
    await connection.write('power-cut', () => migrate(context));
    removeUpgradeCopyInTime(path, clock);
    return { connection, dataVault, isLasting: true };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function inUse(path: string): StoreError {
  const message = told`A gateway of an earlier version works on the database ${path}. Stop it first: this version upgrades the database, and that one could not open it again.`;
  return new StoreError('unavailable', message);
}

/** Without room for it the upgrade goes on: a gateway that does not start helps nobody. */
async function keepCopy(options: DatabaseOptions, version: number): Promise<void> {
  const { path, vault, clock, log, open } = options;
  try {
    await keepUpgradeCopy({ path, name: path, vault, clock, open }, version);
  } catch (error) {
    if (!lacksRoom(error) && !isForWantOfRoom(error)) throw error;
    log?.warn({ path, error }, NO_COPY);
  }
}

async function openInMemory(options: DatabaseOptions) {
  const { path, vault, clock } = options;
  const open = openSqliteInMemory;
  const connection = new SqliteConnection({ path: ':memory:', name: path, clock, open });
  await fill(connection, options);
  const dataVault = await connection.read(() => openDataKey({ name: path, vault }));
  return { connection, dataVault, isLasting: false };
}

/** Built beside its place and put there whole: a process that is killed meanwhile leaves no half database. */
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
    // The last to close would bring everything into the one file as well, but would not report a full disk.
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

/** Removes what a process left that ended while it made a new database. */
function removeUnfinished(path: string): void {
  const prefix = `${basename(path)}.`;
  for (const name of readdirSync(dirname(path))) {
    const isOurs =
      name.startsWith(prefix) && /\.[0-9a-f]{12}\.new(-wal|-shm|-journal)?$/.test(name);
    if (isOurs) rmSync(join(dirname(path), name), { force: true });
  }
}
