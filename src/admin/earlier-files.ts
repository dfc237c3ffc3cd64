// Remembers what the config file said before the latest changes, so that taking one back brings nothing new.

import type { JsonObject } from '../lib/json.ts';

export interface EarlierFiles {
  /** Of a change that was made: the file as it stood before it. */
  note(file: JsonObject): void;
  /** The latest first. */
  list(): readonly JsonObject[];
}

/** Ways back are short: the console shows each for some seconds. */
const MOST_FILES = 20;

export function createEarlierFiles(): EarlierFiles {
  let files: readonly JsonObject[] = [];
  return {
    note(file) {
      files = [file, ...files].slice(0, MOST_FILES);
    },
    list: () => files,
  };
}
