// The source files of the server and what they import of each other, read as text.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export const SOURCE = resolve(import.meta.dirname, '../../src');

/** Files that serve tests only: left out of builds, and never imported by what is built. */
export const TEST_ONLY = /\.test\.ts$|\.test-support\.ts$|(^|\/)__fixtures__\//;

/** One import, both paths relative to `src/`; `names` is empty for `import '…'` and `import * as`. */
export interface Import {
  readonly file: string;
  readonly target: string;
  readonly names: readonly string[];
}

export function listFiles(folder: string, ending: RegExp): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name))
    .map((name) => join(folder, name));
}

const STATEMENT =
  /(?:import|export)\s+(?:type\s+)?(?:\{([^}]*)\}|[^'"{};]*?)\s*from\s*'(\.[^']+)'|import\s*\(?\s*'(\.[^']+)'/g;

export function readImports(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(STATEMENT)].map(([, names = '', from, bare]) => ({
    file: relative(SOURCE, file),
    target: relative(SOURCE, resolve(dirname(file), from ?? bare ?? '')),
    names: names
      .split(',')
      .map(
        (name) =>
          name
            .replace(/^\s*type\s+/, '')
            .trim()
            .split(/\s+as\s+/)[0] ?? '',
      )
      .filter((name) => name !== ''),
  }));
}
