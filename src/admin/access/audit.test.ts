import { afterEach, beforeEach, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../lib/json.ts';
import { addTo, PASSWORD, startAdmin, type TestAdmin } from '../admin.test-support.ts';
import { SECRETS } from '../admin-fakes.test-support.ts';

let admin: TestAdmin;

beforeEach(async () => {
  admin = await startAdmin();
});
afterEach(() => admin.close());

async function entries(query = ''): Promise<readonly JsonObject[]> {
  const { status, body } = await admin.call('GET', `/api/audit${query}`);
  expect(status).toBe(200);
  return Array.isArray(body.entries) ? body.entries.filter(isJsonObject) : [];
}

function read(value: JsonValue | undefined): JsonValue {
  return parseJson(String(value));
}

async function signIn(): Promise<Readonly<Record<string, string>>> {
  const { headers } = await admin.call('POST', '/api/session', {
    body: { password: PASSWORD },
    headers: { 'x-isthmus-console': '1', authorization: '' },
  });
  const [cookie = ''] = headers.get('set-cookie')?.split(';') ?? [];
  return { cookie, 'x-isthmus-console': '1', authorization: '' };
}

test('a change is recorded with who, from where, what, before and after', async () => {
  const { body } = await admin.call('POST', '/api/keys', { body: { name: 'Ann' } });
  const { id } = isJsonObject(body.key) ? body.key : {};
  const cookie = await signIn();
  await admin.call('PATCH', `/api/keys/${id}`, { body: { name: 'Ben' }, headers: cookie });
  await admin.call('DELETE', `/api/keys/${id}`, { headers: cookie });
  const [removed, changed, made] = await entries();
  expect(made).toMatchObject({
    actor: 'password',
    address: '127.0.0.1',
    action: 'POST /api/keys',
    subject: '/api/keys',
    status: 201,
    fields: 'name',
    before: '{"keys":{}}',
  });
  expect(read(made?.after)).toMatchObject({ keys: { [String(id)]: { name: 'Ann' } } });
  expect(changed).toMatchObject({ actor: 'session', session: expect.stringMatching(/^[\w-]{8}$/) });
  expect(read(changed?.before)).toMatchObject({ name: 'Ann' });
  expect(read(changed?.after)).toMatchObject({ name: 'Ben' });
  expect(cookie.cookie).not.toContain(changed?.session);
  expect(removed).toMatchObject({ action: 'DELETE /api/keys/{id}', subject: `/api/keys/${id}` });
  expect(read(removed?.before)).toMatchObject({ name: 'Ben' });
  expect(removed).not.toHaveProperty('after');
});

test('what was refused and what only reads is not recorded', async () => {
  await admin.call('POST', '/api/keys', { body: { nobody: 1 } });
  await admin.call('DELETE', '/api/keys/none');
  await admin.call('POST', '/api/keys', { body: { name: 'Ann' }, headers: { authorization: 'x' } });
  await admin.call('POST', '/api/address-rules/check', { body: { address: '192.0.2.1' } });
  await admin.call('GET', '/oauth/callback?state=none&code=none');
  await signIn();
  expect(await entries()).toEqual([]);
});

test('no entry holds a secret', async () => {
  const made = await admin.call('POST', '/api/keys', { body: { name: 'Ann' } });
  await addTo(admin, { proxyUrl: SECRETS.proxy });
  const added = await admin.call('POST', '/api/accounts', {
    body: { upstream: 'main', kind: 'api-key', key: SECRETS.key, label: 'new' },
  });
  expect(added.status).toBe(201);
  admin.fakes.config = { proxy: { extprov: { api_key: 'before-canary' } } };
  const changed = await admin.call('PATCH', '/api/config/extprov', {
    body: { api_key: SECRETS.key },
  });
  expect([changed.status, changed.text]).toEqual([200, expect.any(String)]);
  const all = await entries();
  expect(all.map(({ action }) => action)).toEqual([
    'PATCH /api/config/{section}',
    'POST /api/accounts',
    'POST /api/keys',
  ]);
  expect(all[0]?.fields).toBe('api_key');
  const text = JSON.stringify(all);
  for (const secret of [...Object.values(SECRETS), 'canary', PASSWORD, String(made.body.secret)]) {
    expect(text).not.toContain(secret);
  }
});

test('entries are found by who, what and when, page by page', async () => {
  for (const name of ['a', 'b', 'c']) await admin.call('POST', '/api/keys', { body: { name } });
  await admin.call('DELETE', '/api/sessions');
  expect(await entries('?about=/api/keys')).toHaveLength(3);
  expect(await entries('?actor=machine')).toEqual([]);
  expect(await entries('?from=999999999999999')).toEqual([]);
  const first = await admin.call('GET', '/api/audit?limit=2');
  expect(await entries(`?limit=2&cursor=${first.body.nextCursor}`)).toHaveLength(2);
});

test('every route that changes something shows what it changes, or is known to leave nothing to see', () => {
  const changing = admin.routes.filter(({ method, changes }) => changes ?? method !== 'GET');
  const unseen = changing.filter(({ path, shows }) => {
    const match = admin.edge.server.routes.match('GET', (shows ?? path).replace(/\{\w+\}/, 'x'));
    return match.kind !== 'route';
  });
  expect(unseen.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
    'DELETE /api/oauth/{state}',
    'DELETE /api/session',
    'POST /api/accounts/export',
    'POST /api/oauth/start',
    'POST /api/quota/refresh',
    'POST /api/session/password',
  ]);
  const silent = admin.routes.filter(
    ({ method, changes }) => method !== 'GET' && changes === false,
  );
  expect(silent.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
    'POST /api/address-rules/check',
    'POST /api/invitations/open',
    'POST /api/session',
    'POST /api/session/provider',
    'POST /api/translate',
  ]);
});

test('nothing but reading is offered of the audit log', () => {
  const paths = admin.routes.filter(({ path }) => path.startsWith('/api/audit'));
  expect(paths.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /api/audit']);
});
