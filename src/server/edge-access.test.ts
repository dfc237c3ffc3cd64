import { afterEach, expect, test } from 'vitest';
import { dailyBudget } from '../../test/support/budgets.ts';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { loadMemoryAccess } from '../../test/support/memory-access-stores.ts';
import type { AccessControl } from '../access/access.ts';
import { createProtocols } from '../protocols/index.ts';
import { createConsoleFiles } from './console.ts';
import { sendRaw } from './raw-socket.test-support.ts';
import { createRouteTable } from './routes.ts';
import { DEFAULT_EDGE_SETTINGS, type EdgeSettings } from './settings.ts';
import { type Generate, startEdge, type TestEdge } from './start-edge.test-support.ts';

type KeyInput = Parameters<AccessControl['keys']['create']>[0];

const API_KEY = 'sk-the-one-api-key';

const running: TestEdge[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ server }) => server.close()));
});

interface Guarded {
  readonly edge: TestEdge;
  readonly access: AccessControl;
  set(change: Partial<EdgeSettings>): void;
  addKey(limits?: Partial<KeyInput>): Promise<{ readonly id: string; readonly secret: string }>;
  call(
    path: string,
    options?: CallOptions,
  ): Promise<{ status: number; body: unknown; headers: Headers }>;
}

interface CallOptions {
  readonly method?: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

async function startGuarded(
  change: Partial<EdgeSettings> = {},
  generate?: Generate,
): Promise<Guarded> {
  let settings: EdgeSettings = {
    ...DEFAULT_EDGE_SETTINGS,
    port: 0,
    authMode: 'strict',
    apiKeys: [{ id: 'api-key', key: API_KEY }],
    ...change,
  };
  const clock = createFakeClock(Date.UTC(2026, 0, 15, 12));
  const access = await loadMemoryAccess({ settings: () => settings, clock });
  const consoleFiles = createConsoleFiles({ distPath: '/nowhere-at-all' });
  const edge = await startEdge({ access, consoleFiles, settings, ...(generate && { generate }) });
  running.push(edge);
  return {
    edge,
    access,
    set(next) {
      settings = { ...settings, ...next };
      edge.set(next);
    },
    async addKey(limits = {}) {
      const { listed, secret } = await access.keys.create({ name: 'Ada', ...limits });
      return { id: listed.key.id, secret };
    },
    async call(path, { method = 'GET', body, headers = {} } = {}) {
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      const response = await fetch(`${edge.url}${path}`, {
        method: body === undefined ? method : 'POST',
        headers: { ...type, ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.startsWith('application/json');
      return {
        status: response.status,
        headers: response.headers,
        body: isJson ? JSON.parse(text) : text,
      };
    },
  };
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `guess ${index}`);
const CHAT = '/v1/chat/completions';
const ASK = { model: 'alpha-3-flash' };

test('in strict mode every route but the public ones refuses a missing and a wrong key', async () => {
  const { edge, call } = await startGuarded();
  const open: string[] = [];
  for (const { method, path: pattern } of edge.server.routes.routes) {
    const path = pattern.replace(/\{\w+\}/, 'x');
    const body = method === 'POST' ? ASK : undefined;
    for (const headers of [
      {},
      bearer('wrong'),
      { 'x-api-key': 'wrong' },
      { cookie: 'isthmus_session=x' },
    ]) {
      const { status } = await call(path, { method, ...(body && { body }), headers });
      if (status !== 401) open.push(`${method} ${path} ${status}`);
    }
  }
  expect([...new Set(open)]).toEqual([
    'GET /health 200',
    'GET /healthz 200',
    'GET /livez 200',
    'GET /readyz 200',
  ]);
  expect((await call('/')).status).toBe(200);
});

test('whoever guesses at the key is told to wait, in the shape of the protocol, and no honest client with them', async () => {
  const { call, access, addKey } = await startGuarded();
  const ask = (key: string, path = CHAT) => call(path, { body: ASK, headers: bearer(key) });
  expect((await ask(API_KEY)).status).toBe(200);
  for (let index = 0; index < 20; index += 1) {
    expect((await ask(`guess ${index}`)).status).toBe(401);
  }
  for (const [path, protocol] of [
    [CHAT, 'chat'],
    ['/v1/messages', 'messages'],
    ['/v1beta/models/alpha-3-flash:generateContent', 'generate'],
  ] as const) {
    const { status, body, headers } = await ask('one more', path);
    expect([status, body]).toEqual([
      429,
      expect.objectContaining({ protocol, kind: 'rate-limited' }),
    ]);
    expect(headers.get('retry-after')).toBe('3600');
    expect(headers.get('x-should-retry')).toBe('false');
  }
  expect((await ask(API_KEY)).status).toBe(200);
  const { secret } = await addKey();
  expect((await ask(secret)).status).toBe(200);
  expect((await access.accessLog.list({ limit: 1 }))[0]).toMatchObject({ verdict: 'throttled' });
});

test('who needs no key is never limited, whoever guesses beside', async () => {
  const { call, set } = await startGuarded({ authMode: 'auto' });
  for (let index = 0; index < 21; index += 1) {
    await call(CHAT, { body: ASK, headers: bearer(`guess ${index}`) });
  }
  expect((await call(CHAT, { body: ASK, headers: bearer(API_KEY) })).status).toBe(429);
  expect((await call(CHAT, { body: ASK })).status).toBe(200);
  set({ authMode: 'off' });
  expect((await call(CHAT, { body: ASK, headers: bearer('any') })).status).toBe(200);
  set({ authMode: 'auto', apiKeys: [] });
  expect((await call(CHAT, { body: ASK, headers: bearer('dummy') })).status).toBe(200);
});

test('wrong keys of web pages from elsewhere keep no program of their address out', async () => {
  const { call } = await startGuarded();
  const page = { 'sec-fetch-site': 'cross-site' };
  const ask = async (key: string, headers = {}) =>
    (await call(`/v1/models?key=${key}`, { headers })).status;
  for (const guess of numbered(20)) expect(await ask(guess, page)).toBe(401);
  expect(await ask(API_KEY, page)).toBe(429);
  expect(await ask(API_KEY)).toBe(200);
});

test('nobody learns without an end, by a key beside it or in the mode off, whether a guess is right', async () => {
  const { call, set, addKey } = await startGuarded();
  const { id, secret } = await addKey();
  const clientWith = async (headers: Record<string, string>) =>
    (await call(CHAT, { body: ASK, headers })).body;
  for (const guess of [...numbered(30), API_KEY]) {
    const headers = { ...bearer(guess), 'x-api-key': secret };
    expect(await clientWith(headers)).toMatchObject({ client: id });
  }
  set({ authMode: 'off' });
  expect(await clientWith(bearer(API_KEY))).toMatchObject({ client: 'api-key' });
});

test('in the mode off too many guesses make keys that were never right count for nothing', async () => {
  const { call, set } = await startGuarded({ authMode: 'off' });
  const ask = (key: string) => call(CHAT, { body: ASK, headers: bearer(key) });
  for (const guess of numbered(30)) expect((await ask(guess)).status).toBe(200);
  expect((await ask(API_KEY)).body).toMatchObject({ client: 'open' });
  set({ apiKeys: [] });
  expect((await ask('any')).status).toBe(200);
});

test('every route of the real protocols asks for a key', () => {
  const { routes } = createRouteTable(createProtocols().all);
  const open = routes.filter(({ access }) => access === 'public').map(({ path }) => path);
  expect(open).toEqual(HEALTH_PATHS);
  expect(routes.length).toBeGreaterThan(15);
});

test('a key of a person opens the models and names its requests', async () => {
  const { call, addKey } = await startGuarded();
  const { id, secret } = await addKey();
  for (const headers of [bearer(secret), { 'x-api-key': secret }, { 'x-goog-api-key': secret }]) {
    const { status, body } = await call(CHAT, { body: ASK, headers });
    expect([status, body]).toEqual([200, { model: ASK.model, protocol: 'chat', client: id }]);
  }
  const misspelt = secret.slice(0, -1) + (secret.endsWith('a') ? 'b' : 'a');
  expect((await call(CHAT, { body: ASK, headers: bearer(misspelt) })).status).toBe(401);
});

test('while there is a key of a person, a local request with a wrong key is refused', async () => {
  const { call, addKey } = await startGuarded({ authMode: 'auto', apiKeys: [] });
  expect((await call(CHAT, { body: ASK, headers: bearer('dummy') })).status).toBe(200);
  await addKey();
  expect((await call(CHAT, { body: ASK, headers: bearer('dummy') })).status).toBe(401);
  expect((await call(CHAT, { body: ASK })).status).toBe(200);
});

test('what a rule of a key refuses is said in the shape of each protocol', async () => {
  const { call, addKey, access } = await startGuarded();
  const { id, secret } = await addKey({ enabled: false });
  for (const [path, protocol] of [
    [CHAT, 'chat'],
    ['/v1/messages', 'messages'],
    ['/v1beta/models/alpha-3-flash:generateContent', 'generate'],
  ] as const) {
    const { status, body } = await call(path, { body: ASK, headers: bearer(secret) });
    expect([status, body]).toEqual([
      403,
      expect.objectContaining({ protocol, kind: 'forbidden', reason: 'key-rejected' }),
    ]);
  }
  const log = await access.accessLog.list({ limit: 9 });
  expect(log).toHaveLength(3);
  for (const entry of log) expect(entry).toMatchObject({ verdict: 'rejected', keyId: id });
});

test('a key sees the models it may use, and no others', async () => {
  const { call, addKey } = await startGuarded();
  const headers = bearer((await addKey({ allowedModels: ['org/*'] })).secret);
  expect((await call('/v1/models', { headers })).body).toMatchObject({ ids: ['org/large'] });
  expect((await call('/v1/models/alpha-3-flash', { headers })).status).toBe(404);
  expect((await call('/v1/models/org/large', { headers })).status).toBe(200);
  const refused = await call(CHAT, { body: ASK, headers });
  expect(refused).toMatchObject({
    status: 403,
    body: { message: expect.stringContaining('alpha-3-flash') },
  });
});

test('limits answer 429 with the wait, and what was used is counted at the end', async () => {
  const generate: Generate = async (_call, { record }) => {
    const usage = {
      promptTokens: 60,
      cachedTokens: 0,
      toolPromptTokens: 0,
      answerTokens: 40,
      thoughtTokens: 0,
    };
    record.answers = [{ usage, imageCount: 0 }];
    return { kind: 'reply', body: {} };
  };
  const { call, addKey, access } = await startGuarded({}, generate);
  const { id, secret } = await addKey({ requestsPerMinute: 3 });
  const { budget } = await access.budgets.create(dailyBudget(id, 'tokens', 200));
  const ask = () => call(CHAT, { body: ASK, headers: bearer(secret) });
  expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
  expect(access.keys.get(id)?.usedToday).toMatchObject({ requests: 2, tokens: 200 });
  const spent = await ask();
  expect([spent.status, spent.headers.get('retry-after')]).toEqual([429, String(12 * 3600)]);
  expect(spent.body).toMatchObject({ kind: 'quota-exhausted' });
  await access.budgets.remove(budget.id);
  await ask();
  const fast = await ask();
  expect([fast.status, fast.headers.get('retry-after')]).toEqual([429, '60']);
  expect(fast.body).toMatchObject({ kind: 'rate-limited' });
});

test('the first budget of all counts what ran when it was made', async () => {
  const made = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const { call, access } = await startGuarded({}, async () => {
    begun.resolve();
    await made.promise;
    return { kind: 'reply', body: {} };
  });
  const running = call(CHAT, { body: ASK, headers: bearer(API_KEY) });
  await begun.promise;
  const ofAll = { scope: 'gateway', subject: undefined } as const;
  await access.budgets.create({ ...dailyBudget('', 'requests', 1), ...ofAll });
  made.resolve();
  expect((await running).status).toBe(200);
  expect((await call(CHAT, { body: ASK, headers: bearer(API_KEY) })).status).toBe(429);
});

test('a call that failed before it began costs the request and no tokens', async () => {
  const { call, addKey, access } = await startGuarded({}, () => Promise.reject(new Error('down')));
  const { id, secret } = await addKey({});
  await access.budgets.create(dailyBudget(id, 'tokens', 600));
  expect((await call(CHAT, { body: ASK, headers: bearer(secret) })).status).toBe(500);
  expect(access.keys.get(id)?.usedToday).toMatchObject({ requests: 1, tokens: 0 });
  expect((await call(CHAT, { body: ASK, headers: bearer(secret) })).status).toBe(500);
});

const HEALTH_PATHS = ['/health', '/healthz', '/livez', '/readyz'];
const DENY = { enabled: true, fallback: 'deny', allowBeatsDeny: false } as const;

test('a blocked address gets JSON on every route but health, before any key is looked at', async () => {
  const { edge, call, access } = await startGuarded({ addressFilter: DENY });
  const paths = edge.server.routes.routes.map(({ path }) => path.replace(/\{\w+\}/, 'x'));
  for (const path of [...paths, '/', '/nothing', '/api/nothing']) {
    const { status, body } = await call(path, { headers: bearer(API_KEY) });
    const isHealth = HEALTH_PATHS.includes(path);
    expect([path, status]).toEqual([path, isHealth ? 200 : 403]);
    if (!isHealth) expect(JSON.stringify(body)).toContain('127.0.0.1');
  }
  expect((await call(CHAT, { method: 'OPTIONS' })).status).toBe(403);
  const log = await access.accessLog.list({ limit: 3 });
  expect(log.map(({ verdict }) => verdict)).toEqual(['blocked', 'blocked', 'blocked']);
  await access.addresses.add({ list: 'allow', range: '127.0.0.0/8' }, '127.0.0.1');
  expect((await call(CHAT, { body: ASK, headers: bearer(API_KEY) })).status).toBe(200);
});

test('a blocked address learns nothing of what else is wrong with its request', async () => {
  const { edge, access } = await startGuarded({ addressFilter: DENY });
  const { port } = new URL(edge.url);
  for (const [target, ...headers] of [
    ['/v1/../api/keys'],
    ['//api/keys'],
    ['/v1/models/%zz'],
    ['/v1/models', 'host: 127.0.0.1'],
    ['/v1/models', 'x-api-key: a', 'x-api-key: b'],
  ]) {
    const lines = [`GET ${target} HTTP/1.1`, 'host: 127.0.0.1', 'connection: close', ...headers];
    const answer = await sendRaw(Number(port), `${lines.join('\r\n')}\r\n\r\n`);
    expect([target, answer.slice(9, 12)]).toEqual([target, '403']);
  }
  const log = await access.accessLog.list({ limit: 10 });
  expect(log.map(({ verdict }) => verdict)).toEqual(Array.from({ length: 5 }, () => 'blocked'));
});

test('an address that only a header names changes nothing, whatever chain it writes', async () => {
  const { call, access, set } = await startGuarded({
    addressFilter: { ...DENY, fallback: 'allow' },
  });
  await access.addresses.add({ list: 'deny', range: '203.0.113.0/24' }, '127.0.0.1');
  const { id } = (await access.keys.create({ name: 'x', maxAddresses: 1 })).listed.key;
  const chains = [
    '203.0.113.9',
    '203.0.113.9, 127.0.0.1',
    '127.0.0.1, 203.0.113.9',
    ', ,203.0.113.1',
    '::ffff:203.0.113.9',
    '203.0.113.9:8080',
  ];
  for (const chain of chains) {
    for (const header of [
      'x-forwarded-for',
      'forwarded',
      'x-real-ip',
      'true-client-ip',
      'cf-connecting-ip',
    ]) {
      const headers = { ...bearer(API_KEY), [header]: chain };
      expect((await call(CHAT, { body: ASK, headers })).status).toBe(200);
    }
  }
  set({ trustedProxies: ['127.0.0.1'] });
  const through = (chain: string) =>
    call(CHAT, { body: ASK, headers: { ...bearer(API_KEY), 'x-forwarded-for': chain } });
  expect((await through('198.51.100.1, 203.0.113.9')).status).toBe(403);
  expect((await through('203.0.113.9, 198.51.100.1')).status).toBe(200);
  expect((await through('203.0.113.9, 127.0.0.1')).status).toBe(403);
  // None of them was counted for the key.
  expect(() => access.keys.enter(id, '192.0.2.77')).not.toThrow();
});

test('guesses behind rotating forwarded addresses fall into one bucket', async () => {
  const admin = await startEdge({
    settings: { consolePassword: 'the-password' },
    adminRoutes: [
      {
        method: 'GET',
        path: '/api/thing',
        access: 'viewer',
        title: 'is there',
        run: async () => ({ kind: 'empty' }),
      },
    ],
  });
  running.push(admin);
  const statuses: number[] = [];
  for (let turn = 0; turn < 8; turn += 1) {
    const headers = { ...bearer(`guess-${turn}`), 'x-forwarded-for': `198.51.100.${turn}` };
    statuses.push((await fetch(`${admin.url}/api/thing`, { headers })).status);
  }
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
});

test('origins of web pages act as they are set, at once', async () => {
  const { call, set } = await startGuarded();
  const headers = { ...bearer(API_KEY), origin: 'https://app.example' };
  const allowed = async () =>
    (await call('/v1/models', { headers })).headers.get('access-control-allow-origin');
  expect(await allowed()).toBeNull();
  set({ corsOrigins: ['https://app.example'] });
  expect(await allowed()).toBe('https://app.example');
  const preflight = await call('/v1/models', {
    method: 'OPTIONS',
    headers: { origin: 'https://app.example', 'access-control-request-method': 'GET' },
  });
  expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS');
  set({ corsOrigins: [] });
  expect(await allowed()).toBeNull();
});
