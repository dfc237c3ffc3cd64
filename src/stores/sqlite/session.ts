// The open database file: its connection, transactions, errors and vacuum; after a disk error it checks the file.

import { statSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { type CompiledQuery, sql } from 'kysely';
import { StoreError } from '../../accounts/account-store.ts';
import type { Clock } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import type { Checkpoints } from './checkpoints.ts';
import {
  BUSY,
  CANNOT_OPEN,
  CORRUPT,
  INPUT_OUTPUT,
  LOCKED,
  primaryCode,
  toStoreError,
} from './faults.ts';
import { builder } from './schema.ts';

export type Queries = ReturnType<typeof createQueries>;

/**
 * `power-cut` is on the disk when it is acknowledged; `crash` survives the end of this process, however
 * sudden, but the latest of it may be lost with the machine. Both keep the database whole.
 */
type Survives = 'power-cut' | 'crash';

interface OpenFile {
  readonly handle: SqliteHandle;
  readonly statements: Map<string, SqliteStatement>;
  readonly identity: string;
  survives: Survives;
  /** Undefined where SQLite brings the log into the file by itself. */
  readonly logLength: SqliteStatement | undefined;
  /** True after a disk fault, until all of the log is known to be in the database file. */
  isDoubtful: boolean;
}

/** Pages in the log from which on it is brought into the file: 4 MB, as SQLite itself has it. */
const LONG_LOG = 1000;
/** SQLite does it within a commit where nobody else has. */
const VERY_LONG_LOG = 4 * LONG_LOG;

function openFile({ path, open, checkpoints }: ConnectionOptions): OpenFile {
  const handle = open(path);
  let logLength: SqliteStatement | undefined;
  try {
    handle.exec('pragma foreign_keys = on; pragma journal_mode = wal; pragma synchronous = full');
    if (checkpoints !== undefined) {
      handle.exec(`pragma wal_autocheckpoint = ${VERY_LONG_LOG}`);
      logLength = handle.prepare('pragma wal_checkpoint(noop)');
    }
  } catch (error) {
    handle.close();
    throw error;
  }
  return {
    ...{ handle, statements: new Map(), identity: identify(path) },
    survives: 'power-cut',
    logLength,
    isDoubtful: false,
  };
}

function identify(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? 'missing' : `${stats.dev}:${stats.ino}`;
}

/** False when not even that works: then the transaction ends with its handle. */
function rollBack(handle: SqliteHandle): boolean {
  try {
    handle.exec('rollback');
    return true;
  } catch {
    return false;
  }
}

/**
 * A refused commit stands in the log until something is written over it: a process that ends before
 * would find it there as if it had been acknowledged. So the log is emptied, now or before the next write.
 */
function doubt(file: OpenFile): void {
  file.isDoubtful = true;
  try {
    file.isDoubtful = !emptyLog(file.handle);
  } catch {
    // It stays doubtful: the caller gets the first error, and the next write tries again.
  }
}

/**
 * After a failed flush the system may call lost pages clean, so that a later flush says nothing of
 * them (https://wiki.postgresql.org/wiki/Fsync_Errors): written once more, into the database, they count.
 */
function settleLog(file: OpenFile, path: string): void {
  file.isDoubtful = !emptyLog(file.handle);
  if (!file.isDoubtful) return;
  const message = told`The database ${path} had trouble with its disk, and another process keeps it from being checked. Try again.`;
  throw new StoreError('unavailable', message);
}

/** False when another process reads from the log. https://www.sqlite.org/pragma.html#pragma_wal_checkpoint */
function emptyLog(handle: SqliteHandle): boolean {
  const [row] = handle.prepare('pragma wal_checkpoint(truncate)').all();
  return typeof row === 'object' && row !== null && 'busy' in row && row.busy === 0;
}

/** A query of kysely's, or a template of SQL. */
interface Query<Row = unknown> {
  compile(by: typeof builder): CompiledQuery<Row>;
}

/** The statements of a transaction: synchronous, so that nothing else runs between them. */
function createQueries(handle: SqliteHandle, statements: Map<string, SqliteStatement>) {
  const prepare = (sql: string): SqliteStatement => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = handle.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  return {
    rows<Row>(query: Query<Row>): Row[] {
      const { sql, parameters } = query.compile(builder);
      // The one narrowing of this folder: kysely derived the row's type from the tables' types.
      return prepare(sql)
        .all(...parameters.map(toInputValue))
        .map(readRow) as Row[];
    },
    /** @returns how many rows it changed */
    run(query: Query): number {
      const { sql, parameters } = query.compile(builder);
      return Number(prepare(sql).run(...parameters.map(toInputValue)).changes);
    },
    exec: (sql: string) => handle.exec(sql),
  };
}

/**
 * Saves rows of one kind with one statement, compiled with the first of them: kysely takes ten times as
 * long as SQLite for a row.
 */
export function createInserter<Row extends object>(
  columns: readonly (keyof Row)[],
  compile: (row: Row) => CompiledQuery,
): (queries: Pick<Queries, 'run'>, row: Row) => void {
  let compiled: ReturnType<typeof compile> | undefined;
  return (queries, row) => {
    const parameters = columns.map((column) => row[column] ?? null);
    // Every column is named, also those without a value in the first row.
    compiled ??= compile(
      Object.fromEntries(columns.map((column, index) => [column, parameters[index]])) as Row,
    );
    const statement = { ...compiled, parameters };
    queries.run({ compile: () => statement });
  };
}

interface ConnectionOptions {
  readonly path: string;
  /** What messages call it, where that is not its path. */
  readonly name?: string | undefined;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly open: OpenHandle;
  /** Absent where SQLite is to bring the log into the file by itself, within commits. */
  readonly checkpoints?: Pick<Checkpoints, 'run' | 'close'> | undefined;
}

const BUSY_WAIT_MS = 5000;
const BUSY_STEP_MS = 20;

/**
 * The only connection to a database file: transactions run one after another and wait for locks without blocking.
 * The file is opened on first use, and anew after an error that the open one may not have survived.
 */
export class SqliteConnection {
  readonly #options: ConnectionOptions;
  readonly #ended = new AbortController();
  #file: OpenFile | undefined;
  #lastWrite: Promise<unknown> = Promise.resolve();

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** One consistent state. @throws StoreError */
  read<Result>(work: (queries: Queries) => Result): Promise<Result> {
    return this.#attempt(this.#busyUntil(), () => transact(this.#current(), 'begin', work));
  }

  /** All of it or nothing, in the order of the calls; `work` may run again. @throws StoreError */
  write<Result>(survives: Survives, work: (queries: Queries) => Result): Promise<Result> {
    return this.#inTurn(() => {
      const opened = this.#current();
      if (opened.isDoubtful) settleLog(opened, this.#options.path);
      if (opened.survives !== survives) {
        opened.handle.exec(`pragma synchronous = ${survives === 'crash' ? 'normal' : 'full'}`);
        opened.survives = survives;
      }
      return transact(opened, 'begin immediate', work);
    });
  }

  /** Brings the log into the database file and empties it, unless another process reads from it. @throws StoreError */
  emptyLog(): Promise<void> {
    return this.#inTurn(() => void emptyLog(this.#current().handle));
  }

  /** Lets a file nothing was written to yet become smaller again later. @throws StoreError */
  makeShrinkable(): Promise<void> {
    // https://www.sqlite.org/pragma.html#pragma_auto_vacuum
    return this.#inTurn(() =>
      this.#current().handle.exec('pragma auto_vacuum = incremental; vacuum'),
    );
  }

  /** After the writes under way; those that wait for a lock wait their time. */
  async close(): Promise<void> {
    await this.#lastWrite;
    this.#ended.abort();
    await this.#options.checkpoints?.close();
    this.#end();
  }

  #busyUntil(): number {
    return this.#options.clock.monotonic() + BUSY_WAIT_MS;
  }

  #inTurn<Result>(work: () => Result): Promise<Result> {
    const until = this.#busyUntil();
    const turn = this.#lastWrite.then(() => this.#attempt(until, work));
    this.#lastWrite = turn.catch(() => undefined).then(() => this.#shortenLog());
    return turn;
  }

  /** In turn as well: what is written meanwhile would keep the log from beginning anew. */
  #shortenLog(): Promise<void> | undefined {
    const file = this.#file;
    // What has to survive a power cut is little.
    if (file?.survives !== 'crash') return undefined;
    try {
      return readUnsaved(file) >= LONG_LOG ? this.#options.checkpoints?.run() : undefined;
    } catch (error) {
      // What was written is written; the next write meets what is wrong.
      this.#recover(error);
      return undefined;
    }
  }

  async #attempt<Result>(until: number, work: () => Result): Promise<Result> {
    const { path, name = path, clock } = this.#options;
    const { signal } = this.#ended;
    for (;;) {
      if (signal.aborted) {
        throw new StoreError('unavailable', told`The database ${name} is closed.`);
      }
      try {
        return work();
      } catch (error) {
        this.#recover(error);
        const code = primaryCode(error);
        const isBusy = code === BUSY || code === LOCKED;
        if (!isBusy || clock.monotonic() >= until) throw toStoreError(error, name);
      }
      await clock.sleep(BUSY_STEP_MS, signal).catch(() => undefined);
    }
  }

  #current(): OpenFile {
    const { path } = this.#options;
    if (this.#file !== undefined && this.#file.identity !== identify(path)) {
      const message = told`The database ${path} was moved, removed or replaced while it was in use. Put it back, or restart to use what stands there now.`;
      throw new StoreError('unavailable', message);
    }
    this.#file ??= openFile(this.#options);
    return this.#file;
  }

  #recover(error: unknown): void {
    if (this.#file?.handle.isTransaction === true && !rollBack(this.#file.handle)) this.#end();
    const code = primaryCode(error);
    // After these nothing that the open handle believes can be trusted.
    if (code === CORRUPT || code === CANNOT_OPEN) this.#end();
    // What was written lately may not have reached the disk, whatever a later flush says.
    if (this.#file !== undefined && code === INPUT_OUTPUT) doubt(this.#file);
  }

  #end(): void {
    const ended = this.#file;
    this.#file = undefined;
    ended?.handle.close();
  }
}

