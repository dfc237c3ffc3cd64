// Lets a database file become smaller again.

import type { SqliteHandle } from './sqlite-handle.ts';

/** For a file nothing was written to yet: https://www.sqlite.org/pragma.html#pragma_auto_vacuum */
export function makeShrinkable(handle: SqliteHandle): void {
  handle.exec('pragma auto_vacuum = incremental; vacuum');
}
