import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { request } from 'undici';
import { afterEach, expect, test } from 'vitest';
import type { AdminRoute } from './admin-route.ts';
import type { EdgeSettings } from './settings.ts';
import { startEdge, type TestEdge } from './start-edge.test-support.ts';

const running: TestEdge[] = [];
const echo: AdminRoute = {
  method: 'POST',
  path: '/api/echo',
  access: 'viewer',
  title: 'says what it was sent',
  run: async ({ body = {} }) => ({ kind: 'json', status: 200, body: { got: body } }),
};

afterEach(async () => {
  await Promise.all(running.splice(0).map(({ server }) => server.close()));
});

async function statusWith(
  settings: Partial<EdgeSettings>,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const edge = await startEdge({ settings, adminRoutes: [echo] });
  running.push(edge);
  const response = await fetch(`${edge.url}/api/echo`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: '{"a":1}',
  });
  return response.status;
}

const API_KEY = [{ id: 'main', key: 'the-api-key' }];
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

test('while nothing is configured, the admin API takes local requests and no foreign page', async () => {
  expect(await statusWith({})).toBe(200);
  expect(await statusWith({}, { origin: 'http://evil.example' })).toBe(401);
  expect(await statusWith({}, { 'x-forwarded-for': '203.0.113.9' })).toBe(401);
});

test.each(['off', 'auto', 'strict'] as const)(
  'with a console password, mode %s asks for it and refuses the API key (V162, P170)',
  async (authMode) => {
    const settings = { authMode, apiKeys: API_KEY, consolePassword: 'the-password' };
    expect(await statusWith(settings)).toBe(401);
    expect(await statusWith(settings, bearer('the-api-key'))).toBe(401);
    expect(await statusWith(settings, bearer('the-password'))).toBe(200);
  },
);

test('every admin route asks for the console credential', async () => {
  const edge = await startEdge({ adminRoutes: [echo] });
  running.push(edge);
  const admin = edge.server.routes.routes.filter((route) => route.path.startsWith('/api/'));
  expect(admin.map((route) => route.access)).toEqual(['viewer']);
});

test('the limit of model requests does not bind the admin API, where it is changed', async () => {
  const settings = { maxBodyBytes: 1 };
  expect(await statusWith(settings)).toBe(200);
  const edge = await startEdge({ settings, adminRoutes: [echo] });
  running.push(edge);
  const headers = { 'content-type': 'application/json' };
  const body = '{"a":1}';
  const chat = await fetch(`${edge.url}/v1/chat/completions`, { method: 'POST', headers, body });
  expect(chat.status).toBe(413);
});

const routes: readonly AdminRoute[] = (['GET', 'PUT', 'PATCH', 'DELETE'] as const).map(
  (method) => ({
    ...echo,
    method,
    path: '/api/things/{id}',
    run: async ({ parameter, body, ifMatch, isHead }) =>
      method === 'DELETE'
        ? { kind: 'empty' }
        : {
            kind: 'json',
            status: method === 'PUT' ? 201 : 200,
            revision: '7',
            body: { method, parameter, got: body ?? null, ifMatch: ifMatch ?? null, isHead },
          },
  }),
);

const LIST = Array.from({ length: 200 }, (_, id) => ({ id, model: 'alpha-3-flash' }));

test.each([
  ['zstd, br, gzip', 'zstd', zstdDecompressSync],
  ['gzip, deflate, br', 'br', brotliDecompressSync],
  ['br;q=0, gzip', 'gzip', gunzipSync],
] as const)(
  'a list comes compressed to a client that takes %s',
  async (accepted, coding, decode) => {
    const list: AdminRoute = {
      ...echo,
      method: 'GET',
      run: async () => ({ kind: 'json', status: 200, body: { list: LIST } }),
    };
    const edge = await startEdge({ adminRoutes: [list] });
    running.push(edge);
    const { body, headers } = await request(`${edge.url}/api/echo`, {
      headers: { 'accept-encoding': accepted },
    });
    expect(headers['content-encoding']).toBe(coding);
    expect(headers.vary).toBe('accept-encoding');
    const bytes = Buffer.from(await body.arrayBuffer());
    expect(bytes.length).toBeLessThan(2000);
    expect(JSON.parse(decode(bytes).toString())).toEqual({ list: LIST });
  },
);

