// Opens the database of a data folder: checked, brought up to date and unlocked, or refused with a reason.

import { rmSync } from 'node:fs';
import { sql } from 'kysely';
import { type AccountStore, StoreError } from '../../accounts/account-store.ts';
import type { DoorStores } from '../../door/door.ts';
import type { Clock } from '../../lib/clock.ts';
import { isOutOfRoom } from '../../lib/out-of-room.ts';
import { told } from '../../lib/told.ts';
import type { RequestStore } from '../../monitor/request-store.ts';
import type { SessionStore } from '../../pool/session-store.ts';
import { codeOf, createPrivateFile, placeFile } from '../../sealing/private-file.ts';
import type { Vault } from '../../sealing/vault.ts';
import type { KeptAnswerStore } from '../../shelf/answer-shelf.ts';
import type { SignatureStore } from '../../signatures/signature-store.ts';
import type { TraceStore } from '../../signatures/trace-store.ts';
import { createAccessLogStore } from './access-log-store.ts';
import type { StoreLog } from './account-queries.ts';
import { createAccountStore } from './account-store.ts';
import { createAddressRuleStore } from './address-rule-store.ts';
import { createClientKeyStore } from './client-key-store.ts';
import { createConnection, type SqliteConnection } from './connection.ts';
import { createConsoleSessionStore } from './console-session-store.ts';
import { insertDataKey, openDataKey, resealDataKey } from './data-key.ts';
import { APPLICATION_ID, checkDatabaseFile, removeUnfinished } from './database-file.ts';
import { createKeptAnswerStore } from './kept-answer-store.ts';
import { migrate, readVersion } from './migrate.ts';
import { createMonitorStore } from './monitor-store.ts';
import { createQueryBuilder, type QueryBuilder } from './schema.ts';
import type { Queries } from './session.ts';
import { createSignatureStore } from './signature-store.ts';
import { damagedDatabase, isForWantOfRoom, noRoom } from './sqlite-fault.ts';
import {
  type OpenHandle,
  openSqliteFile,
  openSqliteFileAlone,
  openSqliteInMemory,
} from './sqlite-handle.ts';
import { createSessionStore, createTraceStore } from './trace-store.ts';

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

export interface SqliteStores {
  /** False while everything is in memory, for want of room. */
  readonly isLasting: boolean;
  readonly accounts: AccountStore;
  readonly signatures: SignatureStore;
  readonly callTraces: TraceStore;
  readonly sessions: SessionStore;
  readonly door: DoorStores;
  readonly keptAnswers: KeptAnswerStore;
  readonly requests: RequestStore;
  /** From then on the database opens with this vault's key only; no stored secret is sealed again. */
  changeKey(next: Vault): Promise<void>;
  close(): Promise<void>;
}

/**
 * A missing file becomes a new database; any other is opened or refused, never replaced. On a full disk a
 * new one is kept in memory, and one that is there is read, and written again when there is room.
 * @throws StoreError `unreadable` for an empty, foreign, damaged or newer database or another secret
 * key, `unavailable` when the file cannot be read, written or locked
 */
export async function openDatabase(options: DatabaseOptions): Promise<SqliteStores> {
  const { path, vault, clock, log, maxKeptBytes } = options;
  const builder = createQueryBuilder();
  const { connection, dataVault, isLasting } = await connect(options, builder);
  let current = vault;
  return {
    isLasting,
    accounts: createAccountStore(connection, { builder, vault: dataVault, log }),
    signatures: createSignatureStore(connection, builder),
    callTraces: createTraceStore(connection, { builder, vault: dataVault, log }),
    sessions: createSessionStore(connection, { builder, vault: dataVault, log }),
    door: {
      clientKeys: createClientKeyStore(connection, builder, log),
      addressRules: createAddressRuleStore(connection, builder),
      accessLog: createAccessLogStore(connection, builder),
      consoleSessions: createConsoleSessionStore(connection, builder),
    },
    keptAnswers: createKeptAnswerStore(connection, {
      builder,
      vault: dataVault,
      now: () => clock.now(),
      maxBytes: maxKeptBytes,
    }),
    requests: createMonitorStore({
      connection,
      builder,
      monotonic: () => clock.monotonic(),
    }),
    async changeKey(next) {
      await connection.write('power-cut', (queries) =>
        resealDataKey(queries, { builder, path, vault: current }, next),
      );
      current = next;
    },
    close: () => connection.close(),
  };
}

