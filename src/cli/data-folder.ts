// The data folder: made on first use, for its owner only.

import { mkdirSync } from 'node:fs';

/** @throws Error naming the folder and the way out */
export function makeDataDir(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The data folder ${path} cannot be made: ${why}\nName another with --data-dir or ISTHMUS_DATA_DIR.`,
      { cause: error },
    );
  }
}
