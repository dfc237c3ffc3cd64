import { afterEach, beforeEach, expect, test } from 'vitest';
import { startEdge, type TestEdge } from '../../server/start-edge.test-support.ts';
import { type Answer, PASSWORD, startAdmin, type TestAdmin } from '../admin.test-support.ts';

const API_KEY = 'sk-the-one-api-key';

let admin: TestAdmin;

beforeEach(async () => {
  admin = await startAdmin({
    settings: { authMode: 'strict', apiKeys: [{ id: 'api-key', key: API_KEY }] },
  });
});
afterEach(() => admin.close());

const CONSOLE = { 'x-isthmus-console': '1', 'sec-fetch-site': 'same-origin' } as const;

/** As a browser calls: without the password, with whatever cookie it has. */
const browse: TestAdmin['call'] = (method, path, { body, headers } = {}) =>
  admin.call(method, path, { body, headers: { authorization: '', ...headers } });

async function signIn(): Promise<string> {
  const { headers, status } = await browse('POST', '/api/session', {
    body: { password: PASSWORD },
    headers: CONSOLE,
  });
  expect(status).toBe(200);
  return headers.get('set-cookie')?.split(';')[0] ?? '';
}

test('a browser signs in with the password, is known by its cookie, and signs out', async () => {
  expect((await browse('GET', '/api/session')).body).toEqual({
    signedIn: false,
    needsPassword: true,
    asksName: false,
  });
  const answer = await browse('POST', '/api/session', {
    body: { password: PASSWORD },
    headers: CONSOLE,
  });
  const set = answer.headers.get('set-cookie') ?? '';
  expect(set).toMatch(
    /^isthmus_session_[0-9a-f]{8}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  const cookie = set.split(';')[0] ?? '';
  const session = await browse('GET', '/api/session', { headers: { cookie } });
  expect(session.body).toEqual({
    signedIn: true,
    needsPassword: true,
    asksName: false,
    role: 'owner',
    expiresAt: answer.body.expiresAt,
  });
  expect((await browse('GET', '/api/keys', { headers: { cookie } })).status).toBe(200);
  const gone = await browse('DELETE', '/api/session', { headers: { cookie, ...CONSOLE } });
  expect([gone.status, gone.headers.get('set-cookie')]).toEqual([
    204,
    expect.stringContaining('Max-Age=0'),
  ]);
  expect((await browse('GET', '/api/keys', { headers: { cookie } })).status).toBe(401);
});

test('on https the cookie belongs to this host alone', async () => {
  await admin.close();
  admin = await startAdmin({ settings: { allowedHosts: ['gateway.example'] } });
  const { headers, status } = await browse('POST', '/api/session', {
    body: { password: PASSWORD },
    headers: { 'x-isthmus-console': '1', origin: 'https://gateway.example' },
  });
  expect(status).toBe(200);
  expect(headers.get('set-cookie')).toMatch(/^__Host-isthmus_session_[0-9a-f]{8}=.*; Secure$/);
});

test('a forwarded scheme counts from a trusted proxy alone, and of several the one it wrote itself', async () => {
  const cookieOf = async (scheme: string) => {
    const { headers } = await browse('POST', '/api/session', {
      body: { password: PASSWORD },
      headers: { 'x-isthmus-console': '1', 'x-forwarded-proto': scheme },
    });
    return headers.get('set-cookie')?.replace(/_[0-9a-f]{8}=.*/, '');
  };
  expect(await cookieOf('https')).toBe('isthmus_session');
  admin.edge.set({ trustedProxies: ['127.0.0.1'] });
  expect(await cookieOf('https')).toBe('__Host-isthmus_session');
  expect(await cookieOf('http, https')).toBe('__Host-isthmus_session');
  expect(await cookieOf('https, http')).toBe('isthmus_session');
});

test('the API key does not open the console when a password is set (V162)', async () => {
  const { status } = await browse('POST', '/api/session', {
    body: { password: API_KEY },
    headers: CONSOLE,
  });
  expect(status).toBe(401);
});

test('signing in takes a page of ours, and ends the session the browser had', async () => {
  const body = { password: PASSWORD };
  for (const headers of [
    {},
    { ...CONSOLE, 'sec-fetch-site': 'cross-site' },
    { ...CONSOLE, origin: 'http://127.0.0.1:1' },
    { ...CONSOLE, origin: 'null' },
  ]) {
    expect((await browse('POST', '/api/session', { body, headers })).status).toBe(403);
  }
  const first = await signIn();
  const again = await browse('POST', '/api/session', {
    body,
    headers: { ...CONSOLE, cookie: first },
  });
  expect(again.headers.get('set-cookie')).not.toContain(first);
  expect((await browse('GET', '/api/keys', { headers: { cookie: first } })).status).toBe(401);
});

test('every change with a cookie needs the header and a page of ours; reading needs no header', async () => {
  const cookie = await signIn();
  const routes = admin.edge.server.routes.routes.filter(
    ({ kind, access }) => kind === 'admin' && access !== 'public',
  );
  expect(routes.length).toBeGreaterThan(40);
  for (const { method, path: pattern } of routes) {
    const path = pattern.replace(/\{\w+\}/, 'x');
    const body = method === 'GET' || method === 'DELETE' ? undefined : {};
    const status = async (headers: Readonly<Record<string, string>>) =>
      (await browse(method, path, { ...(body && { body }), headers: { cookie, ...headers } }))
        .status;
    const foreign = { ...CONSOLE, 'sec-fetch-site': 'cross-site' };
    const otherPort = { ...CONSOLE, 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' };
    expect([path, await status(foreign), await status(otherPort)]).toEqual([path, 403, 403]);
    if (method !== 'GET') expect([path, await status({})]).toEqual([path, 403]);
    // Asked the wrong way round, a change is no page to be read.
    const { routes: all } = admin.edge.server.routes;
    const reads = all.some((one) => one.path === pattern && one.method === 'GET');
    if (!reads) expect((await browse('GET', path, { headers: { cookie } })).status).not.toBe(200);
  }
});

test('two cookies of the name are none: one of them is somebody else’s', async () => {
  const cookie = await signIn();
  const headers = { cookie: `${cookie}; ${cookie.split('=')[0]}=${'a'.repeat(43)}` };
  expect((await browse('GET', '/api/keys', { headers })).status).toBe(401);
});

test('a browser is signed in to two gateways of one host name, and signs out of one of them', async () => {
  const other = await startAdmin();
  try {
    // A browser sends all cookies of a name to every port of it; one of the same name replaces the other.
    const jar = new Map<string, string>();
    const visit = async (url: string, method: string, path: string, body?: object) => {
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
      const answer = await fetch(url + path, {
        method,
        headers: { ...CONSOLE, ...type, ...(cookie === '' ? {} : { cookie }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(answer.headers.get('set-cookie') ?? '') ?? [];
      if (name !== undefined && value !== undefined) jar.set(name, value);
      return answer.status;
    };
    const urls = [admin.edge.url, other.edge.url];
    for (const url of urls) await visit(url, 'POST', '/api/session', { password: PASSWORD });
    const statuses = () => Promise.all(urls.map((url) => visit(url, 'GET', '/api/keys')));
    expect(await statuses()).toEqual([200, 200]);
    expect(await visit(other.edge.url, 'DELETE', '/api/session')).toBe(204);
    expect(await statuses()).toEqual([200, 401]);
  } finally {
    await other.close();
  }
});

test('the link of the start signs in once, from this machine, and not what only looks', async () => {
  const { access } = admin.options;
  const path = `/sign-in?token=${access?.login.createLink()}`;
  expect((await browse('HEAD', path)).status).toBe(200);
  const looks: readonly Readonly<Record<string, string>>[] = [
    { 'sec-purpose': 'prefetch;prerender' },
    { purpose: 'prefetch' },
    { 'x-forwarded-for': '203.0.113.9' },
  ];
  for (const headers of looks) {
    const looked = await browse('GET', path, { headers });
    expect([looked.status, looked.headers.get('set-cookie')]).toEqual([200, null]);
  }
  const twice = await browse('GET', `${path}&token=another`);
  expect(twice.headers.get('set-cookie')).toBeNull();
  const taken = await browse('GET', path);
  expect([taken.status, taken.headers.get('location')]).toEqual([303, '/']);
  expect(taken.headers.get('referrer-policy')).toBe('no-referrer');
  const cookie = taken.headers.get('set-cookie')?.split(';')[0] ?? '';
  expect((await browse('GET', '/api/keys', { headers: { cookie } })).status).toBe(200);
  expect((await browse('GET', path)).status).toBe(200);
  expect(JSON.stringify(admin.edge.lines)).not.toContain(path.slice(-20));
});

async function createKey(limits: object = {}): Promise<Answer> {
  return admin.call('POST', '/api/keys', { body: { name: 'Ada', ...limits } });
}

test('a key is made, shown once, changed by revision and removed', async () => {
  const made = await createKey({
    tokensPerMinute: 5,
    curfew: { from: '23:00', to: '06:00', timeZone: 'UTC' },
  });
  expect([made.status, made.headers.get('etag')]).toEqual([201, '"1"']);
  const { key, secret } = made.body as unknown as { key: { id: string }; secret: string };
  const list = await admin.call('GET', '/api/keys');
  expect(list.text).not.toContain(secret);
  expect(list.body.keys).toEqual([key]);
  const path = `/api/keys/${key.id}`;
  const changed = await admin.call('PATCH', path, {
    body: { curfew: null },
    headers: { 'if-match': '"1"' },
  });
  expect(changed.body).toMatchObject({ revision: 2, tokensPerMinute: 5 });
  expect(changed.body.curfew).toBeUndefined();
  const late = await admin.call('PATCH', path, {
    body: { name: 'x' },
    headers: { 'if-match': '"1"' },
  });
  expect(late.status).toBe(412);
  expect((await admin.call('DELETE', path)).status).toBe(204);
  expect((await admin.call('GET', path)).status).toBe(404);
});

test('a bad curfew, name or limit is refused by its field', async () => {
  const curfew = { from: '23:00', to: '06:00', timeZone: 'Mars' };
  for (const [body, field] of [
    [{ curfew }, 'curfew'],
    [{ name: '' }, 'name'],
    [{ name: '   ' }, 'name'],
    [{ tokensPerMinute: -1 }, 'tokensPerMinute'],
    [{ requestsPerMinute: 1.5 }, 'requestsPerMinute'],
    [{ secret: 'sk-mine' }, 'secret'],
  ] as const) {
    const { status, body: answer } = await createKey(body);
    expect([status, answer.error]).toEqual([400, expect.objectContaining({ field })]);
  }
});

test('address rules are added, checked, changed and removed, but never against their author', async () => {
  const added = await admin.call('POST', '/api/address-rules', {
    body: { list: 'deny', range: '192.0.2.0/24', note: 'lab' },
  });
  expect(added).toMatchObject({ status: 201, body: { range: '192.0.2.0/24', hits: 0 } });
  const check = (address: string) =>
    admin.call('POST', '/api/address-rules/check', { body: { address } });
  expect((await check('::ffff:192.0.2.9')).body).toEqual({ verdict: 'denied', rule: added.body });
  expect((await check('192.0.3.9')).body).toEqual({ verdict: 'allowed' });
  expect((await check('nowhere')).status).toBe(400);
  const path = `/api/address-rules/${added.body.id}`;
  const changed = await admin.call('PATCH', path, { body: { note: 'old', expiresAt: 1 } });
  expect(changed.body).toMatchObject({ note: 'old', expiresAt: 1 });
  const strict = { enabled: true, default: 'deny' };
  const shut = await admin.call('PATCH', '/api/config/ip_filter', { body: strict });
  expect(shut).toMatchObject({
    status: 400,
    body: { error: { message: { text: expect.stringContaining('127.0.0.1') } } },
  });
  const mine = { list: 'allow', range: '127.0.0.1', expiresAt: admin.options.clock.now() + 3_000 };
  const { body: own } = await admin.call('POST', '/api/address-rules', { body: mine });
  expect((await admin.call('PATCH', '/api/config/ip_filter', { body: strict })).status).toBe(400);
  await admin.call('PATCH', `/api/address-rules/${own.id}`, { body: { expiresAt: null } });
  expect((await admin.call('PATCH', '/api/config/ip_filter', { body: strict })).status).toBe(200);
  expect((await admin.call('DELETE', path)).status).toBe(204);
  expect((await admin.call('GET', '/api/address-rules')).body.rules).toHaveLength(1);
});

test('a rule that somebody else changed meanwhile is changed against its new revision only', async () => {
  const made = await admin.call('POST', '/api/address-rules', {
    body: { list: 'deny', range: '192.0.2.0/24' },
  });
  expect([made.headers.get('etag'), made.body.revision]).toEqual(['"1"', 1]);
  const change = (note: string, revision: string) =>
    admin.call('PATCH', `/api/address-rules/${made.body.id}`, {
      body: { note },
      headers: { 'if-match': revision },
    });
  const changed = await change('lab', '"1"');
  expect([changed.status, changed.headers.get('etag'), changed.body.revision]).toEqual([
    ...[200, '"2"', 2],
  ]);
  const late = await change('late', '"1"');
  expect([late.status, late.body.error]).toEqual([
    412,
    expect.objectContaining({ code: 'stale-revision' }),
  ]);
  expect((await change('no number', '"x"')).status).toBe(400);
  expect((await change('read again', '"2"')).body).toMatchObject({ revision: 3 });
});

test('who is turned away stands in the access log, page by page', async () => {
  const headers = { authorization: 'Bearer sk-wrong-canary', 'content-type': 'application/json' };
  for (const path of ['/v1/models', '/v1/chat/completions', '/api/keys'])
    await fetch(`${admin.edge.url}${path}`, { headers });
  await fetch(`${admin.edge.url}/v1/chat/completions`, { method: 'POST', headers, body: '{}' });
  await signIn();
  const first = await admin.call('GET', '/api/access-log?limit=2');
  const second = await admin.call('GET', `/api/access-log?limit=9&cursor=${first.body.nextCursor}`);
  const entries = [first, second].flatMap(({ body }) =>
    Array.isArray(body.entries) ? body.entries : [],
  );
  expect(entries).toMatchObject([
    { verdict: 'signed-in', path: '/api/session', address: '127.0.0.1' },
    { verdict: 'unauthenticated', method: 'POST', path: '/v1/chat/completions' },
    { verdict: 'unauthenticated', path: '/api/keys' },
    { verdict: 'unauthenticated', path: '/v1/models' },
  ]);
  expect(JSON.stringify(entries)).not.toContain('canary');
  const some = await admin.call('GET', '/api/access-log?verdict=signed-in');
  expect(some.body.entries).toHaveLength(1);
});

test('without any password a page of this machine is let in and told so', async () => {
  const open: TestEdge = await startEdge({ adminRoutes: admin.routes });
  const answer = await fetch(`${open.url}/api/keys`);
  expect(answer.status).toBe(200);
  await open.server.close();
});
