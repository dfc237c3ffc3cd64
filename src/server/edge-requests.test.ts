import { networkInterfaces } from 'node:os';
import { afterEach, expect, test } from 'vitest';
import { GatewayError, type GatewayErrorOptions } from '../canonical/error.ts';
import type { CallContext } from '../dispatch/dispatcher.ts';
import { startEdge, type TestEdge, type TestEdgeOptions } from './start-edge.test-support.ts';

const KEY = [{ id: 'main', key: 'right-key' }];
const running: TestEdge[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map(({ server }) => server.close()));
});

async function start(options?: TestEdgeOptions): Promise<TestEdge> {
  const edge = await startEdge(options);
  running.push(edge);
  return edge;
}

function jsonPost(body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: text,
  };
}

function failing(options: Omit<GatewayErrorOptions, 'message' | 'source'>): TestEdgeOptions {
  return {
    generate: async () => {
      throw new GatewayError({ source: 'gateway', message: 'Told to fail.', ...options });
    },
  };
}

test('health answers without a key, also to HEAD', async () => {
  const { url } = await start({ settings: { authMode: 'strict', apiKeys: KEY } });
  for (const path of ['/health', '/healthz', '/health/']) {
    const response = await fetch(url + path);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'ok', version: '9.9.9' });
  }
  const head = await fetch(`${url}/health`, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect(head.headers.get('content-length')).toBe('33');
});

test('while the gateway starts it is alive, and wants no requests yet', async () => {
  const { url, server } = await start({ isStarting: true });
  const statuses = async () => {
    const answers = ['/livez', '/readyz', '/health'].map((path) => fetch(url + path));
    return (await Promise.all(answers)).map(({ status }) => status);
  };
  expect(await statuses()).toEqual([200, 503, 200]);
  const refused = await fetch(`${url}/readyz`);
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(await refused.json()).toEqual({ status: 'starting', version: '9.9.9' });
  server.serve();
  expect(await statuses()).toEqual([200, 200, 200]);
});

test('the reachability probe HEAD /api/hello gets its 404 at once', async () => {
  const { url } = await start({ settings: { authMode: 'strict', apiKeys: KEY } });
  expect((await fetch(`${url}/api/hello`, { method: 'HEAD' })).status).toBe(404);
});

test('every answer carries both request ids; a sane one from the client is kept', async () => {
  const { url } = await start();
  const ids = async (given?: string): Promise<readonly (string | null)[]> => {
    const headers: Record<string, string> = given === undefined ? {} : { 'x-request-id': given };
    const response = await fetch(`${url}/v1/models`, { headers });
    return [response.headers.get('x-request-id'), response.headers.get('request-id')];
  };
  expect(await ids('my-id.1:a_b')).toEqual(['my-id.1:a_b', 'my-id.1:a_b']);
  const [own, same] = await ids();
  expect(own).toMatch(/^req_[\w-]{24}$/);
  expect(same).toBe(own);
  expect((await ids('has space'))[0]).toMatch(/^req_/);
  expect((await ids('x'.repeat(129)))[0]).toMatch(/^req_/);
});

test('V161: wrong and missing keys get 401 in the shape of the path', async () => {
  const { url } = await start({ settings: { authMode: 'strict', apiKeys: KEY } });
  for (const [path, protocol] of [
    ['/v1/chat/completions', 'chat'],
    ['/v1/messages', 'messages'],
    ['/v1beta/models/m:generateContent', 'generate'],
  ] as const) {
    for (const headers of [{}, { authorization: 'Bearer wrong-key' }]) {
      const response = await fetch(url + path, jsonPost({ model: 'm' }, headers));
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toContain('Bearer');
      expect(response.headers.get('x-should-retry')).toBe('false');
      const requestId = response.headers.get('x-request-id');
      expect(await response.json()).toMatchObject({ protocol, kind: 'unauthenticated', requestId });
    }
    const { status } = await fetch(`${url}${path}?key=right-key`, jsonPost({ model: 'm' }));
    expect(status).toBe(200);
  }
});

test('every protocol route asks for authentication (P179, S10)', async () => {
  const edge = await start({ settings: { authMode: 'strict', apiKeys: KEY } });
  for (const route of edge.server.routes.routes) {
    const path = route.path.replace('{model}', 'm');
    const { status } = await fetch(edge.url + path, { method: route.method });
    expect(`${route.path} ${status}`).toBe(
      `${route.path} ${route.access === 'public' ? 200 : 401}`,
    );
  }
});

