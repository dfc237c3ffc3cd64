// The data folder: made on first use, for its owner only.

import { mkdirSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** @throws Error naming the folder and the way out, also when nothing can be stored in it */
export function makeDataDir(path: string): void {
  attempt(path, 'made', () => makeFolder(resolve(path)));
  // Rights alone do not tell: a file system may be mounted for reading only.
  attempt(path, 'written', () => rmdirSync(mkdtempSync(join(path, '.try-'))));
}

/**
 * Level by level: node's own `recursive` never ends where a file system says that a folder in which
 * nothing can be made does not exist, as `/proc` does.
 */
function makeFolder(path: string): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (!isFolder(parent)) makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have been faster.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function attempt(path: string, what: 'made' | 'written', action: () => void): void {
  try {
    action();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The data folder ${path} cannot be ${what}: ${why}\nName another with --data-dir or ISTHMUS_DATA_DIR.`,
      { cause: error },
    );
  }
}
