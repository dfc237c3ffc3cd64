import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../../lib/json.ts';
import { plainCookieName } from '../../server/admin-route.ts';
import { addTo, PASSWORD, startAdmin, type TestAdmin } from '../admin.test-support.ts';

const FILE = {
  api_key: 'sk-the-key-there-is',
  proxy: {
    auth_mode: 'auto',
    extprov: { base_url: 'https://provider.example', api_key: 'key-of-the-provider' },
  },
  upstreams: {
    main: {
      profile: 'generic',
      base_url: 'https://upstream.example',
      future: { kept: true },
      oauth: {
        client_id: 'id',
        token_url: 'https://o.example/token',
        authorization_url: 'https://o.example/auth',
      },
    },
  },
};

let admin: TestAdmin;
let cookie: string;

beforeEach(async () => {
  admin = await startAdmin();
  admin.fakes.config = structuredClone(FILE);
  const { login } = admin.options.access ?? {};
  const session = await login?.signIn(PASSWORD, { address: '127.0.0.1', cookie: undefined });
  cookie = `${plainCookieName(login?.cookieTag ?? '')}=${session?.secret}`;
});
afterEach(() => admin.close());

/** As a browser that is signed in, with the password once more or without. */
const browse = (method: string, path: string, body: JsonObject, again?: string) =>
  admin.call(method, path, {
    body,
    headers: {
      ...{ authorization: '', cookie, 'x-isthmus-console': '1' },
      ...(again === undefined ? {} : { 'x-isthmus-password': encodeURIComponent(again) }),
    },
  });

const ASKED = { code: 'missing-field', field: 'password' };

const TAKEOVERS: readonly (readonly [section: string, patch: JsonObject])[] = [
  ['auth', { admin_password: 'a password of the thief' }],
  ['auth', { api_key: 'sk-a-key-of-the-thief' }],
  ['auth', { api_key: null }],
  ['upstreams', { main: { base_url: 'https://thief.example' } }],
  ['upstreams', { main: { base_url: null, profile: 'gemini-api' } }],
  ['upstreams', { main: { oauth: { token_url: 'https://thief.example/token' } } }],
  ['upstreams', { main: { oauth: { revocation_url: 'https://thief.example/revoke' } } }],
  ['upstreams', { main: { oauth: { userinfo_url: 'https://thief.example/me' } } }],
  ['upstreams', { main: { oauth: { authorization_url: 'https://thief.example/auth' } } }],
  ['upstreams', { main: { oauth: { redirect_url: 'https://thief.example/back' } } }],
  ['extprov', { base_url: 'https://thief.example' }],
  ['extprov', { mcp: { web_search_url: 'https://thief.example/mcp' } }],
  ['extprov', { mcp: { web_reader_url: 'https://thief.example/mcp' } }],
];

test.each(TAKEOVERS)(
  'a session alone does not change %s by %j, the password with it does',
  async (section, patch) => {
    const path = `/api/config/${section}`;
    const asked = await browse('PATCH', path, patch);
    expect([asked.status, asked.body.error]).toEqual([400, expect.objectContaining(ASKED)]);
    const wrong = await browse('PATCH', path, patch, 'guessed');
    expect([wrong.status, wrong.body.error]).toEqual([
      403,
      expect.objectContaining({ field: 'password' }),
    ]);
    expect(admin.fakes.config).toEqual(FILE);
    expect((await browse('PATCH', path, patch, PASSWORD)).status).toBe(200);
    expect(admin.fakes.config).not.toEqual(FILE);
  },
);

test('whether a key is the one there is, is told to nobody without the password', async () => {
  for (const key of [FILE.api_key, 'sk-guessed']) {
    const { status, body } = await browse('PATCH', '/api/config/auth', { api_key: key });
    expect([status, body.error]).toEqual([400, expect.objectContaining(ASKED)]);
  }
});

test('who shows the password with the request is not asked again, whatever cookie comes along', async () => {
  for (const [section, body] of TAKEOVERS) {
    admin.fakes.config = structuredClone(FILE);
    const { status } = await admin.call('PATCH', `/api/config/${section}`, {
      body,
      headers: { cookie },
    });
    expect([section, body, status]).toEqual([section, body, 200]);
  }
});

