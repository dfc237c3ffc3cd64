// A gateway under load is backed up, and another goes on from the backup.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../../src/cli/run-command.test-support.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import { openDatabase } from '../../src/stores/sqlite/open-database.ts';
import { createTestVault, TEST_KEY } from '../support/database.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { startGateway } from '../support/gateway-process.ts';
import { GATEWAY_MAIN, runProgram } from '../support/run-program.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const PASSWORD = 'the-console-password';
const KNOWN = 20;

test('a backup under load is whole: keys, settings and every record from before it come back', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-live-backup-'));
  const [dataDir, file, restored] = ['data', 'backup.tar.gz', 'restored'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  const start = (path: string) =>
    startGateway({ ISTHMUS_DATA_DIR: path, WEB_PASSWORD: PASSWORD, AUTH_MODE: 'strict' });
  const first = await start(dataDir);
  const { secret } = await admin(first.url, 'POST', '/api/keys', { name: 'ada' });
  await admin(first.url, 'PATCH', '/api/config/mapping', {
    mine: 'alpha-3-flash',
  });
  for (let count = 0; count < KNOWN; count += 1) await ask(first.url, secret);
  await expect.poll(() => countRecords(first.url)).toBe(KNOWN);

  let isLoaded = true;
  const load = Array.from({ length: 4 }, async () => {
    while (isLoaded) await ask(first.url, secret);
  });
  for (let count = 0; count < 3; count += 1) {
    await runCommand(`backup ${file} --plain --force --data-dir ${dataDir}`);
    await runCommand(`restore ${file} --check`);
  }
  isLoaded = false;
  await Promise.all(load);
  const { error } = await ask(first.url, 'sk-nobody');
  expect(error).toBeDefined();
  expect(await first.stop()).toBe(0);

  await runCommand(`restore ${file} --data-dir ${restored}`);
  const second = await start(restored);
  expect(await countRecords(second.url)).toBeGreaterThanOrEqual(KNOWN);
  expect(await ask(second.url, secret)).toHaveProperty('choices');
  expect(await admin(second.url, 'GET', '/api/config/mapping')).toMatchObject({
    values: { mine: 'alpha-3-flash' },
  });
  expect(await second.stop()).toBe(0);
  rmSync(folder, { recursive: true, force: true });
});

test('one that is interrupted leaves nothing that holds the secret key', async () => {
  const folder = makeTestFolder('isthmus-interrupted-backup');
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir, { recursive: true });
  const opened = openDatabase({
    ...{ path: join(dataDir, 'isthmus.db'), vault: createTestVault(), clock: createFakeClock() },
  });
  await (await opened).close();
  writeFileSync(join(dataDir, 'secret.key'), `${TEST_KEY}\n`);
  // Neither ends: one is not fed, and what the other says is not read.
  const restoring = interrupt(['restore', '-', '--data-dir', join(folder, 'restored')], folder);
  await restoring('.restore-', join(folder, 'restored'));
  writeFileSync(join(dataDir, 'gui_config.json'), JSON.stringify({ prot_of: randomText() }));
  const backingUp = interrupt(['backup', '-', '--plain', '--data-dir', dataDir], folder);
  await backingUp('.isthmus-backup-', folder);
});

/** Begins a command, and gives what waits for its folder, interrupts it and looks whether that is gone. */
function interrupt(words: readonly string[], folder: string) {
  const command = spawn(process.execPath, [GATEWAY_MAIN, ...words], {
    env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = once(command, 'exit');
  return async (prefix: string, place: string): Promise<void> => {
    const made = () =>
      existsSync(place) ? readdirSync(place).filter((name) => name.startsWith(prefix)) : [];
    await expect.poll(made, { timeout: 20_000 }).toHaveLength(1);
    command.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    expect(made()).toEqual([]);
  };
}

/** More than a pipe holds, however it is packed. */
const randomText = (): string => randomBytes(2_000_000).toString('base64');

test('a backup goes from one program to another, and opens with the key that the gateway will use', async () => {
  const folder = makeTestFolder('isthmus-piped-backup');
  const key = 'a-key-of-the-tests-long-enough';
  writeFileSync(join(folder, 'secret.key'), key);
  const path = join(folder, 'isthmus.db');
  const vault = createTestVault(key);
  await (await openDatabase({ path, vault, clock: createFakeClock() })).close();
  const isthmus = `"${process.execPath}" "${GATEWAY_MAIN}"`;
  const copy = (name: string, flag: string, secretKey: string): Promise<string> => {
    const made = `${isthmus} backup - ${flag} --data-dir "${folder}"`;
    const put = `${isthmus} restore - --data-dir "${join(folder, name)}"`;
    return runProgram('sh', ['-c', `${made} | ISTHMUS_SECRET_KEY="${secretKey}" ${put}`]);
  };
  await copy('copy', '--without-secret-key', key);
  expect(existsSync(join(folder, 'copy', 'isthmus.db'))).toBe(true);
  await expect(copy('other', '--plain', `another-${key}`)).rejects.toThrow(
    'ISTHMUS_SECRET_KEY is another key than the one of the backup. Unset it: the backup holds its own.',
  );
});

async function admin(
  url: string,
  method: string,
  path: string,
  body?: object,
): Promise<JsonObject> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${PASSWORD}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect(response.ok, path).toBe(true);
  return readObject(await response.text());
}

async function ask(url: string, key: unknown): Promise<JsonObject> {
  const messages = [{ role: 'user', content: 'Hello' }];
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'alpha-3-flash', messages }),
  });
  return readObject(await response.text());
}

async function countRecords(url: string): Promise<number> {
  const { total } = await admin(url, 'GET', '/api/requests?limit=1');
  return Number(total);
}

function readObject(text: string): JsonObject {
  const value = parseJson(text);
  return isJsonObject(value) ? value : {};
}
