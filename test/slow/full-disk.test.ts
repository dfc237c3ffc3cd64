// Starts on a full disk: model requests need no room, so they are served. The disk is a small one in memory.

import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type RunningGateway, startGateway } from '../support/gateway-process.ts';

let folder: string;
let isMounted = false;
let gateway: RunningGateway | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'isthmus-full-disk-'));
  const mount = ['-t', 'tmpfs', '-o', 'size=2m,mode=700', 'none', folder];
  isMounted = spawnSync('mount', mount).status === 0;
  if (!isMounted) console.warn('SKIPPED: this user may not mount a disk of 2 MB, so none is full.');
});

afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
  if (isMounted) spawnSync('umount', [folder]);
  rmdirSync(folder);
});

const FILLING = '.filling';

function fillDisk(): void {
  const file = openSync(join(folder, FILLING), 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' });
  } finally {
    closeSync(file);
  }
}

const freeDisk = () => rmSync(join(folder, FILLING));

async function start(): Promise<RunningGateway> {
  gateway = await startGateway({}, ['--data-dir', folder]);
  return gateway;
}

async function call(method: string, path: string, body?: object) {
  const response = await fetch(`${gateway?.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', connection: 'close' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

const ask = () =>
  call('POST', '/v1/messages', {
    model: 'alpha-3-flash',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Hello' }],
  });
const addKey = () =>
  call('POST', '/api/accounts', {
    ...{ upstream: 'sandbox', kind: 'api-key', label: 'mine' },
    ...{ key: 'AIza-a-key-of-nobody', addAnyway: true },
  });

test('D5: a first start on a full disk serves, and says that nothing is kept', async ({ skip }) => {
  if (!isMounted) skip();
  fillDisk();
  const { output } = await start();
  expect(await ask()).toMatchObject({ status: 200 });
  await expect.poll(output).toMatch(/no secret key can be kept.*lost at the end/);
  expect(await call('GET', '/api/overview')).toMatchObject({
    text: expect.stringContaining('"not-lasting"'),
  });
  expect(await addKey()).toMatchObject({ status: 201 });
  await gateway?.stop();
  freeDisk();
  await start();
  expect(await ask()).toMatchObject({ status: 200 });
  expect((await call('GET', '/api/accounts')).text).not.toContain('"mine"');
});

test('D5: a start on a disk that became full serves what is stored, and writes when there is room', async ({
  skip,
}) => {
  if (!isMounted) skip();
  await start();
  expect(await ask()).toMatchObject({ status: 200 });
  await gateway?.stop();
  fillDisk();
  const { output } = await start();
  expect(await ask()).toMatchObject({ status: 200 });
  await expect.poll(output).toContain('The disk of the data folder has no room left.');
  expect(await addKey()).toMatchObject({ status: 503, text: expect.stringContaining('no room') });
  const before = (await call('GET', '/api/config/auth')).text;
  const change = { auth_mode: 'strict' };
  expect(await call('PATCH', '/api/config/auth', change)).toMatchObject({
    status: 503,
    text: expect.stringContaining('its disk has no room left. Nothing was changed.'),
  });
  expect((await call('GET', '/api/config/auth')).text).toBe(before);
  expect(await ask()).toMatchObject({ status: 200 });
  freeDisk();
  expect(await addKey()).toMatchObject({ status: 201 });
  await gateway?.stop();
  await start();
  expect((await call('GET', '/api/accounts')).text).toContain('"mine"');
});

test('a disk that fills up while the gateway serves costs no request and no record, and it heals by itself', async ({
  skip,
}) => {
  if (!isMounted) skip();
  await start();
  expect(await ask()).toMatchObject({ status: 200 });
  fillDisk();
  const answers = await Promise.all(Array.from({ length: 300 }, ask));
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  expect(await addKey()).toMatchObject({ status: 503 });
  const told = async () => (await call('GET', '/api/overview')).text.includes('"records-unsaved"');
  await expect.poll(told, { timeout: 20_000 }).toBe(true);
  freeDisk();
  await expect.poll(told, { timeout: 20_000 }).toBe(false);
  expect(JSON.parse((await call('GET', '/api/requests')).text)).toMatchObject({ total: 301 });
  expect(await addKey()).toMatchObject({ status: 201 });
});