test('the keyless local client is known as local, a key by its id', async () => {
  const { url } = await start({ settings: { apiKeys: KEY } });
  const client = async (headers?: Record<string, string>): Promise<unknown> =>
    (await fetch(`${url}/v1/messages`, jsonPost({ model: 'm' }, headers))).json();
  expect(await client()).toMatchObject({ client: 'local' });
  expect(await client({ 'x-api-key': 'right-key' })).toMatchObject({ client: 'main' });
  expect(await client({ 'x-api-key': 'wrong-key' })).toMatchObject({ kind: 'unauthenticated' });
  expect(await client({ 'x-forwarded-for': '127.0.0.1' })).toMatchObject({
    kind: 'unauthenticated',
  });
  expect(await client({ origin: 'https://evil.example' })).toMatchObject({
    kind: 'unauthenticated',
  });
});

test('settings are live: a new key counts from the next request on', async () => {
  const edge = await start();
  const ask = async (): Promise<number> =>
    (await fetch(`${edge.url}/v1/models`, { headers: { 'x-api-key': 'right-key' } })).status;
  edge.set({ authMode: 'strict' });
  expect(await ask()).toBe(401);
  edge.set({ apiKeys: KEY });
  expect(await ask()).toBe(200);
});

test('what a console looks at is logged for debugging, what fails or asks a model for everybody', async () => {
  const edge = await start();
  const levelOf = async (path: string, init?: RequestInit) => {
    const ended = edge.nextEnd();
    await (await fetch(`${edge.url}${path}`, init)).arrayBuffer();
    return (await ended).level;
  };
  expect(await levelOf('/health')).toBe('debug');
  expect(await levelOf('/nothing')).toBe('info');
  expect(await levelOf('/v1/models')).toBe('info');
  expect(await levelOf('/v1/messages', jsonPost({ model: 'm' }))).toBe('info');
});

test('where no account could serve, the log says why, of ten at most', async () => {
  const passedOver = Array.from({ length: 12 }, (_, index) => ({
    accountId: `a${index}`,
    verdict: 'disabled',
  }));
  const edge = await start({
    generate: async (_call, { record }) => {
      record.passedOver = passedOver;
      throw new GatewayError({ kind: 'upstream-auth', source: 'gateway', message: 'None left.' });
    },
  });
  const ended = edge.nextEnd();
  await (await fetch(`${edge.url}/v1/messages`, jsonPost({ model: 'm' }))).arrayBuffer();
  expect((await ended).fields).toMatchObject({
    error: 'upstream-auth',
    passedOver: passedOver.slice(0, 10),
  });
});

test('keys never reach the log', async () => {
  const edge = await start({ settings: { authMode: 'strict', apiKeys: KEY } });
  await fetch(`${edge.url}/v1/models?key=right-key`, { headers: { 'x-api-key': 'sk-other' } });
  await fetch(`${edge.url}/nowhere?key=wrong-key`);
  expect(edge.lines).toHaveLength(2);
  expect(JSON.stringify(edge.lines)).not.toMatch(/right-key|sk-other|wrong-key/);
  expect(edge.lines[0]?.fields).toMatchObject({ path: '/v1/models', clientKeyId: 'main' });
});

test('shared list paths are answered by the protocol the headers show', async () => {
  const { url } = await start();
  const protocolOf = async (path: string, headers: Record<string, string> = {}): Promise<unknown> =>
    (await fetch(url + path, { headers })).json();
  expect(await protocolOf('/v1/models')).toMatchObject({ protocol: 'chat' });
  expect(await protocolOf('/v1/models', { 'anthropic-version': 'x' })).toMatchObject({
    protocol: 'messages',
  });
  expect(await protocolOf('/v1/models/alpha-3-flash', { 'x-goog-api-key': 'k' })).toEqual({
    protocol: 'generate',
    id: 'alpha-3-flash',
  });
  expect(await protocolOf('/v1/models/claude')).toMatchObject({ protocol: 'messages' });
  expect(await protocolOf('/v1beta/models/models/org/large')).toMatchObject({ id: 'org/large' });
  expect(await protocolOf('/v1/models/none', { 'anthropic-version': 'x' })).toMatchObject({
    protocol: 'messages',
    reason: 'model-not-found',
  });
});

