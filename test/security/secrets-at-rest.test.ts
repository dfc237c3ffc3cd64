// What the console is told in plain stands in no file of the data folder, from the first write on.

import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { configPath } from '../../src/config/effective.ts';
import { isJsonObject, parseJson } from '../../src/lib/json.ts';
import { startGateway, type TestApp } from '../support/app.ts';

const SECRET = 'canary-client-secret';
const PASSWORD = 'canary-console-password';
const UPSTREAM = {
  profile: 'generic',
  base_url: 'https://upstream.example',
  oauth: {
    client_id: 'id',
    token_url: 'https://o.example/token',
    authorization_url: 'https://o.example/auth',
  },
};

let app: Omit<TestApp, 'sandbox'> | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

function folderOf({ config }: Pick<TestApp, 'config'>): string {
  return config.current().dataDir;
}

/** All bytes of all files below the folder. */
function readAll(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');
}

async function patch(
  { url }: Pick<TestApp, 'url'>,
  section: string,
  body: object,
  password?: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(`${url}/api/config/${section}`, {
    method: 'PATCH',
    headers: {
      'content-type': 'application/json',
      ...(password === undefined ? {} : { authorization: `Bearer ${password}` }),
    },
    body: JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

function clientSecretIn(text: string): unknown {
  const file = parseJson(text);
  const upstreams = isJsonObject(file) ? file.upstreams : undefined;
  const main = isJsonObject(upstreams) ? upstreams.main : undefined;
  const oauth = isJsonObject(main) ? main.oauth : undefined;
  return isJsonObject(oauth) ? oauth.client_secret : undefined;
}

/** What stood in the config file after each write while `run` ran. */
async function everWritten(
  { config }: Pick<TestApp, 'config'>,
  run: () => Promise<void>,
): Promise<string> {
  const seen: string[] = [];
  const end = config.subscribe(() => void seen.push(JSON.stringify(config.raw())));
  await run();
  end();
  expect(seen.length).toBeGreaterThan(0);
  return seen.join('\n');
}

test('a client secret sent to the settings is sealed before it is written, and works', async () => {
  app = await startGateway({ file: { upstreams: { main: UPSTREAM } } });
  const { config } = app;
  const path = configPath(folderOf(app));
  const body = { main: { oauth: { client_secret: SECRET } } };
  const running = app;
  const written = await everWritten(running, async () => {
    const { status, text } = await patch(running, 'upstreams', body);
    expect([status, text]).toEqual([200, expect.not.stringContaining(SECRET)]);
  });
  expect(written).not.toContain(SECRET);
  expect(readAll(folderOf(app))).not.toContain(SECRET);
  expect(clientSecretIn(readFileSync(path, 'utf8'))).toMatch(/^sealed:v1:/);
  expect(config.current().upstreams[0]?.oauth?.clientSecret).toMatch(/^sealed:v1:/);
});

test('a client secret written into the file by hand is sealed as soon as it is read', async () => {
  app = await startGateway({ file: { upstreams: { main: UPSTREAM } } });
  const path = configPath(folderOf(app));
  await app.editConfig({
    upstreams: { main: { ...UPSTREAM, oauth: { ...UPSTREAM.oauth, client_secret: SECRET } } },
  });
  await expect.poll(() => clientSecretIn(readFileSync(path, 'utf8'))).toMatch(/^sealed:v1:/);
  await app.config.reload();
  expect(readAll(folderOf(app))).not.toContain(SECRET);
});

test('the key of the external provider is sealed, sent to the settings or written by hand', async () => {
  app = await startGateway({});
  const running = app;
  const keyOf = ({ config }: Pick<TestApp, 'config'>) => config.current().externalProvider.apiKey;
  const written = await everWritten(running, async () => {
    expect(await patch(running, 'extprov', { api_key: SECRET })).toMatchObject({ status: 200 });
  });
  expect(written).not.toContain(SECRET);
  expect(keyOf(app)).toMatch(/^sealed:v1:/);
  await app.editConfig({ proxy: { extprov: { api_key: `${SECRET}-2` } } });
  await expect.poll(() => keyOf(running)).toMatch(/^sealed:v1:/);
  await app.config.reload();
  expect(readAll(folderOf(app))).not.toContain(SECRET);
});

test('a console password sent to the settings is a hash before it is written, and signs in', async () => {
  app = await startGateway({});
  const path = configPath(folderOf(app));
  const running = app;
  const written = await everWritten(running, async () => {
    expect(await patch(running, 'auth', { admin_password: PASSWORD })).toMatchObject({
      status: 200,
    });
  });
  expect(written).not.toContain(PASSWORD);
  expect(readAll(folderOf(app))).not.toContain(PASSWORD);
  expect(readFileSync(path, 'utf8')).toContain('"admin_password": "$argon2id$');
  expect(await patch(app, 'log', { log_level: 'debug' })).toMatchObject({ status: 401 });
  expect(await patch(app, 'log', { log_level: 'debug' }, PASSWORD)).toMatchObject({ status: 200 });
});

test('a plain console password of the file is a hash soon after the start', async () => {
  app = await startGateway({ file: { admin_password: PASSWORD } });
  const path = configPath(folderOf(app));
  await expect.poll(() => readFileSync(path, 'utf8')).toContain('$argon2id$');
  await app.config.reload();
  expect(readAll(folderOf(app))).not.toContain(PASSWORD);
  expect(await patch(app, 'log', { log_level: 'debug' }, PASSWORD)).toMatchObject({ status: 200 });
});

test('a config file with a key is made private, at the start and when it is written again', async () => {
  app = await startGateway({ file: { api_key: 'sk-canary-0123456789' } });
  const path = configPath(folderOf(app));
  const mode = () => (statSync(path).mode & 0o777).toString(8);
  expect(mode()).toBe('600');
  chmodSync(path, 0o644);
  await app.editConfig({ api_key: 'sk-canary-0123456789', proxy: { auth_mode: 'strict' } });
  await expect.poll(mode).toBe('600');
});

test('a config file without a secret keeps the rights it has', async () => {
  app = await startGateway({ file: { proxy: { auth_mode: 'strict' } } });
  const path = configPath(folderOf(app));
  chmodSync(path, 0o644);
  await app.editConfig({ proxy: { auth_mode: 'auto' } });
  expect((statSync(path).mode & 0o777).toString(8)).toBe('644');
});

test('an empty password or secret is refused as what it is, not turned into a good one', async () => {
  app = await startGateway({ file: { upstreams: { main: UPSTREAM } } });
  expect(await patch(app, 'auth', { admin_password: '' })).toMatchObject({ status: 400 });
  const emptySecret = { main: { oauth: { client_secret: '' } } };
  expect(await patch(app, 'upstreams', emptySecret)).toMatchObject({ status: 400 });
});
