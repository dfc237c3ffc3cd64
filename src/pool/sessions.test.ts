import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createMemoryAccountStore } from '../../test/support/memory-account-store.ts';
import { createMemoryExpiringStore } from '../../test/support/memory-expiring-store.ts';
import type { QuotaReading } from '../accounts/account.ts';
import {
  createPoolBench,
  createSeededRandom,
  type PoolBench,
  type PoolBenchOptions,
} from './pool.test-support.ts';
import { SessionTable } from './sessions.ts';

const ACCOUNTS = ['a', 'b', 'c', 'd'].map((id) => ({ id }));
const cooled = (retryAfterMs: number) => ({ kind: 'rate-limited', retryAfterMs }) as const;

function benchOf(settings: PoolBenchOptions['settings'] = {}, accounts = ACCOUNTS): PoolBench {
  return createPoolBench({ accounts, settings, random: createSeededRandom(3) });
}

function exhausted(bench: PoolBench): ReadonlyMap<string, QuotaReading> {
  const fetchedAt = bench.clock.now();
  const resetsAt = fetchedAt + 3_600_000;
  return new Map([['m', { remainingFraction: 0, resetsAt, source: 'upstream', fetchedAt }]]);
}

test('20 interleaved sessions of two keys keep their accounts over 1,000 requests', () => {
  const bench = benchOf();
  const homes = new Map<string, Set<string>>();
  const random = createSeededRandom(11);
  for (let count = 0; count < 1000; count += 1) {
    const session = `s${Math.floor(random() * 10)}`;
    const clientKeyId = random() < 0.5 ? 'k' : 'other';
    const id = bench.use({ session, clientKeyId });
    const key = `${clientKeyId} ${session}`;
    homes.set(key, (homes.get(key) ?? new Set()).add(id));
  }
  expect(homes.size).toBe(20);
  for (const accounts of homes.values()) expect(accounts.size).toBe(1);
  expect(new Set([...homes.values()].flatMap((accounts) => [...accounts])).size).toBe(4);
});

test('keys never share sessions, however their names are put together', () => {
  const bench = benchOf();
  const first = bench.use({ clientKeyId: 'a b', session: 'c' });
  bench.use({ clientKeyId: 'a', session: 'b c', exclude: new Set([first]) });
  expect(bench.use({ clientKeyId: 'a b', session: 'c' })).toBe(first);
  expect(bench.pool.sessions.sessions()).toHaveLength(2);
  bench.use({ clientKeyId: 'a=b', session: 'c' });
  bench.use({ clientKeyId: 'a', session: 'b=c' });
  expect(bench.pool.sessions.sessions()).toHaveLength(4);
});

test('a short rest moves the session softly, always to the same other account, and back', async () => {
  const bench = benchOf();
  const home = bench.use({ session: 's' });
  bench.use({ session: 's' }, cooled(30_000));
  const away = new Set(Array.from({ length: 20 }, () => bench.use({ session: 's' })));
  expect(away.size).toBe(1);
  expect(away.has(home)).toBe(false);
  expect(bench.pool.sessions.sessions()).toMatchObject([
    { accountId: home, detours: [{ model: 'm', returns: true }] },
  ]);
  await bench.clock.advance(30_000);
  expect(bench.use({ session: 's' })).toBe(home);
  expect(bench.pool.sessions.sessions()).toMatchObject([{ accountId: home, detours: [] }]);
});

test('an account tried in this request keeps its session', () => {
  const bench = benchOf();
  const home = bench.use({ session: 's' });
  expect(bench.use({ session: 's', exclude: new Set([home]) })).not.toBe(home);
  expect(bench.use({ session: 's' })).toBe(home);
});

test.each<readonly [string, (bench: PoolBench, id: string) => void]>([
  ['disabled', (bench, id) => bench.book.apply(id, { kind: 'disable' })],
  ['exhausted', (bench, id) => bench.book.setQuotas(id, exhausted(bench))],
  ['cooled for long', (bench) => void bench.use({ session: 's' }, cooled(3_600_000))],
])('a session whose account is %s is bound anew, for good', (_what, harm) => {
  const bench = benchOf();
  const home = bench.use({ session: 's' });
  harm(bench, home);
  const next = bench.use({ session: 's' });
  expect(next).not.toBe(home);
  bench.book.apply(home, { kind: 'enable' });
  bench.book.apply(home, { kind: 'clear-cooldown' });
  bench.book.setQuotas(home, new Map([['m', undefined]]));
  expect(bench.use({ session: 's' })).toBe(next);
  expect(bench.pool.sessions.sessions()).toMatchObject([{ accountId: next, detours: [] }]);
});

