import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createFakeUpstream } from '../../test/support/fake-upstream.ts';
import { createMemoryAccountStore } from '../../test/support/memory-account-store.ts';
import type { QuotaReading } from '../accounts/account.ts';
import { createPoolBench, createSeededRandom, type PoolBench } from './pool.test-support.ts';

const LIMITED = { kind: 'rate-limited', retryAfterMs: 30_000 } as const;

function readingOf(bench: PoolBench, remainingFraction: number, resetsInMs?: number): QuotaReading {
  const now = bench.clock.now();
  const resetsAt = resetsInMs === undefined ? undefined : now + resetsInMs;
  return { remainingFraction, resetsAt, source: 'upstream', fetchedAt: now };
}

test('priority comes before tier, and tier before chance', () => {
  const bench = createPoolBench({
    accounts: [
      { id: 'free', tier: 'free', priority: 2 },
      { id: 'ultra', tier: 'ultra', priority: 1 },
      { id: 'pro', tier: 'pro', priority: 2 },
      { id: 'plain', priority: 2 },
    ],
  });
  expect(bench.use()).toBe('pro');
  expect(bench.use({ exclude: new Set(['pro']) })).toBe('free');
  expect(bench.use({ exclude: new Set(['pro', 'free']) })).toBe('plain');
  expect(bench.use({ exclude: new Set(['pro', 'free', 'plain']) })).toBe('ultra');
});

test('a tier asked for comes before priority, and is a wish', () => {
  const bench = createPoolBench({
    accounts: [
      { id: 'low', tier: 'pro', priority: 1 },
      { id: 'high', tier: 'ultra', priority: 9 },
    ],
  });
  expect(bench.use({ preferredTier: 'pro' })).toBe('low');
  expect(bench.use({ preferredTier: 'free' })).toBe('high');
  expect(bench.verdicts({ preferredTier: 'pro' })).toEqual({
    low: 'chosen (of the requested tier)',
    high: 'another was preferred',
  });
});

test('a preferred account is followed in any case, and one that is unknown or unusable is not', () => {
  const bench = createPoolBench({ accounts: [{ id: 'a', priority: 1 }, { id: 'b' }] });
  expect(bench.use({ preferredAccount: 'B@Example.org' })).toBe('b');
  expect(bench.lease({ preferredAccount: 'b@example.org' }).preferenceFollowed).toBe(true);
  const unknown = bench.lease({ preferredAccount: 'x@example.org' });
  bench.book.apply('b', { kind: 'disable' });
  const unusable = bench.lease({ preferredAccount: 'b@example.org' });
  for (const lease of [unknown, unusable]) {
    expect([lease.account.id, lease.preferenceFollowed]).toEqual(['a', false]);
  }
});

test('where one account alone may serve it, no other does, and its own trouble is told', () => {
  const bench = createPoolBench({
    accounts: [{ id: 'a', priority: 9 }, { id: 'b' }],
    settings: { fixedAccount: 'a' },
  });
  const only = { onlyAccount: 'B@Example.org' };
  expect(bench.use(only)).toBe('b');
  expect(bench.ask({ ...only, exclude: new Set(['b']) })).toMatchObject({
    kind: 'none',
    reason: 'all-tried',
  });
  bench.book.apply('b', { kind: 'disable' });
  expect(bench.ask(only)).toEqual({
    kind: 'none',
    reason: 'unusable',
    selectionLog: [{ accountId: 'b', verdict: 'disabled by hand' }],
  });
});

test.each(['b', 'B@example.org'])(
  'the fixed account %s gets every request while it can be used',
  async (fixedAccount) => {
    const bench = createPoolBench({
      accounts: [{ id: 'a', priority: 9, tier: 'ultra' }, { id: 'b' }],
      settings: { fixedAccount },
    });
    expect(bench.use()).toBe('b');
    expect(bench.use({ preferredAccount: 'a@example.org', session: 's' })).toBe('b');
    bench.use({}, LIMITED);
    expect(bench.use()).toBe('a');
    await bench.clock.advance(30_000);
    expect(bench.use()).toBe('b');
    bench.book.apply('b', { kind: 'disable' });
    expect(bench.use({ session: 's' })).toBe('a');
  },
);