/** Pages of the log that are not in the file. */
function readUnsaved({ logLength }: OpenFile): number {
  const [row] = logLength?.all() ?? [];
  if (typeof row !== 'object' || row === null) return 0;
  const { log, checkpointed } = { log: 0, checkpointed: 0, ...row };
  return log - checkpointed;
}

function transact<Result>(
  { handle, statements }: OpenFile,
  begin: string,
  work: (queries: Queries) => Result,
): Result {
  handle.exec(begin);
  const result = work(createQueries(handle, statements));
  handle.exec('commit');
  return result;
}

/** The part of node's SQLite that the stores use. */
type SqliteHandle = Pick<DatabaseSync, 'isTransaction' | 'exec' | 'close'> & {
  prepare(sql: string): SqliteStatement;
};

interface SqliteStatement {
  all(...values: SQLInputValue[]): unknown[];
  run(...values: SQLInputValue[]): { readonly changes: number | bigint };
}

/** Opens a file that exists; a missing one is never made. */
export type OpenHandle = (path: string) => SqliteHandle;

export const openSqliteFile: OpenHandle = (path) => {
  const address = pathToFileURL(path);
  address.searchParams.set('mode', 'rw');
  // Waiting for a lock within SQLite would stop the whole process: the connection waits instead.
  return new DatabaseSync(address, { timeout: 0 });
};