test('what hands nothing over needs no password again', async () => {
  for (const [section, patch] of [
    ['auth', { auth_mode: 'strict' }],
    ['auth', { auth_mode: 'off' }],
    ['auth', { api_key: { isSet: true } }],
    ['network', { port: 9001 }],
    ['upstreams', { main: { base_url: 'https://upstream.example', vocabulary: 'real' } }],
    ['upstreams', { fresh: { profile: 'generic', base_url: 'https://new.example' } }],
    ['extprov', { dispatch_mode: 'fallback' }],
    ['extprov', { api_key: null }],
    ['extprov', { base_url: 'https://new.example' }],
  ] as const) {
    const { status } = await browse('PATCH', `/api/config/${section}`, patch);
    expect([section, patch, status]).toEqual([section, patch, 200]);
  }
});

test('guesses at the password that is asked for again are counted as all others', async () => {
  const [, patch] = TAKEOVERS[0] ?? [];
  const guess = (text: string) => browse('PATCH', '/api/config/auth', patch ?? {}, text);
  for (let turn = 0; turn < 5; turn += 1) await guess(`guess ${turn}`);
  expect((await guess(PASSWORD)).status).toBe(429);
  expect(admin.fakes.config).toEqual(FILE);
});

test('a password outside ASCII can be shown again', async () => {
  const wrong = await browse('PATCH', '/api/config/auth', { api_key: null }, 'пароль 密码 %');
  expect(wrong.status).toBe(403);
  const broken = await admin.call('PATCH', '/api/config/auth', {
    body: { api_key: null },
    headers: { authorization: '', cookie, 'x-isthmus-console': '1', 'x-isthmus-password': '%' },
  });
  expect(broken.status).toBe(403);
});

test('the removal of an upstream is taken back as it was, with what nobody here knows', async () => {
  await addTo(admin);
  const path = '/api/config/upstreams';
  expect((await browse('PATCH', path, { main: null })).status).toBe(200);
  expect((await browse('PATCH', path, { main: FILE.upstreams.main })).status).toBe(200);
  expect(admin.fakes.config).toEqual(FILE);
});

test('an upstream that was removed does not come back with another address for its accounts', async () => {
  await addTo(admin);
  const path = '/api/config/upstreams';
  const entry = { ...FILE.upstreams.main, base_url: 'https://thief.example' };
  expect((await browse('PATCH', path, { main: null })).status).toBe(200);
  expect((await browse('PATCH', path, { main: entry })).body.error).toMatchObject(ASKED);
  expect((await browse('PATCH', path, { main: entry }, PASSWORD)).status).toBe(200);
});

test('accounts whose upstream nobody remembers get one by the password alone', async () => {
  await addTo(admin);
  admin.fakes.config = {};
  const path = '/api/config/upstreams';
  expect((await browse('PATCH', path, FILE.upstreams)).status).toBe(400);
  const plain = { main: { profile: 'generic', base_url: 'https://upstream.example' } };
  expect((await browse('PATCH', path, plain)).body.error).toMatchObject(ASKED);
  expect((await browse('PATCH', path, plain, PASSWORD)).status).toBe(200);
});

test('an account is sent through another proxy by the password alone', async () => {
  const { record } = await addTo(admin, { proxyUrl: 'http://proxy.example:3128' });
  const path = `/api/accounts/${record.id}`;
  const proxyUrl = 'http://thief.example:3128';
  expect((await browse('PATCH', path, { proxyUrl })).body.error).toMatchObject(ASKED);
  expect((await browse('PATCH', path, { notes: 'mine', proxyUrl: null })).status).toBe(200);
  expect((await browse('PATCH', path, { proxyUrl }, PASSWORD)).status).toBe(200);
  expect(admin.options.book.proxyUrl(record.id)).toBe(proxyUrl);
});

test('while no password is set, nothing asks for one', async () => {
  await admin.close();
  admin = await startAdmin({ settings: { consolePassword: undefined } });
  admin.fakes.config = structuredClone(FILE);
  for (const [section, body] of TAKEOVERS) {
    admin.fakes.config = structuredClone(FILE);
    const answer = await admin.call('PATCH', `/api/config/${section}`, {
      body,
      headers: { authorization: '' },
    });
    expect([section, body, answer.status]).toEqual([section, body, 200]);
  }
});
