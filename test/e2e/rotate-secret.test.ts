// Another secret key in the place of the one in use: killed after each step, and in PostgreSQL where that is installed.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CLIENT_KEYS } from '../../src/access/access.ts';
import { type RotateSecretOptions, rotateSecretKey } from '../../src/cli/rotate-secret.ts';
import { LEADER } from '../../src/cluster/leases.ts';
import { createConfigSecrets } from '../../src/compose/config-secrets.ts';
import { openDatabaseAt } from '../../src/compose/shared-database.ts';
import { readEnvironment } from '../../src/config/env.ts';
import { createLiveConfig } from '../../src/config/live.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { createVault } from '../../src/sealing/seal.ts';
import { createSecretKey, loadSecretKey, type SecretKey } from '../../src/sealing/secret-key.ts';
import { openDatabase } from '../../src/stores/sqlite/open-database.ts';
import { startGateway } from '../support/gateway-process.ts';
import { newAccount } from '../support/new-account.ts';
import { POSTGRES_BIN, startPostgres, type TestServer } from '../support/postgres.ts';
import { runGateway } from '../support/run-program.ts';

const clock = createSystemClock();
const log = { info: () => undefined, warn: () => undefined };
const PROVIDER_KEY = 'the key of the provider';
let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'isthmus-rotate-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** What the folder holds for a key, as a start finds it. */
async function contentsFor(key: SecretKey) {
  const vault = createVault(key);
  const stores = await openDatabase({ path: join(dataDir, 'isthmus.db'), vault, clock });
  const stored = await stores.accounts.readCredential('a');
  const digestKey = (stores.digestKey ?? key.derive(CLIENT_KEYS)).toString('hex');
  await stores.close();
  const path = join(dataDir, 'gui_config.json');
  const config = await createLiveConfig({ path, environment: {}, clock, log });
  const { openProviderKey } = createConfigSecrets({ config, vault, log });
  const sealed = config.current().externalProvider.apiKey ?? '';
  await config.close();
  return { credential: stored?.credential, digestKey, providerKey: openProviderKey(sealed) };
}

/** @returns what it holds */
async function fillFolder(key: SecretKey) {
  const vault = createVault(key);
  const stores = await openDatabase({ path: join(dataDir, 'isthmus.db'), vault, clock });
  await stores.accounts.insert(newAccount('a'));
  await stores.close();
  const sealed = vault.seal(PROVIDER_KEY, 'config proxy extprov api_key');
  const file = { proxy: { extprov: { api_key: sealed } } };
  writeFileSync(join(dataDir, 'gui_config.json'), JSON.stringify(file));
  const contents = await contentsFor(key);
  expect(contents.providerKey).toBe(PROVIDER_KEY);
  return contents;
}

function options(environment: RotateSecretOptions['environment'] = {}) {
  const lines: string[] = [];
  const add = (text: string): void => void lines.push(text);
  const answer: RotateSecretOptions['answer'] = (_body, sayInWords) => sayInWords();
  return { lines, environment, dataDir, clock, answer, terminal: { print: add, note: add } };
}

test('all opens with the new key and nothing with the one before; client keys stay good', async () => {
  const before = loadSecretKey({ dataDir });
  const contents = await fillFolder(before);
  const copy = join(dataDir, 'isthmus.db.before-upgrade');
  writeFileSync(copy, 'sealed with the key until now');
  const run = options();
  await rotateSecretKey(run);
  expect(existsSync(copy)).toBe(false);
  const after = loadSecretKey({ dataDir });
  expect(after.id).not.toBe(before.id);
  expect(await contentsFor(after)).toEqual(contents);
  await expect(contentsFor(before)).rejects.toThrow(/cannot be opened with this secret key/);
  expect(run.lines[0]).toBe(
    `Everything is sealed with the key ${after.id} in place of ${before.id}.`,
  );
  await rotateSecretKey(options());
  expect(await contentsFor(loadSecretKey({ dataDir }))).toEqual(contents);
});

test('the audit log has the change, with the names of both keys', async () => {
  const before = loadSecretKey({ dataDir });
  await fillFolder(before);
  await rotateSecretKey(options());
  const after = loadSecretKey({ dataDir });
  const path = join(dataDir, 'isthmus.db');
  const stores = await openDatabase({ path, vault: createVault(after), clock });
  expect(await stores.access.audit.list({ limit: 9 })).toMatchObject([
    {
      ...{ actor: 'machine', action: 'isthmus secret rotate', subject: 'secret rotate' },
      ...{ before: `{"secretKey":"${before.id}"}`, after: `{"secretKey":"${after.id}"}` },
    },
  ]);
  await stores.close();
});