/**
 * Reads where the index of the log, a file beside it, has no room: the index is kept in memory, and no
 * other process may use the database meanwhile. https://www.sqlite.org/wal.html#use_of_wal_without_shared_memory
 */
export const openSqliteFileAlone: OpenHandle = (path) => {
  const handle = openSqliteFile(path);
  handle.exec('pragma locking_mode = exclusive');
  return handle;
};

/** What is kept in memory may not take it from requests. */
const MAX_PAGES_IN_MEMORY = 8192;

/** A new database of 32 MB at most, gone with its handle. */
export const openSqliteInMemory: OpenHandle = () => {
  const handle = new DatabaseSync(':memory:');
  handle.exec(`pragma max_page_count = ${MAX_PAGES_IN_MEMORY}`);
  return handle;
};

/** Expired and surplus rows leave with every so many saves: counting them costs more than a save. */
const SAVES_BETWEEN_SWEEPS = 64;
/** Or when so much of what all may take was saved since. */
const SWEEP_SHARE = 1 / 16;

/** Says after each save whether rows are to be swept now. */
export function createSweepSchedule() {
  let saves = 0;
  let bytesSinceSweep = 0;
  return (bytes: number, maxBytes: number): boolean => {
    saves += 1;
    bytesSinceSweep += bytes;
    const isDue = saves % SAVES_BETWEEN_SWEEPS === 1 || bytesSinceSweep > maxBytes * SWEEP_SHARE;
    if (isDue) bytesSinceSweep = 0;
    return isDue;
  };
}

