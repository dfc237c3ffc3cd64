// The open database file: its connection, transactions, errors and vacuum; after a disk error it checks the file.

import { statSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { StoreError } from '../../accounts/account-store.ts';
import type { Clock } from '../../lib/clock.ts';
import { told } from '../../lib/localized-message.ts';
import {
  columnOf,
  type Database,
  type Dialect,
  DuplicateRow,
  firstOf,
  type Insertion,
  type Outcome,
  readRows,
  rowsOf,
  type Statement,
  type Survives,
  toStored,
  type Work,
} from '../database.ts';
import { builder } from '../schema.ts';
import {
  BUSY,
  CANNOT_OPEN,
  CORRUPT,
  INPUT_OUTPUT,
  isDuplicate,
  LOCKED,
  primaryCode,
  toStoreError,
} from './faults.ts';

interface OpenFile {
  readonly handle: SqliteHandle;
  readonly statements: Map<string, SqliteStatement>;
  /** What the columns of the statements are called: SQLite takes as long to tell as to find a row. */
  readonly columns: Map<SqliteStatement, readonly string[]>;
  readonly identity: string;
  survives: Survives;
  /** Undefined where SQLite brings the log into the file by itself. */
  readonly logLength: SqliteStatement | undefined;
  /** True after a disk fault, until all of the log is known to be in the database file. */
  isDoubtful: boolean;
}

/** Pages in the log from which on it is brought into the file: 4 MB, as SQLite itself has it. */
const LONG_LOG = 1000;
/** From here on SQLite itself does it, within a commit. */
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
    ...{ handle, statements: new Map(), columns: new Map(), identity: identify(path) },
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

/** Carries a transaction out, synchronously, so that nothing else runs between its statements. */
function carryOut<Result>(work: Work<Result>, execute: (statement: Statement) => Outcome): Result {
  let step = work.next();
  while (!step.done) {
    let outcome: Outcome;
    try {
      outcome = execute(step.value);
    } catch (error) {
      step = work.throw(isDuplicate(error) ? new DuplicateRow(error) : error);
      continue;
    }
    step = work.next(outcome);
  }
  return step.value;
}

function createExecutor({ handle, statements, columns }: OpenFile) {
  const prepare = (text: string): SqliteStatement => {
    const known = statements.get(text);
    if (known !== undefined) return known;
    const statement = handle.prepare(text);
    statement.setReturnArrays(true);
    statements.set(text, statement);
    return statement;
  };
  const columnsOf = (statement: SqliteStatement, [first]: readonly unknown[][]) => {
    const known = columns.get(statement);
    // Another program may add a column.
    if (known !== undefined && known.length === first?.length) return known;
    const names = statement.columns().map(({ name }) => name);
    columns.set(statement, names);
    return names;
  };
  const insertAll = (insertion: Insertion): Outcome => {
    const { rows, columns } = insertion;
    const statement = prepare(writeInsertion(insertion));
    const values: SQLInputValue[] = [];
    for (const row of rows) {
      for (const [place, column] of columns.entries()) values[place] = toStored(row[column]);
      statement.run(...values);
    }
    return { rows: [], changes: rows.length };
  };
  return (statement: Statement): Outcome => {
    if (statement.kind === 'insert') return insertAll(statement.insertion);
    if (statement.kind === 'script') {
      handle.exec(statement.text);
      return { rows: [], changes: 0 };
    }
    const { sql: text, parameters } = statement.query.compile(builder);
    const values = parameters.map(toStored);
    if (statement.kind === 'rows') {
      const prepared = prepare(text);
      // As lists of values, which `prepare` asks for.
      const rows = prepared.all(...values) as unknown[][];
      return {
        rows: rows.length === 0 ? [] : readRows(columnsOf(prepared, rows), rows),
        changes: 0,
      };
    }
    return { rows: [], changes: Number(prepare(text).run(...values).changes) };
  };
}

/** Of one row: SQLite takes a row faster than its statement is compiled. */
function writeInsertion({ table, columns, onConflict }: Omit<Insertion, 'rows'>): string {
  const begin = onConflict === 'replace' ? 'replace' : 'insert';
  const places = columns.map(() => '?').join(', ');
  const end = typeof onConflict === 'object' ? ` on conflict ${onConflict.clause}` : '';
  return `${begin} into ${table} (${columns.map(columnOf).join(', ')}) values (${places})${end}`;
}

const LAST_SEQUENCE = sql<{ last: number | undefined }>`select max(sequence) as last from requests`;
const LAST = ((compiled) => ({ ...LAST_SEQUENCE, compile: () => compiled }))(
  LAST_SEQUENCE.compile(builder),
);

const DIALECT: Dialect = {
  name: 'sqlite',
  isShared: false,
  hasLateral: false,
  listing: { hasFilterIndexes: false, patienceMs: 60, countPatienceMs: 20 },
  tableNamed: (name) => sql`select 1 from sqlite_master where type = 'table' and name = ${name}`,
  now: (ofProcess) => sql`${ofProcess}`,
  // The function behind the operator (https://www.sqlite.org/lang_corefunc.html#like).
  isLike: (column, pattern) => sql`like(${pattern}, ${sql.ref(column)}, '\\')`,
  isAmong: (column, list) => sql`${sql.ref(column)} in (select value from json_each(${list}))`,
  listed: (list, columns) =>
    sql`(select ${sql.join(
      columns.map(([name], place) => sql`value ->> ${sql.lit(place)} as ${sql.ref(name)}`),
    )} from json_each(${list}))`,
  collected: (value) => sql`json_group_array(${value})`,
  // Without a value there is no text, which counts for nothing.
  latest: (column, by) =>
    sql`substr(max(printf('%016d', ${sql.ref(by)}) || ${sql.ref(column)}), 17)`,
  // A writer is alone.
  *holdWriters() {},
  *nextSequences(_table, count) {
    const last = (yield* firstOf(LAST))?.last ?? 0;
    return Array.from({ length: count }, (_, index) => last + 1 + index);
  },
  // New rows come behind the highest there is.
  *continueSequences() {},
};

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

/** The only connection to a file: one transaction after another. Opened at first use, and anew after faults. */
export class SqliteConnection implements Database {
  readonly #options: ConnectionOptions;
  readonly dialect = DIALECT;
  readonly #ended = new AbortController();
  readonly #giveBackRoom = createGiveBackRoom();
  #isShrinking = false;
  #file: OpenFile | undefined;
  #lastWrite: Promise<unknown> = Promise.resolve();

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  read<Result>(work: () => Work<Result>): Promise<Result> {
    return this.#attempt(this.#busyUntil(), () => transact(this.#current(), 'begin', work));
  }

  /** In the order of the calls. */
  write<Result>(survives: Survives, work: () => Work<Result>): Promise<Result> {
    return this.#inTurn(() => transact(this.#ready(survives), 'begin immediate', work));
  }

  erase<Result>(work: () => Work<Result>): Promise<Result> {
    return this.#inTurn(() => {
      const opened = this.#ready('crash');
      opened.handle.exec('pragma secure_delete = on');
      try {
        return transact(opened, 'begin immediate', work);
      } finally {
        opened.handle.exec('pragma secure_delete = off');
      }
    });
  }

  /** Removed rows are still in the log. */
  endErasing(): Promise<void> {
    return this.emptyLog();
  }

  async giveBackRoom(): Promise<boolean> {
    const isSmaller = (await this.write('crash', this.#giveBackRoom)) > 0;
    // The file itself becomes smaller when its log is brought into it.
    if (this.#isShrinking && !isSmaller) await this.emptyLog();
    this.#isShrinking = isSmaller;
    return isSmaller;
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

  #ready(survives: Survives): OpenFile {
    const opened = this.#current();
    if (opened.isDoubtful) settleLog(opened, this.#options.path);
    if (opened.survives !== survives) {
      opened.handle.exec(`pragma synchronous = ${survives === 'crash' ? 'normal' : 'full'}`);
      opened.survives = survives;
    }
    return opened;
  }

  #current(): OpenFile {
    const { path } = this.#options;
    if (this.#file !== undefined && this.#file.identity !== identify(path)) {
      const message = told`The database ${path} was moved, removed or replaced while it was in use. Put it back, or restart to use the file that is there now.`;
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

function readUnsaved({ logLength }: OpenFile): number {
  const [row] = logLength?.all() ?? [];
  if (typeof row !== 'object' || row === null) return 0;
  const { log, checkpointed } = { log: 0, checkpointed: 0, ...row };
  return log - checkpointed;
}

function transact<Result>(file: OpenFile, begin: string, work: () => Work<Result>): Result {
  file.handle.exec(begin);
  const result = carryOut(work(), createExecutor(file));
  file.handle.exec('commit');
  return result;
}

/** The part of node's SQLite that the stores use. */
type SqliteHandle = Pick<DatabaseSync, 'isTransaction' | 'exec' | 'close'> & {
  prepare(sql: string): SqliteStatement;
};

interface SqliteStatement {
  all(...values: SQLInputValue[]): unknown[];
  columns(): readonly { readonly name: string }[];
  setReturnArrays(enabled: boolean): void;
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

/** Without shared memory for the index of its log: https://www.sqlite.org/wal.html#use_of_wal_without_shared_memory */
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
function createGiveBackRoom() {
  let isUnderWay = false;
  return function* (): Work<number> {
    const pages = yield* readNumber('page_count');
    const free = yield* readNumber('freelist_count');
    const kept = Math.max(KEPT_PAGES, pages * KEPT_SHARE);
    if (free > kept && free > pages * SPARE_SHARE) isUnderWay = true;
    if (free <= kept) isUnderWay = false;
    if (!isUnderWay) return 0;
    yield* rowsOf(sql`pragma incremental_vacuum(${sql.lit(PAGES_AT_ONCE)})`);
    const given = free - (yield* readNumber('freelist_count'));
    if (given <= 0) isUnderWay = false;
    return given;
  };
}

function* readNumber(name: string): Work<number> {
  const query = sql<Readonly<Record<string, number>>>`pragma ${sql.raw(name)}`;
  return Object.values((yield* firstOf(query)) ?? {})[0] ?? 0;
}

/** The thread needs four megabytes; without what it needs it would end the whole process. */
const THREAD_MEMORY = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 1 };

/** All of the thread: only its text gets there, so that it uses nothing from around it. */
function checkpointWhenAsked(): void {
  const { parentPort } = process.getBuiltinModule('node:worker_threads');
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  parentPort?.on('message', (address: string) => {
    const database = new DatabaseSync(new URL(address));
    // Never waits for anybody: what a reader still needs stays in the log until the next time.
    database.exec('pragma wal_checkpoint(passive)');
    database.close();
    parentPort.postMessage('done');
  });
}

/** Brings the log into the file on a thread, as flushing takes a while. Started when first needed. */
export class Checkpoints {
  readonly #address: string;
  #worker: Worker | undefined;
  #isBroken = false;

  constructor(path: string) {
    const address = pathToFileURL(path);
    address.searchParams.set('mode', 'rw');
    this.#address = address.href;
  }

  /** Resolves when the log is in the file. After a fault of the thread SQLite does it within commits. */
  run(): Promise<void> {
    if (this.#isBroken) return Promise.resolve();
    this.#worker ??= this.#start();
    const worker = this.#worker;
    return new Promise((resolve) => {
      const end = (): void => {
        worker.off('message', end).off('exit', end);
        resolve();
      };
      worker.on('message', end).on('exit', end);
      worker.postMessage(this.#address);
    });
  }

  /** Call when no run is under way. */
  async close(): Promise<void> {
    this.#isBroken = true;
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(`(${checkpointWhenAsked})()`, {
      eval: true,
      resourceLimits: THREAD_MEMORY,
      execArgv: [],
    });
    worker.unref();
    worker.on('error', () => {
      this.#isBroken = true;
    });
    return worker;
  }
}
