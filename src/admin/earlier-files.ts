// Remembers what the config file said before the latest changes, so that taking one back brings nothing new.

import type { JsonObject, JsonValue } from '../lib/json.ts';
import { valueAt } from './config-sections.ts';

export interface EarlierFiles {
  /** Of a change that was made: the file as it stood before it. */
  note(file: JsonObject): void;
  /** The latest first. */
  list(): readonly JsonObject[];
  /** What stood there last. */
  find(path: readonly string[]): JsonValue | undefined;
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
    find(path) {
      const holder = files.find((file) => valueAt(file, path) !== undefined);
      return holder === undefined ? undefined : valueAt(holder, path);
    },
  };
}
