// The page Clients of the console and docs/clients.md say the same, and the programs of the page work.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../../console/src/pages/clients/client.ts';
import { CLIENTS, findClient } from '../../console/src/pages/clients/clients.ts';
import { CODING_CLIENTS, SDK_VARIABLES } from '../../src/clients/coding-clients.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { runProgram, runScript } from '../support/run-program.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/clients.md'), 'utf8');
const ADDRESS = 'http://127.0.0.1:8045';
const KEY = 'any-key';

/** The heading under which docs/clients.md speaks of an SDK. */
const HEADINGS: Readonly<Record<string, string>> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  'google-genai': 'Google Gen AI',
  'vercel-ai': 'Vercel AI SDK',
};

const sdks = CLIENTS.filter(({ group }) => group === 'sdks');

test.each(sdks)('$name is given the address that docs/clients.md gives it', (client) => {
  // Python has a section of its own for all SDKs.
  const text = sectionUnder(HEADINGS[client.id] ?? '') + sectionUnder('Python');
  const given = client.ways
    .flatMap((way) => way.write({ address: ADDRESS, key: KEY, model: client.model }))
    .flatMap(({ code }) => code.split('\n'))
    .filter((line) => line.includes(ADDRESS));
  expect(given.length).toBeGreaterThan(0);
  for (const line of given) expect(withoutFrame(text)).toContain(withoutFrame(line));
});

const clis = CLIENTS.filter(({ group }) => group === 'clis');
const SETTINGS = /(?<=<!-- settings -->\n).*(?=<!-- \/settings -->)/s;

test('docs/clients.md has the settings of every coding CLI as the page shows them', () => {
  const path = join(ROOT, 'docs/clients.md');
  const page = readFileSync(path, 'utf8').replace(SETTINGS, () =>
    clis.map(describeSettings).join(''),
  );
  if (process.env.UPDATE_DOCS === '1') writeFileSync(path, page);
  expect(readFileSync(path, 'utf8')).toBe(page);
});

test('docs/clients.md names every client that can be connected', () => {
  for (const { id } of [...CODING_CLIENTS, ...SDK_VARIABLES]) expect(PAGE).toContain(`\`${id}\``);
  const variables = CODING_CLIENTS.flatMap(({ files }) =>
    files.flatMap(({ folder }) => folder.variables ?? []),
  );
  for (const { name } of variables) expect(PAGE).toContain(`\`${name}\``);
});

function describeSettings({ name, model, ways: [way] }: Client): string {
  const steps = way.write({ address: ADDRESS, key: KEY, model });
  const blocks = steps.map(({ file, code }) => {
    const language = /\.(?:json|jsonc|toml|yaml|yml)$/.exec(file ?? '')?.[0].slice(1);
    const block = `\`\`\`${file === undefined ? 'sh' : (language ?? 'ini')}\n${code}\n\`\`\`\n`;
    return file === undefined ? block : `In \`${file}\`:\n\n${block}`;
  });
  return `### ${name}\n\n${blocks.join('\n')}\n`;
}

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