interface Connected {
  readonly connection: SqliteConnection;
  /** Of the key that the database holds sealed. */
  readonly dataVault: Vault;
  readonly isLasting: boolean;
}

async function connect(options: DatabaseOptions, builder: QueryBuilder): Promise<Connected> {
  const { path, isLasting = true, log, open = openSqliteFile } = options;
  if (!isLasting) return openInMemory(options, builder);
  try {
    if (checkDatabaseFile(path) === 'missing') await createDatabase(options, builder);
  } catch (error) {
    if (!isForWantOfRoom(error)) throw error;
    log?.warn({ path, error }, NOTHING_KEPT);
    return openInMemory(options, builder);
  }
  removeUnfinished(path);
  try {
    return await openExisting(options, builder, open);
  } catch (error) {
    if (!isForWantOfRoom(error)) throw error;
    const opened = await openExisting(options, builder, openSqliteFileAlone);
    log?.warn({ path, error }, NOTHING_NEW_KEPT);
    return opened;
  }
}

async function openExisting(
  { path, vault, clock }: DatabaseOptions,
  builder: QueryBuilder,
  open: OpenHandle,
): Promise<Connected> {
  const connection = createConnection({ path, clock, open });
  try {
    await connection.read((queries) => checkPages(queries, builder, path));
    const context = { builder, path, vault, now: clock.now() };
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

async function openInMemory(options: DatabaseOptions, builder: QueryBuilder): Promise<Connected> {
  const { path, vault, clock } = options;
  const open = openSqliteInMemory;
  const connection = createConnection({ path: ':memory:', name: path, clock, open });
  await fill(connection, options, builder);
  const dataVault = await connection.read((queries) =>
    openDataKey(queries, { builder, path, vault }),
  );
  return { connection, dataVault, isLasting: false };
}

/** Built beside its place and put there whole: whoever is killed meanwhile leaves no half database. */
async function createDatabase(options: DatabaseOptions, builder: QueryBuilder): Promise<void> {
  const { path } = options;
  try {
    const builtPath = createPrivateFile(path);
    try {
      await build(builtPath, options, builder);
      placeFile(builtPath, path);
    } finally {
      for (const end of ['', '-wal', '-shm']) rmSync(builtPath + end, { force: true });
    }
  } catch (error) {
    // Another process was faster, and may have taken ours for a leftover.
    if (checkDatabaseFile(path) === 'ours') return;
    if (error instanceof StoreError) throw error;
    if (isOutOfRoom(error)) throw noRoom(path, error);
    throw new StoreError(
      'unavailable',
      told`The database ${path} cannot be made (${codeOf(error) ?? 'unknown error'}). Let the user of this process write to its folder, or name another with ISTHMUS_DATA_DIR.`,
      error,
    );
  }
}

async function build(
  builtPath: string,
  options: DatabaseOptions,
  builder: QueryBuilder,
): Promise<void> {
  const { path, clock, open = openSqliteFile } = options;
  const connection = createConnection({ path: builtPath, name: path, clock, open });
  try {
    await fill(connection, options, builder);
    // The last to close would bring everything into the one file as well, but tells nobody of a full disk.
    await connection.emptyLog();
  } finally {
    await connection.close();
  }
}

async function fill(
  connection: SqliteConnection,
  { path, vault, clock }: DatabaseOptions,
  builder: QueryBuilder,
): Promise<void> {
  // The last moment for it: nothing was written yet.
  await connection.makeShrinkable();
  await connection.write('power-cut', (queries) => {
    queries.exec(`pragma application_id = ${APPLICATION_ID}`);
    migrate(queries, { builder, path, now: clock.now() });
    insertDataKey(queries, { builder, path, vault });
  });
}

/** Not the indexes against their tables: that takes long, and SQLite notices what matters of it. */
function checkPages(queries: Queries, builder: QueryBuilder, path: string): void {
  const check = sql<{ quick_check: string }>`pragma quick_check(1)`;
  const [found] = queries.rows({ compile: () => check.compile(builder) });
  if (found?.quick_check !== 'ok') throw damagedDatabase(path, found?.quick_check);
}