test('V114, V115: the model of the path arrives decoded, with the colon encoded or not', async () => {
  const { url } = await start();
  const ask = async (path: string): Promise<unknown> =>
    (await fetch(url + path, jsonPost({ contents: [] }))).json();
  expect(await ask('/v1/models/m:generateContent')).toMatchObject({ model: 'm' });
  expect(await ask('/v1beta/models/org/m%3AgenerateContent')).toMatchObject({ model: 'org/m' });
  expect(await ask('/v1beta/models/m:countTokens')).toEqual({ totalTokens: 42 });
  expect(await ask('/v1beta/models/m/countTokens')).toEqual({ totalTokens: 42 });
});

test('wrong methods get 405 with Allow, unknown paths 404, each in the shape of the path', async () => {
  const { url } = await start();
  const wrong = await fetch(`${url}/v1/messages`);
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  expect(await wrong.json()).toMatchObject({ protocol: 'messages', kind: 'method-not-allowed' });
  const doubled = await fetch(`${url}/v1/v1/chat/completions`, jsonPost({}));
  expect(doubled.status).toBe(404);
  expect(await doubled.json()).toMatchObject({
    message: expect.stringContaining('The right path is /v1/chat/completions'),
  });
  const unknown = await fetch(`${url}/v1beta/files`);
  expect(await unknown.json()).toMatchObject({ protocol: 'generate', kind: 'not-found' });
  expect((await fetch(`${url}/v1/models`, { method: 'PROPFIND' })).status).toBe(405);
});

test('V161: OPTIONS is answered 204 without cross-origin headers', async () => {
  const { url } = await start({ settings: { authMode: 'strict' } });
  const headers = { origin: 'https://a.example', 'access-control-request-method': 'POST' };
  const response = await fetch(`${url}/v1/messages`, { method: 'OPTIONS', headers });
  expect(response.status).toBe(204);
  const names = [...response.headers.keys()];
  expect(names.filter((name) => name.startsWith('access-control'))).toEqual([]);
});

test('configured origins, and only they, get cross-origin headers, on errors too', async () => {
  const corsOrigins = ['https://chat.example', '*'];
  const { url } = await start({ settings: { authMode: 'strict', apiKeys: KEY, corsOrigins } });
  const preflight = await fetch(`${url}/v1/messages`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://chat.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,x-stainless-os',
      'access-control-request-private-network': 'true',
    },
  });
  expect(Object.fromEntries(preflight.headers)).toMatchObject({
    vary: 'origin',
    'access-control-allow-origin': 'https://chat.example',
    'access-control-allow-headers': 'authorization,x-stainless-os',
    'access-control-allow-methods': 'POST, OPTIONS',
    'access-control-allow-private-network': 'true',
  });
  const ask = async (origin: string): Promise<Headers> =>
    (await fetch(`${url}/v1/models`, { headers: { origin } })).headers;
  const known = await ask('https://chat.example');
  expect(known.get('access-control-allow-origin')).toBe('https://chat.example');
  const exposed = known.get('access-control-expose-headers')?.split(', ');
  const limits = ['x-ratelimit-remaining-requests', 'anthropic-ratelimit-input-tokens-reset'];
  for (const name of [
    'x-request-id',
    'retry-after-ms',
    'x-should-retry',
    'x-isthmus-receipt',
    ...limits,
  ]) {
    expect(exposed).toContain(name);
  }
  for (const origin of ['https://evil.example', 'https://chat.example.evil', '*', 'null']) {
    const headers = await ask(origin);
    expect(headers.get('access-control-allow-origin')).toBeNull();
    // A cache must not keep this answer for a page that may have it.
    expect(headers.get('vary')).toBe('origin');
  }
});

test.each([
  ['text/plain', 'content-type', 'text/plain'],
  ['a form', 'content-type', 'application/x-www-form-urlencoded'],
  ['multipart', 'content-type', 'multipart/form-data; boundary=x'],
  ['a broken type', 'content-type', '///'],
  ['gzip', 'content-encoding', 'gzip'],
  ['chained encodings', 'content-encoding', 'identity, br'],
])('%s is refused with 415', async (_kind, name, value) => {
  const { url } = await start();
  const response = await fetch(`${url}/v1/messages`, jsonPost({ model: 'm' }, { [name]: value }));
  expect(response.status).toBe(415);
  expect(await response.json()).toMatchObject({ protocol: 'messages' });
});