test('the answer to a change, which alone holds secrets, is never compressed, nor is a short one', async () => {
  const edge = await startEdge({ adminRoutes: [echo, ...routes] });
  running.push(edge);
  const headers = { 'accept-encoding': 'zstd, br, gzip', 'content-type': 'application/json' };
  const body = JSON.stringify({ list: LIST });
  const changed = await request(`${edge.url}/api/echo`, { method: 'POST', headers, body });
  expect(changed.headers['content-encoding']).toBeUndefined();
  expect(await changed.body.json()).toEqual({ got: { list: LIST } });
  const short = await request(`${edge.url}/api/things/1`, { headers });
  expect(short.headers['content-encoding']).toBeUndefined();
  await short.body.dump();
});

const page: AdminRoute = {
  method: 'GET',
  path: '/oauth/callback',
  access: 'public',
  title: 'shows a page',
  run: async ({ query }) =>
    query.has('code')
      ? { kind: 'redirect', location: '/oauth/callback' }
      : { kind: 'page', html: '<p>Hi</p>', styleHash: 'abc=' },
};

async function startWith(adminRoutes: readonly AdminRoute[], settings: Partial<EdgeSettings> = {}) {
  const edge = await startEdge({ adminRoutes, settings });
  running.push(edge);
  return (method: string, path: string, init: RequestInit = {}) =>
    fetch(`${edge.url}${path}`, { method, redirect: 'manual', ...init });
}

const JSON_TYPE = { 'content-type': 'application/json' };

test('routes take every method, a parameter with slashes, and answer with status and ETag', async () => {
  const call = await startWith(routes);
  const put = await call('PUT', '/api/things/main/key%201@env', {
    headers: { ...JSON_TYPE, 'if-match': '"6"' },
    body: '{"a":1}',
  });
  expect([put.status, put.headers.get('etag')]).toEqual([201, '"7"']);
  expect(put.headers.get('cache-control')).toBe('no-store');
  expect(await put.json()).toEqual({
    method: 'PUT',
    parameter: 'main/key 1@env',
    got: { a: 1 },
    ifMatch: '"6"',
    isHead: false,
  });
  const gone = await call('DELETE', '/api/things/x');
  expect([gone.status, await gone.text()]).toEqual([204, '']);
  expect(await (await call('PATCH', '/api/things/x')).json()).toMatchObject({ got: null });
  expect((await call('HEAD', '/api/things/x')).status).toBe(200);
});

test('a large answer is whole, and a look at it ends', async () => {
  const text = 'ü'.repeat(100_000);
  const large: AdminRoute = {
    ...echo,
    method: 'GET',
    path: '/api/large',
    run: async () => ({ kind: 'json', status: 200, body: { text } }),
  };
  const call = await startWith([large]);
  expect(await (await call('GET', '/api/large')).json()).toEqual({ text });
  const look = await call('HEAD', '/api/large', { headers: { 'accept-encoding': 'identity' } });
  expect([look.status, await look.text()]).toEqual([200, '']);
  expect(look.headers.get('content-length')).toBe(String(200_000 + '{"text":""}'.length));
});

test('one credential is one try: the right one beside another is none', async () => {
  const settings = { consolePassword: 'the-password' };
  const both = { ...bearer('the-password'), 'x-api-key': 'another' };
  expect(await statusWith(settings, both)).toBe(401);
  expect(await statusWith(settings, { ...both, 'x-api-key': 'the-password' })).toBe(200);
});

test('a method that a path does not take is refused with those it takes', async () => {
  const call = await startWith(routes);
  const allow = 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS';
  const refused = await call('POST', '/api/things/x', { headers: JSON_TYPE, body: '{}' });
  expect([refused.status, refused.headers.get('allow')]).toEqual([405, allow]);
  expect(await refused.json()).toEqual({
    error: {
      code: 'method-not-allowed',
      message: expect.objectContaining({ text: expect.stringContaining(allow) }),
    },
  });
  const options = await call('OPTIONS', '/api/things/x');
  expect([options.status, options.headers.get('allow')]).toEqual([204, allow]);
});