/** Removes what people said, and all that hangs at it. @returns false when there was none */
export function removeById(
  connection: SqliteConnection,
  table: 'accounts' | 'address_rules' | 'client_keys',
  id: string,
): Promise<boolean> {
  const removal = builder.deleteFrom(table).where('id', '=', id);
  return connection.write('power-cut', (queries) => queries.run(removal) > 0);
}

/** A stored text of JSON; undefined for what is none. */
export function readJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

const fieldNames = new Map<string, string>();

/** A row in our words: `key_id` is `keyId`, and nothing stands where SQLite has null. */
function readRow(row: unknown): object {
  const read: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row as object)) {
    let name = fieldNames.get(column);
    if (name === undefined) {
      name = column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      fieldNames.set(column, name);
    }
    read[name] = value ?? undefined;
  }
  return read;
}

/** A value of a compiled query as SQLite takes it. @throws TypeError for what no column can hold */
function toInputValue(value: unknown): SQLInputValue {
  if (value === undefined) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value === null || typeof value === 'string' || typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new TypeError(`A ${typeof value} cannot be stored.`);
}

/** A few milliseconds of work: a page that moves is written, and so is the one that points to it. */
const PAGES_AT_ONCE = 64;
/** What is written next takes the free pages first: moving the last of them would be work for nothing. */
const KEPT_PAGES = 1024;
const KEPT_SHARE = 1 / 16;
/** From so much of the file on it is worth the work. */
const SPARE_SHARE = 1 / 4;

/**
 * Makes the file smaller by a step (https://www.sqlite.org/pragma.html#pragma_incremental_vacuum). Begins when much
 * is free and goes on until little is: one removal is not given back for each that follows.
 * @returns the pages given back; 0 when nothing is to be done, or the file was made without the means for it
 */
export function createGiveBackRoom() {
  let isUnderWay = false;
  return (queries: Queries): number => {
    const pages = readNumber(queries, 'page_count');
    const free = readNumber(queries, 'freelist_count');
    const kept = Math.max(KEPT_PAGES, pages * KEPT_SHARE);
    if (free > kept && free > pages * SPARE_SHARE) isUnderWay = true;
    if (free <= kept) isUnderWay = false;
    if (!isUnderWay) return 0;
    queries.exec(`pragma incremental_vacuum(${PAGES_AT_ONCE})`);
    const given = free - readNumber(queries, 'freelist_count');
    if (given <= 0) isUnderWay = false;
    return given;
  };
}

function readNumber(queries: Queries, name: string): number {
  const query = sql<Readonly<Record<string, number>>>`pragma ${sql.raw(name)}`;
  const [row = {}] = queries.rows(query);
  return Object.values(row)[0] ?? 0;
}
