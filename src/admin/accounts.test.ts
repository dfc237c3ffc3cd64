import { afterEach, beforeEach, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { arrival } from '../server/raw-socket.test-support.ts';
import {
  type Answer,
  addTo,
  PASSWORD,
  SEED,
  startAdmin,
  type TestAdmin,
} from './admin.test-support.ts';
import { NOW, SECRETS } from './admin-fakes.test-support.ts';

let admin: TestAdmin;

beforeEach(async () => {
  admin = await startAdmin();
});
afterEach(() => admin.close());

function accountsOf({ body }: Answer): readonly JsonObject[] {
  const { accounts } = body;
  return Array.isArray(accounts) ? accounts.filter(isJsonObject) : [];
}

function fieldOf({ body }: Answer): JsonValue | undefined {
  return isJsonObject(body.error) ? body.error.field : undefined;
}

test('an account added by key is shown without it, with a name of its own', async () => {
  const added = await admin.call('POST', '/api/accounts', {
    body: { upstream: 'main', kind: 'api-key', key: SECRETS.key, proxyUrl: SECRETS.proxy },
  });
  expect(added.status).toBe(201);
  expect(added.headers.get('etag')).toBe('"1"');
  expect(added.body).toMatchObject({
    upstream: 'main',
    kind: 'api-key',
    label: 'key-1',
    tier: null,
    hasProxy: true,
    origin: 'stored',
    status: { kind: 'active', wayOut: null },
    models: 1,
    revision: 1,
  });
  expect(added.text).not.toContain('canary');
  const again = await admin.call('POST', '/api/accounts', {
    body: { upstream: 'main', kind: 'api-key', key: SECRETS.key },
  });
  expect(again.body.label).toBe('key-2');
  const listed = await admin.call('GET', '/api/accounts');
  expect(accountsOf(listed).map(({ label }) => label)).toEqual(['key-1', 'key-2']);
});

test('a taken label is a conflict', async () => {
  const body = { upstream: 'main', kind: 'api-key', key: SECRETS.key, label: 'work' };
  expect((await admin.call('POST', '/api/accounts', { body })).status).toBe(201);
  const { status, body: answer } = await admin.call('POST', '/api/accounts', { body });
  expect(status).toBe(409);
  expect(answer.error).toMatchObject({ code: 'conflict' });
});

test('blanks around a label are no part of it', async () => {
  const add = (label: string): Promise<Answer> =>
    admin.call('POST', '/api/accounts', {
      body: { upstream: 'main', kind: 'api-key', key: SECRETS.key, label },
    });
  const { status, body } = await add(' work\u00a0');
  expect([status, body.label]).toEqual([201, 'work']);
  expect((await add('work ')).status).toBe(409);
  const home = (await add('home')).body;
  const change = (label: string): Promise<Answer> =>
    admin.call('PATCH', `/api/accounts/${home.id}`, { body: { label } });
  expect((await change(' Work')).status).toBe(409);
  expect((await change(' garden ')).body.label).toBe('garden');
});

test.each<[string, JsonObject]>([
  ['upstream', { upstream: 'none', kind: 'api-key', key: 'k' }],
  ['kind', { upstream: 'main', kind: 'password' }],
  ['key', { upstream: 'main', kind: 'api-key' }],
  ['key', { upstream: 'main', kind: 'api-key', key: 'two words' }],
  ['refreshToken', { upstream: 'main', kind: 'api-key', key: 'k', refreshToken: 'r' }],
  ['refreshToken', { upstream: 'main', kind: 'oauth', refreshToken: 'refused' }],
  [
    'serviceAccount.client_email',
    {
      upstream: 'main',
      kind: 'service-account',
      serviceAccount: { type: 'service_account', private_key: 'x' },
    },
  ],
  ['proxyUrl', { upstream: 'main', kind: 'api-key', key: 'k', proxyUrl: 'ftp://x' }],
  ['proxyUrl', { upstream: 'main', kind: 'api-key', key: 'k', proxyUrl: 'http://proxy:3128/path' }],
  ['label', { upstream: 'main', kind: 'api-key', key: 'k', label: '' }],
  ['label', { upstream: 'main', kind: 'api-key', key: 'k', label: ' \u200b ' }],
  ['__proto__', JSON.parse('{"upstream":"main","kind":"api-key","key":"k","__proto__":{}}')],
])('a wrong %s is refused by name', async (field, body) => {
  const answer = await admin.call('POST', '/api/accounts', { body });
  expect([answer.status, fieldOf(answer)]).toEqual([400, field]);
  expect(accountsOf(await admin.call('GET', '/api/accounts'))).toEqual([]);
});

test('a refresh token is proven by the import, and the rest of what was said is kept', async () => {
  const { status, body } = await admin.call('POST', '/api/accounts', {
    body: {
      upstream: 'main',
      kind: 'oauth',
      refreshToken: SECRETS.refreshToken,
      tier: 'pro',
      notes: 'the shared one',
    },
  });
  expect(status).toBe(201);
  expect(body).toMatchObject({ kind: 'oauth', tier: 'pro', notes: 'the shared one' });
  expect(admin.fakes.imported).toMatchObject([{ upstreamId: 'main' }]);
});

test('a key file of a service account is imported whole, as it was downloaded', async () => {
  const serviceAccount = {
    ...{ type: 'service_account', project_id: 'p', private_key_id: '1', private_key: 'PEM' },
    ...{ client_email: 'a@p.example', client_id: '7', universe_domain: 'provider.example' },
  };
  const add = (more: JsonObject) =>
    admin.call('POST', '/api/accounts', {
      body: { upstream: 'main', kind: 'service-account', ...more },
    });
  expect(await add({ serviceAccount, notes: 'Ours' })).toMatchObject({
    ...{ status: 201, body: { notes: 'Ours' } },
  });
  expect(admin.fakes.imported).toMatchObject([{ text: JSON.stringify(serviceAccount) }]);
  expect(await add({})).toMatchObject({
    status: 400,
    body: { error: { field: 'serviceAccount' } },
  });
});

test('a name of which nothing can be seen is refused in words', async () => {
  const { record } = await addTo(admin, { label: 'seen' });
  const path = `/api/accounts/${record.id}`;
  const answer = await admin.call('PATCH', path, { body: { label: '   ' } });
  expect(answer.status).toBe(400);
  expect(answer.text).toContain('label: must have a character that can be seen.');
  const named = await admin.call('PATCH', path, {
    body: { label: ' 钥 👩‍👧 ' },
  });
  expect(named.body.label).toBe('钥 👩‍👧');
});

test('a change counts only when nobody else changed the account before', async () => {
  const { record } = await addTo(admin);
  const path = `/api/accounts/${record.id}`;
  const change = (revision: string, body: JsonObject) =>
    admin.call('PATCH', path, { body, headers: { 'if-match': revision } });
  const first = await change('"1"', { notes: 'mine', tier: 'ultra', project: 'p-1' });
  expect(first.status).toBe(200);
  expect(first.body).toMatchObject({ notes: 'mine', tier: 'ultra', project: 'p-1', revision: 2 });
  const late = await change('"1"', { notes: 'other' });
  expect(late.status).toBe(412);
  expect(late.body.error).toMatchObject({ code: 'stale-revision' });
  const cleared = await admin.call('PATCH', path, { body: { notes: null, proxyUrl: null } });
  expect(cleared.body).toMatchObject({ notes: null, tier: 'ultra', hasProxy: false });
  expect((await change('nonsense!', { notes: 'x' })).status).toBe(400);
  expect((await admin.call('PATCH', path, { body: {} })).status).toBe(400);
});

test('a new key replaces the old one, and only where there is one', async () => {
  const { record } = await addTo(admin, { credential: { kind: 'api-key', key: 'old' } });
  const changed = await admin.call('PATCH', `/api/accounts/${record.id}`, { body: { key: 'new' } });
  expect(changed.status).toBe(200);
  expect(await admin.options.book.readCredential(record.id)).toMatchObject({
    credential: { key: 'new' },
  });
  const other = await addTo(admin, { label: 'oauth@example.com' });
  const wrong = await admin.call('PATCH', `/api/accounts/${other.record.id}`, {
    body: { key: 'new', notes: 'x' },
  });
  expect([wrong.status, fieldOf(wrong)]).toEqual([400, 'key']);
  expect(admin.options.book.find(other.record.id)?.record.notes).toBeUndefined();
});

test('accounts of the environment can be disabled, not changed or removed', async () => {
  await admin.close();
  admin = await startAdmin({ seeds: [SEED] });
  const path = `/api/accounts/${SEED.id}`;
  expect((await admin.call('GET', path)).body.label).toBe('key-1@env');
  expect((await admin.call('PATCH', path, { body: { notes: 'x' } })).status).toBe(403);
  const removed = await admin.call('DELETE', path);
  expect(removed.status).toBe(403);
  expect(removed.text).toContain('UPSTREAM_API_KEYS');
  const disabled = await admin.call('POST', `${path}/disable`, { body: { detail: 'too slow' } });
  expect(disabled.body.status).toMatchObject({
    kind: 'disabled',
    reason: 'manual',
    since: new Date(NOW).toISOString(),
    detail: 'too slow',
    wayOut: expect.stringContaining('Enable'),
  });
  expect((await admin.call('POST', `${path}/enable`)).body.status).toMatchObject({
    kind: 'active',
  });
});

test('an account whose sign-in was refused says so before it is disabled, until it signs in again', async () => {
  const { record } = await addTo(admin);
  const failure = { kind: 'credential-revoked', detail: 'Token has been revoked.' } as const;
  const { book } = admin.options;
  const status = async () => (await admin.call('GET', `/api/accounts/${record.id}`)).body.status;
  book.apply(record.id, { kind: 'failure', model: '', failure });
  expect(await status()).toMatchObject({
    kind: 'active',
    reason: 'refused-grant',
    since: expect.any(String),
    wayOut: expect.stringContaining('Sign in to this account again'),
  });
  book.apply(record.id, { kind: 'refreshed' });
  expect(await status()).toMatchObject({ kind: 'active', reason: null, wayOut: null });
});

test('an account whose upstream is gone is out of use, and says the way out', async () => {
  const { record } = await addTo(admin, { upstreamId: 'gone' });
  const { body } = await admin.call('GET', `/api/accounts/${record.id}`);
  expect(body.status).toMatchObject({
    kind: 'disabled',
    reason: 'no-upstream',
    wayOut: expect.stringContaining('upstream gone is no longer configured'),
  });
  const { body: tested } = await admin.call('POST', `/api/accounts/${record.id}/test`);
  expect(tested).toMatchObject({
    isUsable: false,
    steps: [
      { name: 'credential', isGood: true },
      { name: 'models', message: { text: expect.stringContaining('"gone" of this account') } },
    ],
  });
  // Whoever disables it wants to hear of it no more.
  const disabled = await admin.call('POST', `/api/accounts/${record.id}/disable`);
  expect(disabled.body.status).toMatchObject({ kind: 'disabled', reason: 'manual' });
});

test('an account is removed, and its grant taken back when that is asked for', async () => {
  const one = await addTo(admin, { label: 'one' });
  const two = await addTo(admin, { label: 'two' });
  expect((await admin.call('DELETE', `/api/accounts/${one.record.id}`)).status).toBe(204);
  const { body } = await admin.call('DELETE', `/api/accounts/${two.record.id}?revoke=true`);
  expect(body).toEqual({ revocation: 'revoked' });
  expect(admin.fakes.revoked).toEqual([two.record.id]);
  expect((await admin.call('DELETE', `/api/accounts/${one.record.id}`)).status).toBe(404);
});

test('what a person does to an account is stored before it is answered', async () => {
  const { record } = await addTo(admin);
  const stored = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  Object.assign(admin.options.book, {
    flush() {
      asked.resolve();
      return stored.promise;
    },
  });
  let isAnswered = false;
  const answer = admin.call('POST', `/api/accounts/${record.id}/disable`).then((reply) => {
    isAnswered = true;
    return reply;
  });
  await asked.promise;
  await arrival();
  expect(isAnswered).toBe(false);
  stored.resolve();
  expect((await answer).body).toMatchObject({ status: { kind: 'disabled' } });
});

test('cooldowns and quotas are shown, and cooldowns cleared', async () => {
  const { record } = await addTo(admin);
  const { book } = admin.options;
  const failure = { kind: 'quota-exhausted', retryAfterMs: 60_000 } as const;
  book.apply(record.id, { kind: 'failure', model: 'm', failure });
  const reading = { resetsAt: NOW + 1000, source: 'upstream', fetchedAt: NOW } as const;
  book.setQuotas(
    record.id,
    new Map([
      ['m', { ...reading, remainingFraction: 0.123 }],
      ['guarded', { ...reading, remainingFraction: 0.05 }],
    ]),
  );
  const path = `/api/accounts/${record.id}`;
  const { body } = await admin.call('GET', path);
  expect(body).toMatchObject({
    cooldowns: [{ model: 'm', cause: 'quota', until: new Date(NOW + 60_000).toISOString() }],
    quotas: [
      { model: 'guarded', percent: 5, isProtected: true },
      { model: 'm', percent: 12.3, source: 'upstream', isProtected: false },
    ],
  });
  const cleared = await admin.call('POST', `${path}/clear-cooldowns`, { body: { model: 'm' } });
  expect(cleared.body.cooldowns).toEqual([]);
});

test('the rest of an overloaded upstream is shown at its accounts, and ended at any of them', async () => {
  const { record } = await addTo(admin);
  const { overloads } = admin.fakes;
  const overload = (upstreamId: string, model: string): void => {
    for (let nth = 0; nth < 20; nth += 1) {
      overloads.noteEnd(overloads.noteStart(upstreamId, model, NOW), 'overloaded', NOW);
    }
  };
  overload(record.upstreamId, 'm');
  overload(record.upstreamId, 'n');
  overload('elsewhere', 'm');
  const path = `/api/accounts/${record.id}`;
  const until = new Date(NOW + 1000).toISOString();
  const { body } = await admin.call('GET', path);
  expect(body.cooldowns).toEqual([
    { model: 'm', cause: 'overloaded', until },
    { model: 'n', cause: 'overloaded', until },
  ]);
  const models = ['n', 'o'].map((id) => [id, { id }] as const);
  admin.options.book.setModels(record.id, new Map(models));
  expect((await admin.call('GET', path)).body.cooldowns).toMatchObject([{ model: 'n' }]);
  const one = await admin.call('POST', `${path}/clear-cooldowns`, { body: { model: 'n' } });
  expect(one.body.cooldowns).toEqual([]);
  expect([...overloads.of(record.upstreamId).keys()]).toEqual(['m']);
  await admin.call('POST', `${path}/clear-cooldowns`);
  expect(overloads.of(record.upstreamId).size).toBe(0);
  expect(overloads.of('elsewhere').size).toBe(1);
});

test('an account all of whose models rest is told to rest as a whole, until the first comes back', async () => {
  const { record } = await addTo(admin);
  const { book } = admin.options;
  const cool = (model: string, retryAfterMs: number): void => {
    const failure = { kind: 'quota-exhausted', retryAfterMs } as const;
    book.apply(record.id, { kind: 'failure', model, failure });
  };
  const cooldowns = async () =>
    (await admin.call('GET', `/api/accounts/${record.id}`)).body.cooldowns;
  cool('m', 90_000);
  cool('gone', 30_000);
  book.setModels(record.id, new Map(['m', 'n'].map((id) => [id, { id }])));
  expect(await cooldowns()).toMatchObject([{ model: 'm' }, { model: 'gone' }]);
  cool('n', 60_000);
  expect(await cooldowns()).toEqual([
    { model: null, cause: 'quota', until: new Date(NOW + 60_000).toISOString() },
    expect.objectContaining({ model: 'm' }),
    expect.objectContaining({ model: 'gone' }),
    expect.objectContaining({ model: 'n' }),
  ]);
  const failure = { kind: 'credential-revoked', retryAfterMs: 10_000 } as const;
  book.apply(record.id, { kind: 'failure', model: 'm', failure });
  expect(await cooldowns()).toEqual(
    expect.not.arrayContaining([{ model: null, cause: 'quota', until: expect.anything() }]),
  );
});

test('a figure that only the refusal taught goes with its cooldown, and no other figure', async () => {
  const { record } = await addTo(admin);
  const { book } = admin.options;
  const failure = { kind: 'quota-exhausted', retryAfterMs: 60_000 } as const;
  const used = { remainingFraction: 0, resetsAt: NOW + 60_000, fetchedAt: NOW } as const;
  for (const model of ['learned', 'other', 'read']) {
    book.apply(record.id, { kind: 'failure', model, failure });
    const source = model === 'read' ? 'upstream' : 'estimated';
    book.setQuotas(record.id, new Map([[model, { ...used, source }]]));
  }
  book.setQuotas(record.id, new Map([['own-limit', { ...used, source: 'estimated' }]]));
  const path = `/api/accounts/${record.id}/clear-cooldowns`;
  const left = () => [...(book.find(record.id)?.quotas.keys() ?? [])].sort();
  expect((await admin.call('POST', path, { body: { model: 'learned' } })).status).toBe(200);
  expect(left()).toEqual(['other', 'own-limit', 'read']);
  expect((await admin.call('POST', path)).status).toBe(200);
  expect(left()).toEqual(['own-limit', 'read']);
});

test('an account is refreshed, and a test says which step failed', async () => {
  const { record } = await addTo(admin);
  const path = `/api/accounts/${record.id}`;
  expect((await admin.call('POST', `${path}/refresh`)).status).toBe(200);
  expect(admin.fakes.refreshed).toEqual([record.id]);
  const good = await admin.call('POST', `${path}/test`);
  expect(good.body).toMatchObject({
    isUsable: true,
    steps: [{ name: 'credential' }, { name: 'models' }, { name: 'quota' }],
  });
  expect((await admin.call('GET', path)).body.models).toBe(1);
  admin.fakes.broken.add(record.id);
  const bad = await admin.call('POST', `${path}/test`);
  expect(bad.body).toMatchObject({
    isUsable: false,
    steps: [
      {
        name: 'credential',
        isGood: false,
        message: 'The provider refused the credential. It said: Token expired.',
      },
    ],
  });
  const refused = await admin.call('POST', `${path}/refresh`);
  expect([refused.status, refused.text.includes('canary')]).toEqual([503, false]);
});

test('a test of an account whose upstream lists no models says that nothing was checked, and blames no account', async () => {
  const { record } = await addTo(admin);
  admin.fakes.listed = [];
  const path = `/api/accounts/${record.id}`;
  const tested = await admin.call('POST', `${path}/test`, { body: { generate: true } });
  const message =
    'The upstream lists no models, so only a request shows whether its address and the credential are right.';
  expect(tested.body).toMatchObject({
    isUsable: true,
    steps: [{ name: 'credential' }, { name: 'models', message }, { name: 'quota' }],
  });
  const { condition } = (await admin.call('GET', path)).body;
  expect(condition).toMatchObject({ state: 'untried', trial: { what: 'models', message } });
});

test('the order becomes priorities; accounts not named follow, those of the environment stay', async () => {
  await admin.close();
  admin = await startAdmin({ seeds: [SEED] });
  const labels = ['a', 'b', 'c'];
  const [a, b, c] = await Promise.all(labels.map((label) => addTo(admin, { label })));
  const ids = [c?.record.id, SEED.id, a?.record.id].map(String);
  const ordered = await admin.call('POST', '/api/accounts/order', { body: { order: ids } });
  expect(accountsOf(ordered).map(({ label }) => label)).toEqual(['c', 'a', 'b', 'key-1@env']);
  expect(ordered.body.fixed).toEqual([SEED.id]);
  const id = b?.record.id ?? '';
  for (const order of [[id, id], ['none']]) {
    expect((await admin.call('POST', '/api/accounts/order', { body: { order } })).status).toBe(400);
  }
});

test('made-up accounts that stand by are listed below those that serve, whatever their priority', async () => {
  const { book } = admin.options;
  const [older, younger] = [await addTo(admin, { label: 'a' }), await addTo(admin, { label: 'b' })];
  const labels = async () =>
    accountsOf(await admin.call('GET', '/api/accounts')).map(({ label }) => label);
  await book.change(older.record.id, { priority: 9 });
  expect(await labels()).toEqual(['a', 'b']);
  book.apply(older.record.id, { kind: 'stand-by' });
  expect(await labels()).toEqual(['b', 'a']);
  book.apply(younger.record.id, { kind: 'disable' });
  expect(await labels()).toEqual(['b', 'a']);
});

test('an import says what became of each item, an export holds nothing in clear', async () => {
  const imported = await admin.call('POST', '/api/accounts/import', {
    body: { format: 'refresh-tokens', upstream: 'main', text: SECRETS.refreshToken },
  });
  expect(imported.body).toMatchObject({ added: 1, updated: 0, failed: 0 });
  const refused = await admin.call('POST', '/api/accounts/import', {
    body: { format: 'export', text: 'refused', passphrase: 'a long passphrase' },
  });
  expect(refused.body).toMatchObject({ failed: 1, results: [{ outcome: 'failed', label: null }] });
  const missing = await admin.call('POST', '/api/accounts/import', {
    body: { format: 'service-accounts', text: '{}' },
  });
  expect([missing.status, fieldOf(missing)]).toEqual([400, 'upstream']);
  const pointless = await admin.call('POST', '/api/accounts/import', {
    body: { format: 'export', text: '{}', upstream: 'main' },
  });
  expect([pointless.status, fieldOf(pointless)]).toEqual([400, 'upstream']);
  const exported = await admin.call('POST', '/api/accounts/export', {
    body: { passphrase: 'a long passphrase' },
  });
  expect(exported.body).toMatchObject({ count: 1, left: [] });
  expect(exported.text).not.toContain('canary-refresh');
});

test('an export to a browser that is signed in needs the password again', async () => {
  const { login } = admin.options.access ?? {};
  const browser = { address: '127.0.0.1', cookie: undefined };
  const session = await login?.signIn(PASSWORD, browser);
  const cookie = `isthmus_session_${login?.cookieTag}=${session?.secret}`;
  const headers = { authorization: '', cookie, 'x-isthmus-console': '1' };
  const exported = (body: object) =>
    admin.call('POST', '/api/accounts/export', {
      body: { passphrase: 'a long passphrase', ...body },
      headers,
    });
  const missing = await exported({});
  expect([missing.status, fieldOf(missing)]).toEqual([400, 'password']);
  const wrong = await exported({ password: 'guessed' });
  expect([wrong.status, fieldOf(wrong)]).toEqual([403, 'password']);
  expect((await exported({ password: PASSWORD })).status).toBe(200);
  for (let turn = 0; turn < 5; turn += 1) await exported({ password: `guess ${turn}` });
  expect((await exported({ password: PASSWORD })).status).toBe(429);
});
