import { afterAll, beforeAll, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { startEdge, type TestEdge } from '../server/start-edge.test-support.ts';
import { FOREIGN_API } from '../wire/vocabulary.ts';
import { addTo, PASSWORD, startAdmin, type TestAdmin } from './admin.test-support.ts';
import { SECRETS } from './admin-fakes.test-support.ts';

const API_KEY = 'sk-a-client-key';

let admin: TestAdmin;
let openEdge: TestEdge;

beforeAll(async () => {
  admin = await startAdmin({ settings: { apiKeys: [{ id: 'main', key: API_KEY }] } });
  openEdge = await startEdge({ adminRoutes: admin.routes });
});
afterAll(async () => {
  await admin.close();
  await openEdge.server.close();
});

/** Every route behind the console credential, with a path that would match. */
function consoleRoutes(): readonly { readonly method: string; readonly path: string }[] {
  const routes = admin.edge.server.routes.routes.filter(
    ({ path, access, kind }) => path.startsWith('/api/') && kind === 'admin' && access !== 'public',
  );
  expect(routes.length).toBeGreaterThan(25);
  return routes.map(({ method, path }) => ({ method, path: path.replace(/\{\w+\}/, 'x') }));
}

async function statusesOf(
  headers: Readonly<Record<string, string>>,
  url = admin.edge.url,
): Promise<readonly number[]> {
  const statuses = consoleRoutes().map(async ({ method, path }) => {
    const isRead = method === 'GET' || method === 'DELETE';
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(isRead ? {} : { body: '{}' }),
    });
    await response.arrayBuffer();
    return response.status;
  });
  return [...new Set(await Promise.all(statuses))];
}

test('every admin route refuses a missing, a wrong and the client key', async () => {
  expect(await statusesOf({})).toEqual([401]);
  // What is shown too often is soon not even looked at.
  const guessing = await startAdmin({ settings: { apiKeys: [{ id: 'main', key: API_KEY }] } });
  for (const headers of [
    { authorization: 'Bearer wrong' },
    { authorization: `Bearer ${API_KEY}` },
    { 'x-api-key': API_KEY },
  ]) {
    const statuses = await statusesOf(headers, guessing.edge.url);
    expect(statuses.filter((status) => status !== 401 && status !== 429)).toEqual([]);
  }
  await guessing.close();
});

test('every admin route refuses web pages from elsewhere, whatever they show', async () => {
  const authorization = `Bearer ${PASSWORD}`;
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'http://127.0.0.1:1' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]) {
    expect(await statusesOf({ authorization, ...headers })).toEqual([403]);
  }
});

test('while no password is set, only requests of this machine reach an admin route', async () => {
  const { url } = openEdge;
  expect(await statusesOf({ origin: 'https://evil.example' }, url)).toEqual([401]);
  expect(await statusesOf({ 'x-forwarded-for': '203.0.113.9' }, url)).toEqual([401]);
  expect(await statusesOf({ 'x-forwarded-for': '203.0.113.9' }, url)).not.toContain(200);
});

test('every admin route that takes a body takes JSON alone', async () => {
  for (const { method, path } of consoleRoutes()) {
    if (method === 'GET' || method === 'DELETE') continue;
    for (const contentType of ['text/plain', 'application/x-www-form-urlencoded']) {
      const response = await fetch(`${admin.edge.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${PASSWORD}`, 'content-type': contentType },
        body: '{}',
      });
      expect([path, response.status]).toEqual([path, 415]);
      await response.arrayBuffer();
    }
  }
});

test('errors have one shape and are never cached, also for paths that do not exist', async () => {
  const missing = ['/api', '/api/nothing', '/metrics', '/oauth/nothing'];
  for (const path of [...missing, '/api/accounts/none', '/api/config/none']) {
    const { status, body, headers } = await admin.call('GET', path);
    expect([path, status]).toEqual([path, 404]);
    expect(body.error).toMatchObject({ code: 'not-found', message: { text: expect.any(String) } });
    expect(headers.get('cache-control')).toBe('no-store');
  }
  const { body } = await admin.call('POST', '/api/accounts', { body: { upstream: 'main' } });
  expect(body.error).toMatchObject({ code: 'missing-field', field: 'kind' });
  expect((await admin.call('PUT', '/api/accounts')).status).toBe(405);
});