test.each([
  [300_000, 'back to its account'],
  [300_001, 'on where it went'],
])('after a rest of %i ms a session goes %s', async (restMs, where) => {
  const bench = benchOf();
  const home = bench.use({ session: 's' });
  bench.use({ session: 's' }, cooled(restMs));
  const away = bench.use({ session: 's' });
  await bench.clock.advance(restMs);
  expect(bench.use({ session: 's' })).toBe(where === 'on where it went' ? away : home);
});

test('a session whose account keeps the rest of its quota is bound anew, for good (V150)', () => {
  const bench = createPoolBench({
    accounts: ACCOUNTS,
    random: createSeededRandom(3),
    isProtected: ({ quotas }) => (quotas.get('m')?.remainingFraction ?? 1) < 0.1,
  });
  const fetchedAt = bench.clock.now();
  const figure = (remainingFraction: number): ReadonlyMap<string, QuotaReading> => {
    const resetsAt = fetchedAt + 60_000;
    return new Map([['m', { remainingFraction, resetsAt, source: 'upstream', fetchedAt }]]);
  };
  const home = bench.use({ session: 's' });
  bench.book.setQuotas(home, figure(0.05));
  const next = bench.use({ session: 's' });
  expect(next).not.toBe(home);
  bench.book.setQuotas(home, figure(1));
  expect(bench.use({ session: 's' })).toBe(next);
  expect(bench.pool.sessions.sessions()).toMatchObject([{ accountId: next, detours: [] }]);
});

test('an account that is removed takes its sessions with it, and no other', async () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }], store: createMemoryAccountStore() });
  const credential = { kind: 'api-key', key: 'k' } as const;
  const added = { upstreamId: 'fake', label: 'new', credential, priority: 1 };
  const { id } = (await bench.book.add(added)).record;
  expect(bench.use({ session: 's' })).toBe(id);
  bench.use({ session: 't', exclude: new Set([id]) });
  await bench.book.remove(id);
  expect(bench.pool.sessions.sessions()).toMatchObject([{ label: 't', accountId: 'a' }]);
  expect(bench.use({ session: 's' })).toBe('a');
});

test('a model the home cannot serve goes elsewhere; the session’s other models stay', () => {
  const bench = benchOf();
  const home = bench.use({ session: 's' });
  expect(bench.use({ session: 's', model: 'small' })).toBe(home);
  bench.book.setQuotas(home, exhausted(bench));
  const other = bench.use({ session: 's' });
  expect(other).not.toBe(home);
  for (let count = 0; count < 10; count += 1) {
    expect(bench.use({ session: 's', model: 'small' })).toBe(home);
    expect(bench.use({ session: 's' })).toBe(other);
  }
});

test('a model the home turns out not to know goes elsewhere; the session’s other models stay', () => {
  const bench = benchOf();
  const home = bench.use({ session: 's' });
  expect(bench.use({ session: 's', model: 'small' })).toBe(home);
  const failure = { kind: 'model-not-found' } as const;
  bench.book.apply(home, { kind: 'failure', model: 'small', failure });
  const other = bench.use({ session: 's', model: 'small' });
  expect(other).not.toBe(home);
  expect(bench.use({ session: 's' })).toBe(home);
  expect(bench.pool.sessions.sessions()).toMatchObject([
    { accountId: home, detours: [{ model: 'small', accountId: other, returns: false }] },
  ]);
});

test('the fixed account serves the sessions of others and leaves them where they belong', () => {
  let fixedAccount: string | undefined;
  const bench = benchOf(() => ({ fixedAccount }));
  const home = bench.use({ session: 's' });
  fixedAccount = ACCOUNTS.map(({ id }) => id).find((id) => id !== home);
  expect(bench.use({ session: 's' })).toBe(fixedAccount);
  expect(bench.use({ session: 'new' })).toBe(fixedAccount);
  expect(bench.pool.sessions.sessions()).toMatchObject([{ accountId: home, detours: [] }]);
  fixedAccount = undefined;
  expect(bench.use({ session: 's' })).toBe(home);
});

test('a session without requests is let go after its idle time', async () => {
  const bench = benchOf({ sessionIdleMs: 1000 });
  bench.use({ session: 's' });
  await bench.clock.advance(999);
  bench.use({ session: 's' });
  await bench.clock.advance(999);
  expect(bench.pool.sessions.sessions()).toHaveLength(1);
  await bench.clock.advance(1);
  expect(bench.pool.sessions.sessions()).toEqual([]);
});

