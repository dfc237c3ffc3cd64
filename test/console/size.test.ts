// The script a browser loads before the overview is there stays small; skipped where nothing is built.

import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const DIST = resolve(import.meta.dirname, '../../dist');
const MANIFEST = join(DIST, '.vite/manifest.json');
const MOST_BYTES = 250 * 1024;

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
}

test.skipIf(!existsSync(MANIFEST))('the overview loads at most 250 KB of script', () => {
  const chunks = new Map<string, Chunk>(Object.entries(JSON.parse(readFileSync(MANIFEST, 'utf8'))));
  const files = new Set<string>();
  const add = (name: string): void => {
    const chunk = chunks.get(name);
    if (chunk === undefined) throw new Error(`The manifest has no ${name}.`);
    if (files.has(chunk.file)) return;
    files.add(chunk.file);
    for (const imported of chunk.imports ?? []) add(imported);
  };
  add('index.html');
  // Of the two languages one is loaded: the larger is counted.
  const languages = ['src/i18n/en/first.ts', 'src/i18n/zh/first.ts'].map((name) =>
    sizeOf(chunks.get(name)),
  );
  add('src/pages/overview/page.tsx');
  const bytes =
    [...files].reduce((sum, file) => sum + sizeOf({ file }), 0) + Math.max(...languages);
  expect(files.size).toBeGreaterThan(2);
  expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
});

test.skipIf(!existsSync(MANIFEST))(
  'the page of the console holds no inline script or style',
  () => {
    const html = readFileSync(join(DIST, 'index.html'), 'utf8');
    expect(html).toMatch(/<script type="module"[^>]* src="\/assets\/[^"]+"><\/script>/);
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
  },
);

function sizeOf(chunk: Chunk | undefined): number {
  if (chunk === undefined) throw new Error('The manifest misses a language.');
  return gzipSync(readFileSync(join(DIST, chunk.file))).length;
}
