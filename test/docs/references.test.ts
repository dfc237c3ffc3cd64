// What the pages refer to is there: other pages, their headings, and the scripts of package.json.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { isJsonObject, parseJson } from '../../src/lib/json.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = [
  ...['README.md', 'AGENTS.md', 'CHANGELOG.md'].map((name) => join(ROOT, name)),
  ...['docs', 'decisions'].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => !name.includes('images'))
      .map((name) => join(ROOT, folder, name)),
  ),
];

test('every link between pages leads to a file, and to a heading of it where one is named', () => {
  const links = PAGES.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/(?:\]\(|src(?:set)?=")([^)\s"]+)[)"]/g)]
      .map((match) => match[1] ?? '')
      .filter((link) => !/^https?:/.test(link))
      .map((link) => ({ page, link })),
  );
  expect(links.length).toBeGreaterThan(40);
  const broken = links.filter(({ page, link }) => !leadsSomewhere(page, link));
  expect(broken.map(({ page, link }) => `${relative(ROOT, page)}: ${link}`)).toEqual([]);
});

test('every npm script that a page or a text of the program names is in package.json', () => {
  const manifest = parseJson(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const scripts = isJsonObject(manifest) && isJsonObject(manifest.scripts) ? manifest.scripts : {};
  const named = [...PAGES, ...sourceFiles()].flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g)].map(
      ([, run, word]) => run ?? word ?? '',
    ),
  );
  expect(new Set(named).size).toBeGreaterThan(3);
  expect([...new Set(named)].filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  if (!existsSync(target)) return false;
  return heading === undefined || headingsOf(target).includes(heading);
}

/** As GitHub names them. */
function headingsOf(page: string): readonly string[] {
  return [...readFileSync(page, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function sourceFiles(): readonly string[] {
  return ['src', 'packages', 'console/src', 'scripts'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ts|tsx|mjs)$/.test(name))
      .map((name) => join(ROOT, folder, name)),
  );
}