test('of two accounts the one with clearly more quota left of that model is taken', () => {
  const bench = createPoolBench({
    accounts: [
      { id: 'less', remaining: 0.5 },
      { id: 'more', remaining: 0.56 },
    ],
  });
  bench.book.setQuotas('less', new Map([['other', readingOf(bench, 1)]]));
  expect([1, 2, 3].map(() => bench.use())).toEqual(['more', 'more', 'more']);
  bench.book.setQuotas('more', new Map([['m', readingOf(bench, 0.54)]]));
  expect(new Set([1, 2].map(() => bench.use()))).toEqual(new Set(['more', 'less']));
});

test('what is left of a rate limit ranks accounts, and none is kept out for it, nor by protection', () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }, { id: 'b' }], isProtected: () => true });
  const rate = (share: number) => ({ ...readingOf(bench, share, 60_000), source: 'rate' as const });
  bench.book.setQuotas('a', new Map([['m', rate(0)]]));
  bench.book.setQuotas('b', new Map([['m', rate(0.4)]]));
  expect([1, 2, 3].map(() => bench.use())).toEqual(['b', 'b', 'b']);
  expect(bench.use({ exclude: new Set(['b']) })).toBe('a');
  expect(bench.book.find('a')?.health.models.size).toBe(0);
});

test('among equals the one with less to do is taken, then the longer unused', () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }, { id: 'b' }] });
  const first = bench.lease();
  const second = bench.lease();
  expect([first.account.id, second.account.id]).toEqual(['a', 'b']);
  first.release({ kind: 'success' });
  expect(bench.use()).toBe('a');
  second.release({ kind: 'success' });
  expect([1, 2, 3].map(() => bench.use())).toEqual(['b', 'a', 'b']);
  // The one that is busy was used longer ago, and is passed over all the same.
  expect(bench.lease().account.id).toBe('a');
  expect([1, 2, 3].map(() => bench.use())).toEqual(['b', 'b', 'b']);
});

test('load spreads over equals: of 1,000 requests to 10 accounts each gets its part', () => {
  const accounts = Array.from({ length: 10 }, (_, index) => ({ id: `a${index}` }));
  const bench = createPoolBench({ accounts, random: createSeededRandom(7) });
  const counts = new Map<string, number>();
  for (let count = 0; count < 1000; count += 1) {
    const id = bench.use();
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  expect(counts.size).toBe(10);
  for (const count of counts.values()) expect(count).toBeGreaterThan(70);
});

test('an account without quota is not used until its reset, then without new figures', async () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }] });
  bench.book.setQuotas('a', new Map([['m', readingOf(bench, 0, 60_000)]]));
  expect(bench.ask()).toMatchObject({ kind: 'none', reason: 'limited', retryAfterMs: 60_000 });
  expect(bench.use({ model: 'other' })).toBe('a');
  await bench.clock.advance(60_000);
  expect(bench.use()).toBe('a');
});

test('where nobody says when a quota is whole again clients come back when it was read again', async () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }, { id: 'b' }] });
  for (const id of ['a', 'b']) bench.book.setQuotas(id, new Map([['m', readingOf(bench, 0)]]));
  const soon = { kind: 'none', reason: 'limited', retryAfterMs: 300_000 };
  expect(bench.ask()).toMatchObject(soon);
  expect(bench.ask({ onlyAccount: 'a@example.org' })).toMatchObject(soon);
  bench.book.setQuotas('b', new Map([['m', readingOf(bench, 0, 60_000)]]));
  expect(bench.ask()).toMatchObject({ reason: 'limited', retryAfterMs: 60_000 });
  await bench.clock.advance(24 * 3_600_000);
  expect(bench.ask({ onlyAccount: 'a@example.org' }).kind).toBe('lease');
});

