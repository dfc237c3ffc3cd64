// The examples of README.md and docs/ work as they stand, against a gateway that was just started.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isJsonObject, parseJson } from '../../src/lib/json.ts';
import { startApp, startGateway, type TestApp } from '../support/app.ts';
import { type CodeBlock, readCodeBlocks } from './code-blocks.ts';

const BASE = /http:\/\/(?:127\.0\.0\.1|localhost):8045/g;
const ROOT = join(import.meta.dirname, '../..');

const blocks = readCodeBlocks();
/** Shell blocks that ask something; the others start or set up programs. */
const shellBlocks = blocks.filter(
  ({ language, code }) => language === 'sh' && /^curl /m.test(code),
);
const scriptBlocks = blocks.filter(({ language }) => language === 'js');
const configBlocks = blocks.filter(
  ({ language, code }) => language === 'json' && code.includes('"proxy"'),
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
  const output = await run('sh', ['-ec', atGateway(code)], environment);
  expect(parseJson(output)).not.toHaveProperty('error');
  await app.sandbox.clearFaults();
});

test.concurrent.each(scriptBlocks)('$place', async ({ code }) => {
  const args = ['--input-type=module', '-e', atGateway(code)];
  expect(await run(process.execPath, args, {})).not.toBe('');
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

/** What a program printed; fails with all of it when the program does. */
function run(
  file: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const { PATH, HOME } = process.env;
    const child = spawn(file, args, { cwd: ROOT, env: { PATH, HOME, ...environment } });
    let output = '';
    let errors = '';
    child.stdout.on('data', (data) => {
      output += data;
    });
    child.stderr.on('data', (data) => {
      errors += data;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`ended with ${code}:\n${output}\n${errors}`));
    });
  });
}
