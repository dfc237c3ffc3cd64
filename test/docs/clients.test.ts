// The page Clients of the console and docs/clients.md say the same, and the programs of the page work.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../../console/src/pages/clients/client.ts';
import { CLIENTS, findClient } from '../../console/src/pages/clients/clients.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { runProgram, runScript } from '../support/run-program.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/clients.md'), 'utf8');
const ADDRESS = 'http://127.0.0.1:8045';
const KEY = 'any-key';

/** Where docs/clients.md speaks of a client: a heading, or the first cell of a row of a table. */
const PLACES: Readonly<Record<string, string | readonly string[]>> = {
  'claude-code': 'Claude Code',
  codex: 'Codex CLI',
  'gemini-cli': 'Gemini CLI',
  opencode: ['opencode, Kilo'],
  kilo: ['opencode, Kilo'],
  'qwen-code': ['Qwen Code'],
  copilot: ['GitHub Copilot CLI'],
  pi: ['pi'],
  cline: ['Cline'],
  continue: ['Continue'],
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  'google-genai': 'Google Gen AI',
  'vercel-ai': 'Vercel AI SDK',
};

const documented = CLIENTS.filter(({ group }) => group !== 'others');

test.each(documented)('$name is given the address that docs/clients.md gives it', (client) => {
  const section = sectionOf(client);
  // Python has a section of its own for all SDKs.
  const text = section + sectionUnder('Python');
  const given = client.ways
    .filter(({ id }) => id !== 'powershell')
    .flatMap((way) => way.write({ address: ADDRESS, key: KEY, model: client.model }))
    .flatMap(({ code }) => code.split('\n'))
    .filter((line) => line.includes(ADDRESS));
  expect(given.length).toBeGreaterThan(0);
  for (const line of given) expect(withoutFrame(text)).toContain(withoutFrame(line));
});

test.each(documented)('$name is given the variables that docs/clients.md names', (client) => {
  const section = sectionOf(client);
  const [way] = client.ways;
  const code = way
    .write({ address: ADDRESS, key: KEY, model: client.model })
    .map((step) => step.code)
    .join('\n');
  const set = [...code.matchAll(/^export (\w+)=/gm)].map(([, name = '']) => name);
  for (const name of set) expect(section).toContain(name);
  const asked = [...section.matchAll(/(?:^export |`)([A-Z_]+)=/gm)].map(([, name = '']) => name);
  for (const name of asked) expect(set).toContain(name);
});

test('every client of the tables of docs/clients.md is on the page', () => {
  const rows = [...sectionUnder('OpenAI-compatible tools').matchAll(/^\| ([^|]+) \|/gm)];
  const named = Object.values(PLACES).flatMap((place) => (typeof place === 'string' ? [] : place));
  const told = rows.map(([, cell = '']) => cell).filter((cell) => !/^(?:Tool|-+)$/.test(cell));
  expect(told.filter((cell) => !named.includes(cell))).toEqual([]);
  expect(documented.map(({ id }) => id)).toEqual(Object.keys(PLACES));
});

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const PROGRAMS = CLIENTS.flatMap((client) =>
  client.ways
    .filter(({ id }) => client.group === 'sdks' && id !== 'python')
    .map((way) => ({ name: `${client.name} ${way.id}`, client, way })),
);

test.concurrent.each(PROGRAMS)('the program of $name gets an answer', async ({ client, way }) => {
  const steps = way.write({ address: app.url, key: KEY, model: client.model });
  const program = steps.find(({ kind }) => kind === 'code')?.code ?? '';
  expect(await runScript(program)).not.toBe('');
});

test('the commands of curl get an answer', async () => {
  const client = findClient('curl');
  const [way] = client.ways;
  for (const { code } of way.write({ address: app.url, key: KEY, model: client.model })) {
    const answer = await runProgram('sh', [
      '-c',
      code.replace('curl ', 'curl --silent --fail-with-body '),
    ]);
    expect(JSON.parse(answer)).not.toHaveProperty('error');
  }
});

function sectionOf({ id }: Client): string {
  const place = PLACES[id];
  if (place === undefined) throw new Error(`Where does docs/clients.md speak of ${id}?`);
  if (typeof place === 'string') return sectionUnder(place);
  const row = PAGE.split('\n').find((line) => place.some((cell) => line.startsWith(`| ${cell} |`)));
  if (row === undefined) throw new Error(`docs/clients.md has no row for ${id}.`);
  return row;
}

function sectionUnder(heading: string): string {
  const [, after] = PAGE.split(`\n### ${heading}\n`);
  if (after === undefined) throw new Error(`docs/clients.md has no heading ${heading}.`);
  return after.split(/\n##+ /)[0] ?? '';
}

/** Without spaces and what only holds a line to its neighbours. */
function withoutFrame(text: string): string {
  return text
    .replaceAll(/\s+|,\s*(?=$|\n|[})])/g, '')
    .replace(/^export|^client=/, '')
    .replace(/,$/, '');
}
