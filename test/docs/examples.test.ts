// The examples of README.md and docs/ work as they stand, against a gateway that was just started.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isJsonObject, parseJson } from '../../src/lib/json.ts';
import { startApp, startGateway, type TestApp } from '../support/app.ts';
import { runProgram } from '../support/run-program.ts';
import { type CodeBlock, readCodeBlocks } from './code-blocks.ts';

const BASE = /http:\/\/(?:127\.0\.0\.1|localhost):8045/g;

const blocks = readCodeBlocks();
/** Shell blocks that ask something; the others start or set up programs. `upstreams.test.ts` has upstreams for its page. */
const shellBlocks = blocks.filter(
  ({ language, code, place }) =>
    language === 'sh' && /^curl /m.test(code) && !place.startsWith('docs/upstreams.md'),
);
/** That of docs/embed.md is run where the package is installed, by `test/slow/package.test.ts`. */
const scriptBlocks = blocks.filter(
  ({ language, place }) => language === 'js' && !place.startsWith('docs/embed.md'),
);
const configBlocks = blocks.filter(
  ({ language, code }) => language === 'json' && /"(?:proxy|upstreams)"/.test(code),
);

let app: TestApp;
let folder: string;

beforeAll(async () => {
  app = await startApp();
  folder = mkdtempSync(join(tmpdir(), 'isthmus-docs-'));
  writeFileSync(join(folder, '.curlrc'), 'silent\nshow-error\nfail-with-body\n');
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

test('there are examples of every kind', () => {
  expect(shellBlocks.length).toBeGreaterThan(3);
  expect(scriptBlocks.length).toBeGreaterThan(6);
  expect(configBlocks.length).toBeGreaterThan(0);
});

// One after the other: some of them set faults, which any request would meet.
test.each(shellBlocks)('$place', async ({ code }) => {
  const key = app.sandbox.authorization.authorization?.replace('Bearer ', '') ?? '';
  const environment = { CURL_HOME: folder, SANDBOX: app.sandbox.url, KEY: key };
  const output = await runProgram('sh', ['-ec', atGateway(code)], environment);
  expect(parseJson(output)).not.toHaveProperty('error');
  await app.sandbox.clearFaults();
});

test.concurrent.each(scriptBlocks)('$place', async ({ code }) => {
  const args = ['--input-type=module', '-e', atGateway(code)];
  expect(await runProgram(process.execPath, args)).not.toBe('');
});

test.each(configBlocks)('$place is a config file the gateway takes', async ({ code }) => {
  const file = parseJson(code);
  if (!isJsonObject(file)) throw new Error('The example is no object.');
  await (await startGateway({ file })).close();
});

test.each(blocks.filter(({ language }) => language === 'json'))('$place is JSON', ({ code }) => {
  expect(() => JSON.parse(code)).not.toThrow();
});

function atGateway(code: CodeBlock['code']): string {
  return code.replaceAll(BASE, app.url);
}
