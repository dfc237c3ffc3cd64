// What the real process does with its pool by itself, and what it finds again after it was killed.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { until } from '../support/passing-clock.ts';
import { GATEWAY_MAIN } from '../support/run-program.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close();
});

interface Served {
  readonly url: string;
  /** Kills it as a power cut would. */
  kill(): Promise<void>;
}

async function serve(folder: string): Promise<Served> {
  const child = spawn(process.execPath, [GATEWAY_MAIN, 'serve', '--port', '0'], {
    env: { PATH: process.env.PATH, HOME: folder, ISTHMUS_DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  closers.push(() => child.kill('SIGKILL'));
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  const find = (): string | undefined => /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
  await until(() => find() !== undefined, 'the banner was printed');
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    url: find() ?? '',
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

const read = async (url: string): Promise<string> => (await fetch(url)).text();

test('it reads the quotas by itself, keeps its files private, and finds its accounts again after a kill', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-serve-'));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  const first = await serve(folder);
  await until(
    async () => (await read(`${first.url}/api/quota`)).includes('"percent":100'),
    'the quota figures were read',
  );
  await until(
    async () => (await read(`${first.url}/api/logs`)).includes('The gateway listens.'),
    'the start stands in the log',
  );
  for (const name of ['secret.key', 'isthmus.db']) {
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  }
  const added = await fetch(`${first.url}/api/accounts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      addAnyway: true,
      upstream: 'sandbox',
      kind: 'api-key',
      label: 'mine',
      key: 'abc',
    }),
  });
  expect(added.status).toBe(201);
  await first.kill();
  const second = await serve(folder);
  expect(await read(`${second.url}/api/accounts`)).toContain('"label":"mine"');
  expect(await read(`${second.url}/health`)).toContain('ok');
});