test.each(['key-made', 'database', 'settings', 'key-placed'])(
  'killed after the step "%s", the same command finishes it, and no gateway starts meanwhile',
  async (step) => {
    const contents = await fillFolder(loadSecretKey({ dataDir }));
    const script = `
      import { rotateSecretKey } from './src/cli/rotate-secret.ts';
      import { createSystemClock } from './src/lib/clock.ts';
      await rotateSecretKey({
        environment: {}, dataDir: ${JSON.stringify(dataDir)}, clock: createSystemClock(),
        terminal: { print() {}, note() {} }, answer() {},
        onStep: (step) => step === '${step}' && process.kill(process.pid, 'SIGKILL'),
      });`;
    const ran = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: join(import.meta.dirname, '../..'),
    });
    expect(ran.signal).toBe('SIGKILL');
    if (step === 'key-placed') {
      expect(await contentsFor(loadSecretKey({ dataDir }))).toEqual(contents);
      return;
    }
    expect(() => loadSecretKey({ dataDir })).toThrow(/Run "isthmus secret rotate" to finish it/);
    const next = readFileSync(join(dataDir, 'secret.key.next'), 'utf8');
    await rotateSecretKey(options());
    expect(readFileSync(join(dataDir, 'secret.key'), 'utf8')).toBe(next);
    expect(existsSync(join(dataDir, 'secret.key.next'))).toBe(false);
    expect(await contentsFor(loadSecretKey({ dataDir }))).toEqual(contents);
  },
);

test('a key of the environment is changed with the one before at hand, twice without harm', async () => {
  const [old, next] = ['the-key-until-now-long-enough', 'the-key-that-comes-next-long-enough'];
  const contents = await fillFolder(createSecretKey(old, 'here'));
  await expect(rotateSecretKey(options({ secretKey: next }))).rejects.toThrow(
    /Set the previous one as ISTHMUS_SECRET_KEY_OLD/,
  );
  const environment = readEnvironment({
    variables: { ISTHMUS_SECRET_KEY: next, ISTHMUS_SECRET_KEY_OLD: old },
    readText: () => '',
  });
  await rotateSecretKey(options(environment));
  await rotateSecretKey(options(environment));
  expect(await contentsFor(createSecretKey(next, 'here'))).toEqual(contents);
  const wrong = options({ secretKey: 'a third key, which is long enough', secretKeyOld: old });
  await expect(rotateSecretKey(wrong)).rejects.toThrow(/cannot be opened with this secret key/);
});

test('a gateway that runs on the folder is in the way; a key of a person works after the change', async () => {
  const environment = {
    ISTHMUS_DATA_DIR: dataDir,
    AUTH_MODE: 'strict',
    WEB_PASSWORD: 'long enough',
  };
  const rotate = () => runGateway(['secret', 'rotate'], environment);
  const first = await startGateway(environment);
  const made = await fetch(`${first.url}/api/keys`, {
    method: 'POST',
    headers: { authorization: 'Bearer long enough', 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'ann' }),
  });
  const { secret } = (await made.json()) as { secret: string };
  await expect(rotate()).rejects.toThrow(/A gateway runs on the data folder/);
  await first.stop();
  expect(await rotate()).toMatch(/^Everything is sealed with the key/);
  const second = await startGateway(environment);
  const listed = await fetch(`${second.url}/v1/models`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  expect(listed.status).toBe(200);
  await second.stop();
});

describe.skipIf(POSTGRES_BIN === undefined)('in PostgreSQL', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.close());

  test('all opens with the next key, while no replica leads', async () => {
    const databaseUrl = await server.createDatabase();
    const [old, next] = ['the-key-until-now-long-enough', 'the-key-that-comes-next-long-enough'];
    const openWith = (secretKey: string) =>
      openDatabaseAt(databaseUrl, {
        ...{ environment: { databaseUrl, secretKey }, dataDir, clock, random: Math.random, log },
      });
    const before = await openWith(old);
    await before.stores.accounts.insert(newAccount('a'));
    const lease = await before.stores.leases.take(LEADER, 'a replica', 60_000);
    const environment = { databaseUrl, secretKey: next, secretKeyOld: old };
    await expect(rotateSecretKey(options(environment))).rejects.toThrow(/Stop every replica first/);
    await before.stores.leases.release(LEADER, 'a replica', lease?.fence ?? 0);
    await before.stores.close();
    await rotateSecretKey(options(environment));
    const after = await openWith(next);
    expect(await after.stores.accounts.readCredential('a')).toMatchObject({ version: 1 });
    expect(after.stores.digestKey).toEqual(createSecretKey(old, 'here').derive(CLIENT_KEYS));
    await after.stores.close();
    await expect(openWith(old)).rejects.toThrow(/cannot be opened with this secret key/);
  });
});