test('a protected account is not used for that model until its figure is good again', async () => {
  const bench = createPoolBench({
    accounts: [
      { id: 'a', priority: 1, remaining: 0.5 },
      { id: 'b', remaining: 0.5 },
    ],
    isProtected: ({ quotas }, { modelId, routedModel }) =>
      routedModel === 'm' && (quotas.get(modelId)?.remainingFraction ?? 1) < 0.1,
  });
  expect(bench.use({ session: 's' })).toBe('a');
  bench.book.setQuotas('a', new Map([['m', readingOf(bench, 0.0999, 60_000)]]));
  bench.book.setQuotas('a', new Map([['other', readingOf(bench, 0.01)]]));
  expect(bench.use({ session: 's' })).toBe('b');
  expect(bench.use({ preferredAccount: 'a@example.org' })).toBe('b');
  expect(bench.use({ model: 'other' })).toBe('a');
  expect(bench.verdicts()).toMatchObject({ a: 'reserves the rest of its quota (protection)' });
  bench.book.setQuotas('b', new Map([['m', readingOf(bench, 0)]]));
  expect(bench.ask()).toMatchObject({ kind: 'none', reason: 'limited', retryAfterMs: 60_000 });
  bench.book.setQuotas('a', new Map([['m', readingOf(bench, 0.1)]]));
  expect(bench.use()).toBe('a');
  bench.book.setQuotas('a', new Map([['m', readingOf(bench, 0.01, 60_000)]]));
  await bench.clock.advance(60_000);
  expect(bench.use()).toBe('a');
});

test('changed rules act on the next request', () => {
  let threshold = 0;
  const bench = createPoolBench({
    accounts: [{ id: 'a', remaining: 0.5 }],
    isProtected: ({ quotas }) => (quotas.get('m')?.remainingFraction ?? 1) < threshold,
    rulesVersion: () => threshold,
  });
  expect(bench.use()).toBe('a');
  threshold = 0.6;
  expect(bench.ask().kind).toBe('none');
  threshold = 0.5;
  expect(bench.use()).toBe('a');
});

test('removed and disabled accounts are never given out, whatever asks for them', async () => {
  const bench = createPoolBench({ accounts: [{ id: 'a', priority: 1 }, { id: 'b' }] });
  const request = { session: 's', preferredAccount: 'a@example.org' };
  const lease = bench.lease(request);
  bench.book.apply('a', { kind: 'disable' });
  expect(bench.use(request)).toBe('b');
  const access = lease.access({ refresh: false, signal: new AbortController().signal });
  await expect(access).rejects.toMatchObject({ failure: { kind: 'credential-revoked' } });
  lease.release({ kind: 'failure', failure: { kind: 'credential-revoked' } });
  expect(bench.book.find('a')?.health).toMatchObject({
    revocations: 0,
    status: { reason: 'manual' },
  });
  bench.book.apply('b', { kind: 'disable' });
  expect(bench.ask(request)).toMatchObject({ kind: 'none', reason: 'unusable' });
  bench.book.apply('a', { kind: 'enable' });
  expect(bench.use(request)).toBe('a');
});

test('an account of an upstream that is not configured is passed over and says so', () => {
  const upstreams = new Map();
  const bench = createPoolBench({ accounts: [{ id: 'a' }], upstreams });
  expect(bench.ask()).toMatchObject({ kind: 'none', reason: 'unusable' });
  expect(bench.verdicts()).toEqual({ a: 'its upstream fake is not configured' });
});

test('a disabled account of an upstream that is gone is no reason why a model cannot be had', () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }], upstreams: new Map() });
  bench.book.apply('a', { kind: 'disable' });
  expect(bench.ask()).toMatchObject({ kind: 'none', reason: 'not-offered' });
  expect(bench.verdicts()).toEqual({ a: 'its upstream fake is not configured' });
});

test('an account whose upstream is gone is no reason why another upstream lacks a model', () => {
  const upstream = createFakeUpstream(() => ({ frames: [] }));
  const accounts = [{ id: 'a' }, { id: 'left', upstreamId: 'gone' }];
  const bench = createPoolBench({ accounts, upstreams: new Map([['fake', upstream]]) });
  bench.book.setModels('a', new Map([['m', { id: 'm' }]]));
  const request = { model: 'retired', upstreamId: 'fake' };
  expect(bench.ask(request)).toMatchObject({ kind: 'none', reason: 'not-offered' });
});

