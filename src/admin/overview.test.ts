import { afterEach, beforeEach, expect, test } from 'vitest';
import { objectsOf } from '../lib/read-values.ts';
import { addTo, startAdmin, type TestAdmin } from './admin.test-support.ts';
import { NOW } from './admin-fakes.test-support.ts';

let admin: TestAdmin;

beforeEach(async () => {
  admin = await startAdmin();
});
afterEach(() => admin.close());

const later = (byMs: number): string => new Date(NOW + byMs).toISOString();

async function addWithQuota(label: string, rows: Readonly<Record<string, number>>) {
  const account = await addTo(admin, { label });
  const readings = Object.entries(rows).map(([model, remainingFraction], index) => {
    const resetsAt = NOW + (index + 1) * 1000;
    return [model, { remainingFraction, resetsAt, source: 'upstream', fetchedAt: NOW }] as const;
  });
  admin.options.book.setQuotas(account.record.id, new Map(readings));
  return account;
}

test('quotas are summed by family, text and images apart', async () => {
  await addWithQuota('a', { 'alpha-3-flash': 1, 'alpha-3-pro': 0.5, 'alpha-3-pro-image': 0.2 });
  await addWithQuota('b', { 'alpha-3-flash': 0, guarded: 0.5 });
  const { body } = await admin.call('GET', '/api/quota');
  expect(body.families).toEqual([
    {
      family: 'alpha',
      kind: 'text',
      models: ['alpha-3-flash', 'alpha-3-pro'],
      accounts: 2,
      accountsWithRoom: 1,
      percent: 50,
      resetsAt: later(1000),
    },
    expect.objectContaining({ family: 'alpha', kind: 'image', percent: 20, accounts: 1 }),
    expect.objectContaining({ family: 'guarded', accounts: 1, accountsWithRoom: 0 }),
  ]);
  expect(body.accounts).toMatchObject([{ label: 'a' }, { label: 'b' }]);
});

test('what is left of an account that is disabled is not counted in its families', async () => {
  await addWithQuota('a', { 'alpha-3-flash': 0.5 });
  const off = await addWithQuota('off', { 'alpha-3-flash': 1, 'beta-sonnet': 1 });
  admin.options.book.apply(off.record.id, { kind: 'disable' });
  const { body } = await admin.call('GET', '/api/quota');
  expect(body.families).toMatchObject([{ family: 'alpha', accounts: 1, percent: 50 }]);
  expect(body.accounts).toMatchObject([{ label: 'a' }, { label: 'off' }]);
});

test('figures are asked anew, of all accounts but the disabled or of those named', async () => {
  const a = (await addTo(admin, { label: 'a' })).record.id;
  const b = (await addTo(admin, { label: 'b' })).record.id;
  admin.options.book.apply(b, { kind: 'disable' });
  const all = await admin.call('POST', '/api/quota/refresh');
  expect(all.body.results).toEqual([{ id: a, outcome: 'read', message: null }]);
  await admin.call('POST', '/api/quota/refresh', { body: { ids: [b] } });
  expect(admin.fakes.refreshed).toEqual([a, b]);
  const unknown = await admin.call('POST', '/api/quota/refresh', { body: { ids: ['none'] } });
  expect(unknown.status).toBe(404);
});

test('sessions are listed with the last used first, ended one by one and all at once', async () => {
  const { record } = await addTo(admin);
  for (const id of ['s-1', 's-2', 's-3']) {
    admin.fakes.sessions.push({
      id,
      label: 'abc…',
      clientKeyHash: 'h',
      accountId: record.id,
      detours: [{ model: 'm', accountId: 'other', returns: true }],
      expiresAt: NOW + 1000,
    });
  }
  const { body } = await admin.call('GET', '/api/sessions');
  expect(body.sessions).toMatchObject([
    { id: 's-3', account: 'ada@example.com', expiresAt: later(1000) },
    { id: 's-2' },
    { id: 's-1' },
  ]);
  expect((await admin.call('DELETE', '/api/sessions/s-2')).status).toBe(204);
  expect((await admin.call('DELETE', '/api/sessions/s-2')).status).toBe(404);
  expect((await admin.call('DELETE', '/api/sessions')).body).toEqual({ ended: 2 });
});

test('models are listed, and a name is explained', async () => {
  const { body } = await admin.call('GET', '/api/models');
  expect(body.models).toMatchObject([{ id: 'alpha-3-flash', target: 'alpha-3-flash' }]);
  const known = await admin.call('GET', '/api/route?model=alpha-3-pro-image-16-9');
  expect(known.body).toMatchObject({ target: 'alpha-3-pro-image', image: { aspectRatio: '16:9' } });
  const unknown = await admin.call('GET', '/api/route?model=nobody-knows');
  expect(unknown.body).toMatchObject({
    target: null,
    error: { text: expect.stringContaining('not known') },
  });
  expect((await admin.call('GET', '/api/route')).status).toBe(400);
});

test.each([
  ['exclusive', 'of Messages clients the external provider alone is asked, for "ext of gpt-9"'],
  ['pooled', 'of Messages clients the external provider takes its share, as "ext of gpt-9"'],
  [
    'fallback',
    'of Messages clients the external provider is asked for "ext of gpt-9" where no account can serve',
  ],
] as const)(
  'a name is explained with what Messages clients get of the external provider: %s',
  async (mode, text) => {
    const way = async () =>
      objectsOf((await admin.call('GET', '/api/route?model=gpt-9')).body.steps);
    const own = await way();
    admin.fakes.provider = { upstreamId: 'extprov', mode, modelFor: (asked) => `ext of ${asked}` };
    const kind = `external-${mode}`;
    expect(await way()).toEqual([...own, { kind, name: 'gpt-9', target: 'ext of gpt-9', text }]);
    admin.fakes.provider = { upstreamId: 'extprov', mode: 'off' };
    expect(await way()).toEqual(own);
  },
);

test('the upstreams that accounts can be added to are listed', async () => {
  await addTo(admin);
  expect((await admin.call('GET', '/api/upstreams')).body.upstreams).toEqual([
    {
      id: 'main',
      profile: 'generic',
      canSignIn: true,
      redirectUrl: null,
      proxy: null,
      accounts: 1,
    },
  ]);
});
