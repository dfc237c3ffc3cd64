// The little of node's SQLite that the stores use, and how a database file is opened.

import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

export interface SqliteHandle {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

export interface SqliteStatement {
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
const MOST_PAGES_IN_MEMORY = 8192;

/** A new database of 32 MB at most, gone with its handle. */
export const openSqliteInMemory: OpenHandle = () => {
  const handle = new DatabaseSync(':memory:');
  handle.exec(`pragma max_page_count = ${MOST_PAGES_IN_MEMORY}`);
  return handle;
};

/** A value of a compiled query as SQLite takes it. @throws TypeError for what no column can hold */
export function toInputValue(value: unknown): SQLInputValue {
  if (value === null || typeof value === 'string' || typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new TypeError(`A ${typeof value} cannot be stored.`);
}
