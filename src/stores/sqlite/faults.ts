// What an error of SQLite means, with the way out.

import { StoreError } from '../../accounts/account-store.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { isOutOfRoom } from '../../lib/private-file.ts';
import { DuplicateRow } from '../database.ts';

// Result codes: https://www.sqlite.org/rescode.html
export const BUSY = 5;
export const LOCKED = 6;
const READ_ONLY = 8;
export const INPUT_OUTPUT = 10;
export const CORRUPT = 11;
const FULL = 13;
export const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;
const UNIQUE = 2067;
const PRIMARY_KEY = 1555;
/** The index of the log could not grow: where a full disk is met when a database is opened. */
const SHARED_MEMORY_SIZE = 4874;

/** The same error unless it comes from SQLite; then the store error that says what to do. */
export function toStoreError(thrown: unknown, path: string): unknown {
  const error = thrown instanceof DuplicateRow ? thrown.cause : thrown;
  const code = primaryCode(error);
  if (code === undefined) return error;
  if (isFull(error)) return noRoom(path, error);
  if (code === CORRUPT || code === NOT_A_DATABASE) return damagedDatabase(path, error);
  return new StoreError('unavailable', sayFault(code, path), error);
}

function sayFault(code: number, path: string): Sentence {
  switch (code) {
    case BUSY:
    case LOCKED:
      return told`The database ${path} is locked by another process. Try again when that one is done.`;
    case READ_ONLY:
      return told`The database ${path} cannot be written. Check who may write to it and to its folder.`;
    case CANNOT_OPEN:
      return told`The database ${path} cannot be opened. Check that it is there and who may read its folder.`;
    case INPUT_OUTPUT:
      return told`The database ${path} could not be read or written: the disk reported an error.`;
    default:
      return told`The database ${path} refused the work (SQLite code ${code}).`;
  }
}

function isFull(error: unknown): boolean {
  return primaryCode(error) === FULL || extendedCode(error) === SHARED_MEMORY_SIZE;
}

/** Said at a start too, which ends with it. */
export function noRoom(path: string, cause: unknown): StoreError {
  const message = told`The database ${path} has no room left on its disk. Free some; a gateway that runs goes on by itself then.`;
  return new StoreError('unavailable', message, cause);
}

/** Whether it was for want of room that the database was not opened or written. */
export function isForWantOfRoom(error: unknown): error is StoreError {
  return error instanceof StoreError && lacksRoom(error.cause);
}

/** Of an error of SQLite or the system. */
export function lacksRoom(error: unknown): boolean {
  return isOutOfRoom(error) || isFull(error);
}

export function damagedDatabase(path: string, cause?: unknown): StoreError {
  return unreadable(path, told`is damaged`, cause);
}

export function unreadable(path: string, what: Sentence, cause?: unknown): StoreError {
  const message = told`The database ${path} ${what}. It was left as it is. Put a backup in its place. To start with a new one, move it and its -wal and -shm files away.`;
  return new StoreError('unreadable', message, cause);
}

/** True when a unique column or a primary key has that value already. */
export function isDuplicate(error: unknown): boolean {
  const code = extendedCode(error);
  return code === UNIQUE || code === PRIMARY_KEY;
}

export function primaryCode(error: unknown): number | undefined {
  const code = extendedCode(error);
  return code === undefined ? undefined : code & 0xff;
}

function extendedCode(error: unknown): number | undefined {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  return typeof code === 'number' ? code : undefined;
}
