// The data folder: made on first use, for its owner only.

import { mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

/** @throws Error naming the folder and the way out, also when nothing can be stored in it */
export function makeDataDir(path: string): void {
  attempt(path, 'made', () => mkdirSync(path, { recursive: true, mode: 0o700 }));
  // Rights alone do not tell: a file system may be mounted for reading only.
  attempt(path, 'written', () => rmdirSync(mkdtempSync(join(path, '.try-'))));
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