test('every account tried is told apart from none usable', () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }, { id: 'b' }] });
  expect(bench.ask({ exclude: new Set(['a', 'b']) })).toEqual({
    kind: 'none',
    reason: 'all-tried',
    selectionLog: [
      { accountId: 'a', verdict: 'already tried' },
      { accountId: 'b', verdict: 'already tried' },
    ],
  });
  expect(createPoolBench({ accounts: [] }).ask()).toMatchObject({ reason: 'no-accounts' });
});

test('what was no longer so when nothing was left is not told', async () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }] });
  bench.use({}, LIMITED);
  expect(bench.ask()).toMatchObject({ kind: 'none', reason: 'limited' });
  await bench.clock.advance(30_000);
  expect(bench.use()).toBe('a');
  bench.book.apply('a', { kind: 'disable' });
  expect(bench.ask()).toEqual({
    kind: 'none',
    reason: 'unusable',
    retryAfterMs: undefined,
    selectionLog: [{ accountId: 'a', verdict: 'disabled by hand' }],
  });
});

test('why this account: each of a few accounts has its verdict', () => {
  const bench = createPoolBench({
    accounts: [
      { id: 'best', priority: 2, tier: 'pro' },
      { id: 'low', priority: 1, tier: 'ultra' },
      { id: 'tier', priority: 2, tier: 'free' },
      { id: 'cooling', priority: 3 },
      { id: 'off', priority: 3 },
      { id: 'tried', priority: 3 },
    ],
  });
  bench.use({ exclude: new Set(['off', 'tried']) }, LIMITED);
  bench.book.apply('off', { kind: 'disable' });
  expect(bench.verdicts({ exclude: new Set(['tried']) })).toEqual({
    best: 'chosen',
    low: 'has a lower priority',
    tier: 'is of a lower tier',
    cooling: 'reached its limit (rate)',
    off: 'disabled by hand',
    tried: 'already tried',
  });
});

test('a refresh that is refused is the account’s failure, and only what can be renewed is', async () => {
  const bench = createPoolBench({
    accounts: [{ id: 'a' }],
    tokens: { accessFor: () => Promise.reject(new Error('refused')) },
  });
  const lease = bench.lease();
  expect(lease.canRefresh).toBe(false);
  const { signal } = new AbortController();
  await expect(lease.access({ refresh: true, signal })).rejects.toThrow('refused');
  lease.release({ kind: 'failure', failure: { kind: 'credential-revoked' } });
  lease.release({ kind: 'failure', failure: { kind: 'credential-revoked' } });
  expect(bench.book.find('a')?.health.revocations).toBe(1);
});

test('an account moved up, renamed or given another tier is chosen by what it is now', async () => {
  const bench = createPoolBench({
    accounts: [{ id: 'seed', priority: 1 }],
    store: createMemoryAccountStore(),
  });
  const credential = { kind: 'oauth', refreshToken: 'r' } as const;
  const { id } = (await bench.book.add({ upstreamId: 'fake', label: 'new', credential })).record;
  expect(bench.lease({ preferredAccount: 'NEW' }).canRefresh).toBe(true);
  expect(bench.use()).toBe('seed');
  await bench.book.change(id, { priority: 2, label: 'renamed' });
  expect(bench.use()).toBe(id);
  expect(bench.lease({ preferredAccount: 'new' }).preferenceFollowed).toBe(false);
  expect(bench.lease({ preferredAccount: 'renamed' }).preferenceFollowed).toBe(true);
  await bench.book.change(id, { priority: 0 });
  expect(bench.use({ preferredAccount: 'new' })).toBe('seed');
  expect(bench.use({ preferredAccount: 'Renamed' })).toBe(id);
  await bench.book.remove(id);
  expect(bench.use()).toBe('seed');
  expect(bench.verdicts()).toEqual({ seed: 'chosen' });
});

