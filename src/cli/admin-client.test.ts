import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { listen } from '../../test/support/listen.ts';
import { makeTestFolder } from '../../test/support/test-folder.ts';
import { createPasswordHasher } from '../access/password-hash.ts';
import { readEnvironment } from '../config/env.ts';
import { createConnect } from './admin-client.ts';

let folder: string;
let port: number;
let shown: (string | undefined)[];

beforeEach(async () => {
  folder = makeTestFolder('connect');
  shown = [];
  const server = createServer((request, response) => {
    shown.push(request.headers.authorization);
    response.end('{"accounts":[]}');
  });
  port = await listen(server);
});

function connectWith(variables: Readonly<Record<string, string>> = {}) {
  const environment = { ISTHMUS_DATA_DIR: folder, ...variables };
  return createConnect(() => readEnvironment({ variables: environment, readText: () => '' }));
}

function writeSettings(settings: object): void {
  writeFileSync(join(folder, 'gui_config.json'), JSON.stringify(settings));
}

const request = ['GET', '/api/accounts'] as const;

test('the settings name the gateway and its password', async () => {
  writeSettings({ admin_password: 'from-file', proxy: { host: '0.0.0.0', port } });
  const client = await connectWith()({});
  expect(await client.call(...request)).toEqual({ accounts: [] });
  await (await connectWith({ WEB_PASSWORD: 'from-environment' })({})).call(...request);
  const path = join(folder, 'password');
  writeFileSync(path, 'from-flag\n');
  await (await connectWith({ WEB_PASSWORD: 'other' })({ passwordFile: path })).call(...request);
  expect(shown).toEqual(['Bearer from-file', 'Bearer from-environment', 'Bearer from-flag']);
});

test('the password of the config file goes to no other address', async () => {
  writeSettings({ api_key: 'sk-own-key', admin_password: 'from-file', proxy: { port: 1 } });
  const url = `http://127.0.0.1:${port}/`;
  await (await connectWith()({ url })).call(...request);
  await (await connectWith({ WEB_PASSWORD: 'given' })({ url })).call(...request);
  expect(shown).toEqual([undefined, 'Bearer given']);
});

test.each([
  [{ url: 'localhost:8045' }, '--url must be an address'],
  [{ url: 'http://user:secret@localhost' }, '--url must be an address'],
  [{ url: 'http://localhost', local: true }, 'do not go together'],
])('flags that cannot be used are refused (%#)', async (flags, words) => {
  await expect(connectWith()(flags)).rejects.toThrow(words);
});

test('without a running gateway the data folder itself is worked on', async () => {
  writeSettings({ admin_password: 'from-file' });
  const client = await connectWith()({ local: true });
  const messages = [{ role: 'user', content: 'Hi' }];
  const body = { protocol: 'chat', body: { model: 'alpha-3-flash', messages } };
  const asked = ['POST', '/api/translate', body] as const;
  expect(await client.call(...asked)).toMatchObject({ upstream: { profile: 'sandbox' } });
  await client.close();
  await expect(client.call(...asked)).rejects.toThrow('No gateway answers');
});

test('beside a gateway that runs on the data folder it is not worked on', async () => {
  const local = await connectWith()({ local: true });
  await expect(connectWith()({ local: true })).rejects.toThrow('Leave --local out');
  await local.close();
  await (await connectWith()({ local: true })).close();
});

test('where PostgreSQL keeps everything the data folder is not worked on', async () => {
  const variables = {
    DATABASE_URL: 'postgres://127.0.0.1:1/isthmus',
    ISTHMUS_SECRET_KEY: 'a-secret-key-of-sixteen-characters-or-more',
  };
  await expect(connectWith(variables)({ local: true })).rejects.toThrow('DATABASE_URL is set');
});

test('where the password is a hash, commands of this machine show a token of the secret key', async () => {
  const admin_password = await createPasswordHasher().hash('from-file');
  writeSettings({ admin_password, proxy: { host: '127.0.0.1', port } });
  const variables = { ISTHMUS_SECRET_KEY: 'a-secret-key-of-sixteen-characters-or-more' };
  await (await connectWith(variables)({})).call(...request);
  expect(shown).toEqual([expect.stringMatching(/^Bearer machine-[\w-]{43}$/)]);
});

test('where the password is in the environment of the gateway alone, they show that token too', async () => {
  writeSettings({ proxy: { port } });
  await (await connectWith()({})).call(...request);
  writeFileSync(join(folder, 'secret.key'), 'a-secret-key-of-sixteen-characters-or-more');
  await (await connectWith()({})).call(...request);
  expect(shown).toEqual([undefined, expect.stringMatching(/^Bearer machine-[\w-]{43}$/)]);
});
