// What the errors of SQLite mean to the stores' callers.

import { StoreError } from '../../accounts/account-store.ts';
import { isOutOfRoom } from '../../lib/out-of-room.ts';
import { type Sentence, told } from '../../lib/told.ts';

// Result codes: https://www.sqlite.org/rescode.html
const BUSY = 5;
const LOCKED = 6;
const READ_ONLY = 8;
const INPUT_OUTPUT = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;
const UNIQUE = 2067;
const PRIMARY_KEY = 1555;
/** The index of the log could not grow: where a full disk is met when a database is opened. */
const SHARED_MEMORY_SIZE = 4874;

const RESTORE = told`Nothing in it was changed. Put a backup in its place.`;

/** The same error unless it comes from SQLite; then the store error that says what to do. */
export function toStoreError(error: unknown, path: string): unknown {
  const code = primaryCode(error);
  switch (code) {
    case undefined:
      return error;
    case BUSY:
    case LOCKED:
      return unavailable(
        told`The database ${path} is locked by another process. Try again when that one is done.`,
      );
    case READ_ONLY:
      return unavailable(
        told`The database ${path} cannot be written. Check who may write to it and to its folder.`,
      );
    case FULL:
      return noRoom(path, error);
    case CANNOT_OPEN:
      return unavailable(
        told`The database ${path} cannot be opened. Check that it is there and who may read its folder.`,
      );
    case INPUT_OUTPUT:
      if (extendedCode(error) === SHARED_MEMORY_SIZE) return noRoom(path, error);
      return unavailable(
        told`The database ${path} could not be read or written: the disk reported an error.`,
      );
    case CORRUPT:
    case NOT_A_DATABASE:
      return damagedDatabase(path, error);
    default:
      return unavailable(told`The database ${path} refused the work (SQLite code ${code}).`);
  }
  function unavailable(message: Sentence): StoreError {
    return new StoreError('unavailable', message, error);
  }
}

/** Said at a start too, which ends with it. */
export function noRoom(path: string, cause: unknown): StoreError {
  const message = told`The database ${path} has no room left on its disk. Free some; a gateway that runs goes on by itself then.`;
  return new StoreError('unavailable', message, cause);
}

/** Whether it was for want of room that the database was not opened or written. */
export function isForWantOfRoom(error: unknown): error is StoreError {
  if (!(error instanceof StoreError)) return false;
  const { cause } = error;
  return (
    isOutOfRoom(cause) || primaryCode(cause) === FULL || extendedCode(cause) === SHARED_MEMORY_SIZE
  );
}

export function damagedDatabase(path: string, cause?: unknown): StoreError {
  return new StoreError('unreadable', told`The database ${path} is damaged. ${RESTORE}`, cause);
}

export function isBusy(error: unknown): boolean {
  const code = primaryCode(error);
  return code === BUSY || code === LOCKED;
}

/** After these nothing that the open handle believes can be trusted. */
export function endsHandle(error: unknown): boolean {
  const code = primaryCode(error);
  return code === CORRUPT || code === CANNOT_OPEN;
}

/** After these what was written lately may not have reached the disk, whatever a later flush says. */
export function isDiskFault(error: unknown): boolean {
  return primaryCode(error) === INPUT_OUTPUT;
}

/** True when a unique column or a primary key has that value already. */
export function isDuplicate(error: unknown): boolean {
  const code = extendedCode(error);
  return code === UNIQUE || code === PRIMARY_KEY;
}

function primaryCode(error: unknown): number | undefined {
  const code = extendedCode(error);
  return code === undefined ? undefined : code & 0xff;
}

function extendedCode(error: unknown): number | undefined {
  if (error instanceof Error && 'errcode' in error && typeof error.errcode === 'number') {
    return error.errcode;
  }
  return undefined;
}
