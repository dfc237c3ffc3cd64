// Finds the code blocks of the documentation.

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export interface CodeBlock {
  /** Page and line, such as `docs/clients.md:12`. */
  readonly place: string;
  readonly language: string;
  readonly code: string;
}

const ROOT = join(import.meta.dirname, '../..');
const BLOCK = /^```(\w+)\n(.*?)^```$/gms;

/** The blocks of README.md and of every page of docs/, in order. */
export function readCodeBlocks(): readonly CodeBlock[] {
  const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  return [join(ROOT, 'README.md'), ...pages.map((name) => join(ROOT, 'docs', name))].flatMap(
    (path) => {
      const text = readFileSync(path, 'utf8');
      return [...text.matchAll(BLOCK)].map((match) => ({
        place: `${relative(ROOT, path)}:${text.slice(0, match.index).split('\n').length}`,
        language: match[1] ?? '',
        code: match[2] ?? '',
      }));
    },
  );
}