test('C3: sessions keep their accounts over a restart, detours too, each for its own key', async () => {
  const store = createMemoryExpiringStore();
  const before = createPoolBench({
    accounts: ACCOUNTS,
    random: createSeededRandom(3),
    sessionStore: store,
  });
  const names = Array.from({ length: 30 }, (_, index) => `s${index}`);
  const homes = names.map((session) => before.use({ session }));
  const other = before.use({ session: 's0', clientKeyId: 'other' });
  const failure = { kind: 'model-not-found' } as const;
  before.book.apply(homes[1] ?? '', { kind: 'failure', model: 'small', failure });
  const detour = before.use({ session: 's1', model: 'small' });
  await before.pool.close();
  const after = createPoolBench({
    accounts: ACCOUNTS,
    random: createSeededRandom(4),
    sessionStore: store,
  });
  await after.pool.loadSessions();
  expect(after.pool.sessions.sessions().flatMap(({ detours }) => detours)).toMatchObject([
    { model: 'small', accountId: detour, returns: false },
  ]);
  expect(names.map((session) => after.use({ session }))).toEqual(homes);
  expect(after.use({ session: 's0', clientKeyId: 'other' })).toBe(other);
  expect(after.pool.sessions.sessions()).toHaveLength(31);
});

test('C3: what is idle, forgotten or of an account that is gone is not taken up', async () => {
  const store = createMemoryExpiringStore();
  const first = createPoolBench({
    accounts: ACCOUNTS,
    random: createSeededRandom(3),
    sessionStore: store,
  });
  const homes = new Map(['a', 'b', 'c'].map((session) => [session, first.use({ session })]));
  const [forgotten] = first.pool.sessions.sessions();
  expect(first.pool.sessions.forget(forgotten?.id ?? '')).toBe(true);
  await first.pool.close();
  const left = ACCOUNTS.filter(({ id }) => id !== homes.get('c'));
  const second = createPoolBench({ accounts: left, sessionStore: store });
  await second.pool.loadSessions();
  expect(second.pool.sessions.sessions().map(({ label }) => label)).toEqual(
    ['b'].filter((session) => homes.get(session) !== homes.get('c')),
  );
  const third = createPoolBench({ accounts: ACCOUNTS, sessionStore: store });
  await third.clock.advance(3_600_000);
  await third.pool.loadSessions();
  expect(third.pool.sessions.sessions()).toEqual([]);
});

test('C3: a binding is saved within a moment, a busy session not with each request', async () => {
  const saved: string[] = [];
  const store = {
    ...createMemoryExpiringStore(),
    save: async (rows: readonly { readonly json: string }[]) =>
      void saved.push(...rows.map(({ json }) => json)),
  };
  const bench = createPoolBench({ accounts: ACCOUNTS, sessionStore: store });
  bench.use({ session: 'busy' });
  await bench.clock.advance(250);
  expect(saved).toHaveLength(1);
  for (let count = 0; count < 100; count += 1) {
    bench.use({ session: 'busy' });
    await bench.clock.advance(1000);
  }
  expect(saved).toHaveLength(1);
  await bench.clock.advance(300_000);
  bench.use({ session: 'busy' });
  await bench.clock.advance(250);
  expect(saved).toHaveLength(2);
});

test('C3: a store that fails keeps nobody from being served', async () => {
  const store = {
    load: () => Promise.reject(new Error('no')),
    save: () => Promise.reject(new Error('no')),
  };
  const bench = createPoolBench({ accounts: ACCOUNTS, sessionStore: store });
  await bench.pool.loadSessions();
  const home = bench.use({ session: 's' });
  await bench.clock.advance(1000);
  expect(bench.use({ session: 's' })).toBe(home);
  await bench.pool.close();
});

test('beyond the cap the longest unused sessions are let go', () => {
  let now = 0;
  const table = new SessionTable({
    clock: { ...createFakeClock(), now: () => now },
    idleMs: () => 100,
    maxEntries: 2,
  });
  const binding = { home: 'a', models: ['m'], detours: new Map() };
  const name = (session: string) => ({ clientKeyId: 'k', session });
  for (const session of ['1', '2', '1', '3']) {
    now += 1;
    table.keep(name(session), binding);
  }
  const found = () => ['1', '2', '3'].map((session) => table.find(name(session)) !== undefined);
  expect(found()).toEqual([true, false, true]);
  // The first was kept at 3, the last at 4.
  now = 103;
  expect(found()).toEqual([false, false, true]);
  expect(table.forgetAll()).toBe(1);
});

