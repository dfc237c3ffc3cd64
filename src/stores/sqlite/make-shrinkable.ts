// Gives a database file that can only grow the means to become smaller.

import { isBusy, isFull } from './sqlite-fault.ts';
import type { SqliteHandle } from './sqlite-handle.ts';

/** A file up to this size is written anew in half a second. */
const REBUILT_BYTES = 33_554_432;

/**
 * Writes a small file anew that was made without the means to become smaller
 * (https://www.sqlite.org/pragma.html#pragma_auto_vacuum). One in use or without room stays as it is.
 */
export function makeShrinkable(handle: SqliteHandle): void {
  if (pragmaOf(handle, 'auto_vacuum') !== 0) return;
  if (pragmaOf(handle, 'page_count') * pragmaOf(handle, 'page_size') > REBUILT_BYTES) return;
  try {
    handle.exec('pragma auto_vacuum = incremental; vacuum');
  } catch (error) {
    if (!isBusy(error) && !isFull(error)) throw error;
  }
}

function pragmaOf(handle: SqliteHandle, name: string): number {
  const [row] = handle.prepare(`pragma ${name}`).all();
  return typeof row === 'object' && row !== null ? Number(Object.values(row)[0]) : 0;
}