test('clients of another server below /api are answered in their own form', async () => {
  const response = await fetch(`${admin.edge.url}/api/chat`, { method: 'POST', body: '{}' });
  expect(response.status).toBe(404);
  expect(await response.json()).toEqual({
    error: expect.stringContaining('There is no /api/chat here. This protocol is not'),
  });
  const { routes } = admin.edge.server.routes;
  expect(routes.filter(({ path }) => FOREIGN_API.test(path))).toEqual([]);
});

test('a body or a parameter that a route does not know is refused by name', async () => {
  const answers = [
    await admin.call('POST', '/api/accounts/order', { body: { order: ['a'], more: 1 } }),
    await admin.call('GET', '/api/accounts?page=2'),
    await admin.call('GET', '/api/route?model=a&model=b'),
    await admin.call('DELETE', '/api/sessions', { body: { all: true } }),
    await admin.call('GET', '/api/accounts', { headers: { 'if-match': '"1"' } }),
  ];
  const fields = answers.map(({ status, body }) => {
    expect(status).toBe(400);
    return isJsonObject(body.error) ? body.error.field : undefined;
  });
  expect(fields).toEqual(['more', 'page', 'model', 'all', 'if-match']);
});

test('no answer of any GET holds a secret', async () => {
  const { record } = await addTo(admin, { proxyUrl: SECRETS.proxy });
  admin.fakes.config = {
    api_key: API_KEY,
    upstreams: { main: { oauth: { client_secret: SECRETS.key } } },
  };
  const texts = admin.routes
    .filter(({ method }) => method === 'GET')
    .map(async ({ path }) => {
      const filled = path
        .replace('{id}', record.id)
        .replace('{section}', 'upstreams')
        .replace('{state}', 'none');
      const { text } = await admin.call(
        'GET',
        `${filled}${path === '/api/route' ? '?model=a' : ''}`,
      );
      return text;
    });
  const all = (await Promise.all(texts)).join('\n');
  expect(all).toContain('"hasProxy":true');
  for (const secret of [...Object.values(SECRETS), API_KEY, 'canary', PASSWORD]) {
    expect(all).not.toContain(secret);
  }
});

test('the description names every route, resolves and answers with schemas', async () => {
  const { body } = await admin.call('GET', '/api/openapi.json');
  expect(body.openapi).toBe('3.1.0');
  const described = Object.entries(objectIn(body, 'paths')).flatMap(([path, operations]) =>
    Object.keys(isJsonObject(operations) ? operations : {}).map(
      (method) => `${method.toUpperCase()} ${path}`,
    ),
  );
  const offered = admin.routes
    .filter((route) => 'description' in route)
    .map(({ method, path }) => `${method} ${path}`);
  expect(described.sort()).toEqual(offered.sort());
  const references = [...JSON.stringify(body).matchAll(/"\$ref":"#([^"]+)"/g)].map(
    ([, pointer = '']) => pointer,
  );
  expect(references.length).toBeGreaterThan(20);
  for (const pointer of references) expect([pointer, at(body, pointer)]).not.toContain(undefined);
  const ids = new Set<JsonValue | undefined>();
  for (const operations of Object.values(objectIn(body, 'paths'))) {
    for (const operation of Object.values(isJsonObject(operations) ? operations : {})) {
      if (!isJsonObject(operation)) throw new Error('An operation is an object.');
      ids.add(operation.operationId);
      const answers = Object.entries(objectIn(operation, 'responses'));
      expect(answers.filter(([, answer]) => !hasSchema(answer)).map(([status]) => status)).toEqual(
        answers.filter(([status]) => status === '204').map(([status]) => status),
      );
      expect(answers.some(([status]) => status.startsWith('2'))).toBe(true);
    }
  }
  expect(ids.size).toBe(offered.length);
});

function objectIn(value: JsonObject, key: string): JsonObject {
  const inner = value[key];
  if (!isJsonObject(inner)) throw new Error(`${key} is no object.`);
  return inner;
}

function hasSchema(answer: JsonValue): boolean {
  return isJsonObject(answer) && JSON.stringify(answer).includes('"schema":');
}

function at(value: JsonValue | undefined, pointer: string): JsonValue | undefined {
  return pointer
    .split('/')
    .slice(1)
    .reduce<JsonValue | undefined>(
      (inner, step) => (isJsonObject(inner) ? inner[step] : undefined),
      value,
    );
}