test('an account’s list is read without regard to case, the exact id first', () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }] });
  const list = (...ids: readonly string[]) =>
    bench.book.setModels('a', new Map(ids.map((id) => [id, { id }])));
  list('M', 'n');
  expect(bench.lease().modelId).toBe('M');
  list('M', 'm');
  expect(bench.lease().modelId).toBe('m');
  list('n');
  expect(bench.ask()).toMatchObject({ kind: 'none', reason: 'not-offered' });
});

test('a model that no account can serve for a minute or more is told, unless that is meant', async () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }, { id: 'b' }] });
  const list = (id: string, ...ids: readonly string[]) =>
    bench.book.setModels(id, new Map(ids.map((model) => [model, { id: model }])));
  const unserved = () => bench.pool.unservedModels(9);
  list('a', 'm', 'n');
  list('b', 'M');
  expect(unserved()).toEqual([]);
  bench.book.setQuotas('a', new Map(['m', 'n'].map((id) => [id, readingOf(bench, 0, 90_000)])));
  expect(unserved()).toEqual(['n']);
  await bench.clock.advance(31_000);
  expect(unserved()).toEqual([]);
  const suspended = { kind: 'failure', model: 'm', failure: { kind: 'forbidden' } } as const;
  bench.book.apply('a', suspended);
  expect(unserved()).toEqual(['n']);
  bench.book.apply('b', suspended);
  expect(unserved()).toEqual(['M', 'm', 'n']);
  expect(bench.pool.unservedModels(2)).toEqual(['M', 'm']);
  bench.book.apply('a', { kind: 'disable' });
  expect(unserved()).toEqual(['M']);
});

test('models that are served by name only are asked for by that name', () => {
  const played = createFakeUpstream(() => ({ frames: [] }));
  const named = { ...played, id: 'named', servesByNameOnly: true };
  const bench = createPoolBench({
    accounts: [{ id: 'a' }, { id: 'b', upstreamId: 'named' }],
    upstreams: new Map([
      ['fake', played],
      ['named', named],
    ]),
  });
  bench.book.setModels('a', new Map([['m', { id: 'm' }]]));
  bench.book.setModels('b', new Map(['m', 'n'].map((id) => [id, { id }])));
  const unserved = () => bench.pool.unservedModels(9);
  expect(unserved()).toEqual([]);
  const suspended = { kind: 'failure', model: 'm', failure: { kind: 'forbidden' } } as const;
  bench.book.apply('b', suspended);
  expect(unserved()).toEqual(['named/m', 'named/n']);
  bench.book.apply('a', suspended);
  expect(unserved()).toEqual(['m', 'named/m', 'named/n']);
});

test('an upstream that is only guessed to have the model comes behind those that list it', () => {
  const played = createFakeUpstream(() => ({ frames: [] }));
  const upstreams = ['known', 'mute'].map((id) => [id, { ...played, id }] as const);
  const bench = createPoolBench({
    accounts: [
      { id: 'listed', upstreamId: 'known', tier: 'free' },
      { id: 'sibling', upstreamId: 'known', tier: 'free' },
      { id: 'guessed', upstreamId: 'mute', tier: 'ultra' },
    ],
    upstreams: new Map(upstreams),
  });
  bench.book.setModels('listed', new Map([['m', { id: 'm' }]]));
  const served = new Set(Array.from({ length: 40 }, () => bench.use()));
  expect(served).toEqual(new Set(['listed', 'sibling']));
  expect(bench.verdicts()).toMatchObject({ guessed: 'may not have the model' });
  expect(bench.use({ exclude: new Set(['listed', 'sibling']) })).toBe('guessed');
  expect(bench.use({ model: 'other' })).not.toBe('listed');
});

test('nothing of the request that asked first for a model outlives it', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const bench = createPoolBench({ accounts: [{ id: 'a' }] });
  const ask = (): WeakRef<object> => {
    const exclude = new Set<string>();
    bench.use({ exclude });
    return new WeakRef(exclude);
  };
  const asked = ask();
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect(asked.deref()).toBeUndefined();
});
