// The open database file and its transactions; after trouble with the disk it makes sure of what is there.

import { statSync } from 'node:fs';
import type { Compilable } from 'kysely';
import { StoreError } from '../../accounts/account-store.ts';
import { told } from '../../lib/told.ts';
import { makeShrinkable } from './make-shrinkable.ts';
import { endsHandle, isDiskFault } from './sqlite-fault.ts';
import {
  type OpenHandle,
  type SqliteHandle,
  type SqliteStatement,
  toInputValue,
} from './sqlite-handle.ts';

/** Inside a transaction. Synchronous, so that nothing else gets between its statements. */
export interface Queries {
  rows<Row>(query: Compilable<Row>): Row[];
  /** @returns how many rows it changed */
  run(query: Compilable): number;
  exec(sql: string): void;
}

/**
 * `power-cut` is on the disk when it is acknowledged; `crash` survives the end of this process, however
 * sudden, but the latest of it may be lost with the machine. Both keep the database whole.
 */
export type Survives = 'power-cut' | 'crash';

export interface Session {
  read<Result>(work: (queries: Queries) => Result): Result;
  write<Result>(survives: Survives, work: (queries: Queries) => Result): Result;
  /** Brings the log into the database file and empties it, unless another process reads from it. */
  emptyLog(): void;
  /** Lets a file nothing was written to yet become smaller again later. */
  makeShrinkable(): void;
  end(): void;
}

interface OpenFile {
  readonly handle: SqliteHandle;
  readonly statements: Map<string, SqliteStatement>;
  readonly identity: string;
  survives: Survives;
  /** True after a disk fault, until all of the log is known to be in the database file. */
  isDoubtful: boolean;
}

/** Opens on first use, and anew after an error that the open file may not have survived. */
export function createSession(path: string, open: OpenHandle): Session {
  let file: OpenFile | undefined;

  const end = (): void => {
    const ended = file;
    file = undefined;
    ended?.handle.close();
  };
  const current = (): OpenFile => {
    if (file !== undefined && file.identity !== identify(path)) {
      throw new StoreError(
        'unavailable',
        told`The database ${path} was moved, removed or replaced while it was in use. Put it back, or restart to use what stands there now.`,
      );
    }
    file ??= openFile(path, open);
    return file;
  };
  const guard = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      if (file?.handle.isTransaction === true && !rollBack(file.handle)) end();
      if (endsHandle(error)) end();
      if (file !== undefined && isDiskFault(error)) doubt(file);
      throw error;
    }
  };
  const transact = <Result>(
    { handle, statements }: OpenFile,
    begin: string,
    work: (queries: Queries) => Result,
  ): Result => {
    handle.exec(begin);
    const result = work(createQueries(handle, statements));
    handle.exec('commit');
    return result;
  };

  return {
    end,
    read: (work) => guard(() => transact(current(), 'begin', work)),
    emptyLog: () => guard(() => void emptyLog(current().handle)),
    makeShrinkable: () => guard(() => makeShrinkable(current().handle)),
    write: (survives, work) =>
      guard(() => {
        const opened = current();
        if (opened.isDoubtful) settleLog(opened, path);
        if (opened.survives !== survives) {
          opened.handle.exec(`pragma synchronous = ${survives === 'crash' ? 'normal' : 'full'}`);
          opened.survives = survives;
        }
        return transact(opened, 'begin immediate', work);
      }),
  };
}

function openFile(path: string, open: OpenHandle): OpenFile {
  const handle = open(path);
  try {
    handle.exec('pragma foreign_keys = on; pragma journal_mode = wal; pragma synchronous = full');
  } catch (error) {
    handle.close();
    throw error;
  }
  return {
    handle,
    statements: new Map(),
    identity: identify(path),
    survives: 'power-cut',
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
  throw new StoreError(
    'unavailable',
    told`The database ${path} had trouble with its disk, and another process keeps it from being checked. Try again.`,
  );
}

/** False when another process reads from the log. https://www.sqlite.org/pragma.html#pragma_wal_checkpoint */
function emptyLog(handle: SqliteHandle): boolean {
  const [row] = handle.prepare('pragma wal_checkpoint(truncate)').all();
  return typeof row === 'object' && row !== null && 'busy' in row && row.busy === 0;
}

function createQueries(handle: SqliteHandle, statements: Map<string, SqliteStatement>): Queries {
  const prepare = (sql: string): SqliteStatement => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = handle.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  return {
    rows<Row>(query: Compilable<Row>): Row[] {
      const { sql, parameters } = query.compile();
      // The one narrowing of this folder: kysely derived the row's type from the tables' types.
      return prepare(sql).all(...parameters.map(toInputValue)) as Row[];
    },
    run(query) {
      const { sql, parameters } = query.compile();
      return Number(prepare(sql).run(...parameters.map(toInputValue)).changes);
    },
    exec: (sql) => handle.exec(sql),
  };
}