test.each([
  ['content-encoding', 'identity'],
  ['content-type', 'application/json; charset="UTF-8"'],
  ['content-type', 'application/vnd.api+json; profile=x'],
])('%s: %s is JSON as it stands', async (name, value) => {
  const { url } = await start();
  const response = await fetch(`${url}/v1/messages`, jsonPost({ model: 'm' }, { [name]: value }));
  expect(response.status).toBe(200);
});

test('a body without a content type is refused with 415', async () => {
  const { url } = await start();
  const body = new Blob(['{"model":"m"}']);
  expect((await fetch(`${url}/v1/messages`, { method: 'POST', body })).status).toBe(415);
});

const differentKeys = (count: number): string =>
  `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',')}}`;

test.each([
  ['unexpected "}" at position 13', 'invalid-json', '{"model":"m",}'],
  ['empty', 'invalid-json', ''],
  ['must be a JSON object', 'invalid-type', '[]'],
  ['must be a JSON object', 'invalid-type', 'null'],
  ['must be a JSON object', 'invalid-type', '12345678901234567890'],
  ['nested deeper than 200', 'invalid-json', '{"a":'.repeat(300)],
  ['more than 2000000 JSON tokens', 'invalid-json', `[${'{},'.repeat(700_000)}{}]`],
  ['more than 100000 different keys', 'invalid-json', differentKeys(150_000)],
  ['key longer than 1024', 'invalid-json', `{"${'k'.repeat(1100)}":1}`],
])('a body is refused with 400: %s', async (message, reason, body) => {
  const { url } = await start();
  const response = await fetch(`${url}/v1/messages`, jsonPost(body));
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    reason,
    message: expect.stringContaining(message),
  });
});

test('a byte order mark is skipped, bytes that are not UTF-8 are refused', async () => {
  const { url } = await start();
  const send = async (bytes: Uint8Array<ArrayBuffer>): Promise<number> => {
    const headers = { 'content-type': 'application/json' };
    return (await fetch(`${url}/v1/messages`, { method: 'POST', headers, body: bytes })).status;
  };
  const text = Uint8Array.from(Buffer.from('{"model":"m"}'));
  expect(await send(Uint8Array.from([0xef, 0xbb, 0xbf, ...text]))).toBe(200);
  expect(await send(Uint8Array.from([...text.slice(0, 10), 0xff, ...text.slice(10)]))).toBe(400);
});

test('T16: keys such as __proto__ reach the reader and pollute nothing', async () => {
  const { url } = await start();
  const body =
    '{"model":"m","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
  expect((await fetch(`${url}/v1/messages`, jsonPost(body))).status).toBe(200);
  expect('polluted' in {}).toBe(false);
});