test('a page from our own address may call, one behind a named host too', async () => {
  const settings = { consolePassword: 'the-password', allowedHosts: ['gateway.example'] };
  const call = await startWith(routes, settings);
  const status = async (headers: Readonly<Record<string, string>>) =>
    (await call('GET', '/api/things/x', { headers: { ...bearer('the-password'), ...headers } }))
      .status;
  const own = running.at(-1)?.url ?? '';
  expect(await status({ origin: own, 'sec-fetch-site': 'same-origin' })).toBe(200);
  expect(await status({ origin: 'https://gateway.example' })).toBe(200);
  expect(await status({ origin: 'http://gateway.example:8443' })).toBe(200);
  expect(await status({ origin: 'https://other.example' })).toBe(403);
  expect(await status({ origin: 'https://gateway.example.evil.example' })).toBe(403);
  expect(await status({ origin: own, 'sec-fetch-site': 'cross-site' })).toBe(403);
});

test('who has shown no credential may send a little and no more', async () => {
  const signIn: AdminRoute = { ...echo, path: '/api/session', access: 'public', takesBody: true };
  const call = await startWith([signIn, echo], { consolePassword: 'the-password' });
  const post = (path: string, size: number, headers: Readonly<Record<string, string>> = {}) =>
    call('POST', path, {
      headers: { ...JSON_TYPE, 'x-isthmus-console': '1', ...headers },
      body: JSON.stringify({ password: 'x'.repeat(size) }),
    });
  expect((await post('/api/session', 16_000)).status).toBe(200);
  const refused = await post('/api/session', 20_000);
  expect(refused.status).toBe(413);
  expect(await refused.text()).toContain('the limit of this route');
  expect((await post('/api/echo', 20_000, bearer('the-password'))).status).toBe(200);
});

test('where files of the program are gone, as after an upgrade, the answer says to restart', async () => {
  const missing = './a-file-of-the-version-before.js';
  const lazy: AdminRoute = { ...echo, run: async () => import(missing) };
  const edge = await startEdge({ adminRoutes: [lazy] });
  running.push(edge);
  const response = await fetch(`${edge.url}/api/echo`, { method: 'POST' });
  expect(response.status).toBe(500);
  expect(await response.text()).toMatch(/replaced or removed while it runs.*Restart it/);
});

test('events that nobody reads are given up: of a look, and of a caller who left meanwhile', async () => {
  const waiting = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  let givenUp = 0;
  const frames: AsyncIterableIterator<string> = {
    [Symbol.asyncIterator]: () => frames,
    next: () => new Promise(() => {}),
    async return() {
      givenUp += 1;
      return { done: true, value: undefined };
    },
  };
  const events: AdminRoute = {
    ...echo,
    method: 'GET',
    path: '/api/events',
    async run({ isHead, signal }) {
      if (isHead) return { kind: 'events', frames };
      signal.addEventListener('abort', () => left.resolve(), { once: true });
      waiting.resolve();
      await left.promise;
      return { kind: 'events', frames };
    },
  };
  const call = await startWith([events]);
  const look = await call('HEAD', '/api/events');
  expect([look.status, look.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
  await expect.poll(() => givenUp, { interval: 1 }).toBe(1);
  const leaving = new AbortController();
  const asked = call('GET', '/api/events', { signal: leaving.signal });
  await waiting.promise;
  leaving.abort();
  await expect(asked).rejects.toThrow();
  await expect.poll(() => givenUp, { interval: 1 }).toBe(2);
});

test('a public page needs no credential, takes no body and runs nothing', async () => {
  const call = await startWith([page], { consolePassword: 'the-password', authMode: 'strict' });
  const shown = await call('GET', '/oauth/callback', {
    headers: { origin: 'https://any.example' },
  });
  expect(shown.status).toBe(200);
  expect(shown.headers.get('content-security-policy')).toContain("style-src 'sha256-abc='");
  expect(shown.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const moved = await call('GET', '/oauth/callback?code=1');
  expect([moved.status, moved.headers.get('location')]).toEqual([303, '/oauth/callback']);
  expect((await call('POST', '/oauth/callback')).status).toBe(405);
});
