// A gateway under load is backed up, and another goes on from the backup.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../../src/cli/run-command.test-support.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../src/lib/json.ts';
import { openDatabase } from '../../src/stores/sqlite/open-database.ts';
import { createTestVault } from '../support/database.ts';
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