test('the gateway headers of a request reach dispatch', async () => {
  const seen: CallContext[] = [];
  const { url } = await start({
    generate: async (_call, context) => {
      seen.push(context);
      return { kind: 'reply', body: {} };
    },
  });
  const send = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${url}/v1/messages`, jsonPost({ model: 'm' }, headers))).status;
  await send({
    'X-Session-ID': 's1',
    'X-Claude-Code-Session-Id': 's2',
    'X-Preferred-Account': 'a@b.example',
    'X-Model-Tier': 'Pro',
    'X-Isthmus-Strict': '1',
  });
  await send({ 'session-id': 's3' });
  await send({ 'x-session-affinity': 's4' });
  await send({ 'x-beta-code-session-id': 's5' });
  expect(seen.map(({ headerSession }) => headerSession)).toEqual(['s1', 's3', 's4', 's5']);
  expect(seen[0]).toMatchObject({
    strict: true,
    preferredAccount: 'a@b.example',
    preferredTier: 'pro',
  });
  expect(seen[1]).toMatchObject({
    strict: false,
    preferredAccount: undefined,
    preferredTier: undefined,
  });
  await send({ 'x-isthmus-strict': 'true', 'x-beta-code-session-id': 's'.repeat(257) });
  expect(seen[4]).toMatchObject({ strict: true, headerSession: undefined });
  await send({ 'x-isthmus-strict': '0' });
  expect(seen[5]?.strict).toBe(false);
  expect(await send({ 'X-Model-Tier': 'gold' })).toBe(400);
  expect(await send({ 'X-Session-ID': 'x'.repeat(257) })).toBe(400);
  expect(await send({ 'X-Preferred-Account': 'x'.repeat(321) })).toBe(400);
});

test('the answer says which model, how many attempts, what was lost and how long it took', async () => {
  const { url } = await start({
    generate: async (_call, { record }) => {
      record.routedModel = 'alpha-3-flash';
      record.accountLabel = 'secret@person.example';
      const attempt = { accountId: 'a', modelId: 'm', considered: [], outcome: 'success' };
      record.attempts.push(attempt, attempt);
      record.timings = { upstreamMs: 12.34 };
      return { kind: 'reply', body: { ok: true } };
    },
  });
  const response = await fetch(`${url}/v1/messages`, jsonPost({ model: 'm', lossy: true }));
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'x-isthmus-model': 'alpha-3-flash',
    'x-isthmus-attempts': '2',
    'x-isthmus-receipt': 'dropped=1;approximated=0;repaired=0',
    'content-type': 'application/json; charset=utf-8',
    'content-length': '11',
  });
  expect(response.headers.get('server-timing')).toMatch(/^total;dur=[\d.]+, upstream;dur=12\.3$/);
  expect(JSON.stringify([...response.headers])).not.toContain('person.example');
});

test('a model name that is no header text is left out', async () => {
  const { url } = await start({
    generate: async (_call, { record }) => {
      record.routedModel = 'mödel\r\nx-evil: 1';
      return { kind: 'reply', body: {} };
    },
  });
  const response = await fetch(`${url}/v1/messages`, jsonPost({ model: 'm' }));
  expect([response.status, response.headers.get('x-isthmus-model')]).toEqual([200, null]);
});

test.each([
  [{ kind: 'rate-limited', retryAfterMs: 1200 }, 429, '2', '1200', null],
  [{ kind: 'quota-exhausted', retryAfterMs: 3_600_000 }, 429, '3600', '3600000', 'false'],
  [{ kind: 'overloaded' }, 503, '1', '1000', null],
  [{ kind: 'rate-limited', retryAfterMs: 0 }, 429, '1', '1', null],
  [{ kind: 'upstream-auth', retryAfterMs: 60_000 }, 503, '60', '60000', null],
  [{ kind: 'upstream-auth' }, 503, '1', '1000', 'false'],
  [{ kind: 'upstream-unavailable', retryAfterMs: 9 }, 502, '1', '9', null],
  [{ kind: 'invalid-request' }, 400, null, null, 'false'],
  [{ kind: 'timeout' }, 504, '1', '1000', null],
] as const)(
  'V147: %j tells the client when to come back',
  async (options, status, seconds, ms, retry) => {
    const { url } = await start(failing(options));
    const { headers, ...response } = await fetch(
      `${url}/v1/messages`,
      jsonPost({ model: 'm' }),
    ).then((answer) => ({ status: answer.status, headers: answer.headers }));
    expect(response.status).toBe(status);
    expect(headers.get('retry-after')).toBe(seconds);
    expect(headers.get('retry-after-ms')).toBe(ms);
    expect(headers.get('x-should-retry')).toBe(retry);
  },
);

test('anything unforeseen is a generic 500 for the client and a full line for the log', async () => {
  const edge = await start({
    generate: async () => {
      throw new TypeError('secret internals');
    },
  });
  const response = await fetch(`${edge.url}/v1/messages`, jsonPost({ model: 'm' }));
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain('secret internals');
  const line = edge.lines.find(({ level }) => level === 'error');
  expect(String(line?.fields.err)).toContain('secret internals');
});

test('localhost is both addresses of the loopback interface, with one limit for both', async () => {
  const edge = await start({ settings: { host: 'localhost', port: 0 } });
  const { port } = new URL(edge.url);
  const hosts = hasIpv6() ? ['127.0.0.1', '[::1]'] : ['127.0.0.1'];
  for (const host of hosts) {
    expect((await fetch(`http://${host}:${port}/health`)).status).toBe(200);
  }
});

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((list) =>
    list?.some(({ address }) => address === '::1'),
  );
}
