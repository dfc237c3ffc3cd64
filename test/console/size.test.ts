// What a browser loads before the overview is there stays small and whole; skipped where nothing is built.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const DIST = join(ROOT, 'dist');
const MANIFEST = join(DIST, '.vite/manifest.json');
const MAX_BYTES = 200 * 1024;

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

describe.skipIf(!existsSync(MANIFEST))('the built console', () => {
  test('loads at most 200 KB of page, scripts and styles before the overview is there, as gzip has them', () => {
    const chunks = new Map<string, Chunk>(
      Object.entries(JSON.parse(readFileSync(MANIFEST, 'utf8'))),
    );
    const files = new Set<string>(['index.html']);
    const seen = new Set<string>();
    const add = (name: string): void => {
      const chunk = chunks.get(name);
      if (chunk === undefined) throw new Error(`The manifest has no ${name}.`);
      if (seen.has(name)) return;
      seen.add(name);
      for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file);
      for (const imported of chunk.imports ?? []) add(imported);
    };
    add('index.html');
    add('src/pages/overview/page.tsx');
    // Of the languages one is loaded: the largest is counted.
    const languages = [...chunks]
      .filter(([name]) => /^src\/i18n\/\w+\/first\.ts$/.test(name))
      .map(([, { file }]) => sizeOf(file));
    const bytes = [...files].reduce((sum, file) => sum + sizeOf(file), 0) + Math.max(...languages);
    expect(languages.length).toBeGreaterThan(1);
    expect(files.size).toBeGreaterThan(2);
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
  });

  test('holds no inline script or style in its page, and fetches its font with it', () => {
    const html = readFileSync(join(DIST, 'index.html'), 'utf8');
    expect(html).toMatch(/<script type="module"[^>]* src="\/assets\/[^"]+"><\/script>/);
    expect(html).toMatch(/<link rel="preload" href="\/assets\/inter-latin-[^"]+\.woff2" as="font"/);
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
  });

  test('has the styles of every component it uses, and every variable they name', () => {
    const styles = read('.css');
    const scripts = read('.js');
    const whole = readFileSync(join(ROOT, 'node_modules/@mantine/core/styles.css'), 'utf8');
    const classes = new Set(scripts.match(/\bm_[\da-f]{6,8}\b/g) ?? []);
    const known = [...classes].filter((name) => whole.includes(`.${name}`));
    expect(known.length).toBeGreaterThan(100);
    expect(known.filter((name) => !styles.includes(`.${name}`))).toEqual([]);
    const named = `${styles} ${scripts}`.match(/var\(--mantine-color-[\w-]+/g) ?? [];
    const variables = new Set(named.map((one) => one.slice('var('.length)));
    expect([...variables].filter((name) => !styles.includes(`${name}:`))).toEqual([]);
  });

  test('has rules of bare elements in a layer below the components, which are below its own rules', () => {
    const [first = ''] = readdirSync(join(DIST, 'assets')).filter((name) =>
      /^index-.*\.css$/.test(name),
    );
    const layers = readFileSync(join(DIST, 'assets', first), 'utf8').match(/@layer [^{;]+/g);
    expect(layers?.slice(0, 2)).toEqual(['@layer base', '@layer mantine']);
  });
});

function read(extension: string): string {
  const folder = join(DIST, 'assets');
  return readdirSync(folder)
    .filter((name) => name.endsWith(extension))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
}

function sizeOf(file: string): number {
  return gzipSync(readFileSync(join(DIST, file)), { level: 9 }).length;
}