test('long names are told apart by all of them', () => {
  const bench = benchOf();
  const name = 'x'.repeat(1000);
  const home = bench.use({ session: `${name}1` });
  bench.use({ session: `${name}2`, exclude: new Set([home]) });
  bench.use({ session: name.slice(0, 128), exclude: new Set([home]) });
  expect(bench.use({ session: `${name}1` })).toBe(home);
  expect(bench.pool.sessions.sessions()).toHaveLength(3);
});

test('an operator sees sessions without the key or the whole name, and can end one', () => {
  const bench = benchOf();
  const session = 'user_secret-name-of-a-session'.repeat(50);
  bench.use({ session, clientKeyId: 'sk-key' });
  const listed = bench.pool.sessions.sessions();
  expect(listed).toMatchObject([{ label: 'user_secret-…', detours: [] }]);
  expect(JSON.stringify(listed)).not.toMatch(/sk-key|secret-name/);
  expect(bench.pool.sessions.forget(listed[0]?.id ?? '')).toBe(true);
  expect(bench.pool.sessions.forget(listed[0]?.id ?? '')).toBe(false);
  expect(bench.pool.sessions.sessions()).toEqual([]);
  for (const name of ['1', '2', '3']) bench.use({ session: name });
  expect([bench.pool.sessions.forgetAll(), bench.pool.sessions.forgetAll()]).toEqual([3, 0]);
});

test('performance-first binds nothing', () => {
  const bench = benchOf({ mode: 'performance-first' });
  const used = new Set(Array.from({ length: 20 }, () => bench.use({ session: 's' })));
  expect(used.size).toBeGreaterThan(1);
  expect(bench.pool.sessions.sessions()).toEqual([]);
});

test('a dry run binds no session and is no use of the account', () => {
  const bench = benchOf();
  const dryRun = bench.lease({ session: 's', isDryRun: true });
  dryRun.release({ kind: 'neutral' });
  expect(bench.pool.sessions.sessions()).toEqual([]);
  expect(bench.pool.lastUsedAt(dryRun.account.id)).toBeUndefined();
  expect(bench.pool.lastUsedAt(bench.use())).toBe(bench.clock.now());
});

test('cache-first waits for the session’s account while its rest fits the patience left', async () => {
  const bench = benchOf({ mode: 'cache-first', maxWaitMs: 60_000 });
  const home = bench.use({ session: 's' });
  bench.use({ session: 's' }, cooled(40_000));
  expect(bench.ask({ session: 's' })).toMatchObject({ kind: 'wait', waitMs: 40_000 });
  expect(bench.ask({ session: 's', waitedMs: 20_000 })).toMatchObject({ kind: 'wait' });
  expect(bench.use({ session: 's', waitedMs: 20_001 })).not.toBe(home);
  expect(bench.use({ session: 's', waitedMs: Number.POSITIVE_INFINITY })).not.toBe(home);
  await bench.clock.advance(40_000);
  expect(bench.use({ session: 's', waitedMs: 40_000 })).toBe(home);
});

test('cache-first waits for nobody else: other sessions, fixed, preferred and tried accounts', () => {
  const bench = benchOf({ mode: 'cache-first' });
  const home = bench.use({ session: 's' });
  bench.use({ session: 's' }, cooled(10_000));
  expect(bench.ask({ session: 'other' }).kind).toBe('lease');
  expect(bench.ask({}).kind).toBe('lease');
  const away = ACCOUNTS.find(({ id }) => id !== home)?.id ?? '';
  expect(bench.use({ session: 's', preferredAccount: `${away}@example.org` })).toBe(away);

  const tried = benchOf({ mode: 'cache-first' });
  const first = tried.use({ session: 's' });
  expect(tried.ask({ session: 's', exclude: new Set([first]) }).kind).toBe('lease');

  let fixedAccount: string | undefined;
  const fixed = benchOf(() => ({ mode: 'cache-first', fixedAccount }));
  fixed.use({ session: 's' });
  fixed.use({ session: 's' }, cooled(10_000));
  fixedAccount = ACCOUNTS.find(({ id }) => id !== fixed.pool.sessions.sessions()[0]?.accountId)?.id;
  expect(fixed.use({ session: 's' })).toBe(fixedAccount);
});

test('cache-first with no other account left waits rather than gives up', () => {
  const bench = benchOf({ mode: 'cache-first' }, [{ id: 'a' }]);
  bench.use({ session: 's' });
  bench.use({ session: 's' }, cooled(10_000));
  expect(bench.ask({ session: 's' })).toMatchObject({ kind: 'wait', waitMs: 10_000 });
  expect(bench.ask({})).toMatchObject({ kind: 'none', reason: 'limited', retryAfterMs: 10_000 });
});
