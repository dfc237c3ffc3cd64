import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createFakeUpstream } from '../../test/support/fake-upstream.ts';
import { createSeedPool, type SeedPool } from '../../test/support/seed-pool.ts';
import { GatewayError } from '../canonical/error.ts';
import type { UpstreamModel } from '../canonical/model.ts';

interface Bench extends SeedPool {
  readonly clock: ReturnType<typeof createFakeClock>;
  readonly asked: string[];
}

function benchOf(
  listModels: (accountId: string) => Promise<readonly UpstreamModel[]>,
  accounts = ['a'],
): Bench {
  const clock = createFakeClock();
  const asked: string[] = [];
  const upstream = {
    ...createFakeUpstream(() => ({ fail: { kind: 'path' } })),
    listModels({ accountId }: { accountId: string }) {
      asked.push(accountId);
      return listModels(accountId);
    },
  };
  const seeds = accounts.map((id) => ({ id }));
  return { ...createSeedPool({ accounts: seeds, upstream, clock }), clock, asked };
}

const leaseOf = ({ pool }: Bench, model: string) =>
  pool.lease({ model, exclude: new Set(), clientKeyId: 'k' });

test('a list limits the account to the models it names', async () => {
  const bench = benchOf(async () => [{ id: 'm', inputTokenLimit: 7 }]);
  await bench.pool.ensureModels();
  expect(bench.pool.offered.isComplete).toBe(true);
  expect([...bench.pool.offered]).toEqual(['m']);
  expect(bench.pool.describe('m')?.inputTokenLimit).toBe(7);
  expect(leaseOf(bench, 'm').kind).toBe('lease');
  expect(leaseOf(bench, 'other')).toMatchObject({ kind: 'none', reason: 'not-offered' });
});

test('of a list without end ten thousand models are known', async () => {
  const listed = Array.from({ length: 30_000 }, (_, at) => ({ id: `m${at}` }));
  const bench = benchOf(async () => listed);
  await bench.pool.ensureModels();
  expect([...bench.pool.offered]).toHaveLength(10_000);
});

test('a list without any model says nothing, so the account may offer everything', async () => {
  const bench = benchOf(async () => []);
  await bench.pool.ensureModels();
  expect(bench.pool.offered.isComplete).toBe(false);
  expect(leaseOf(bench, 'other').kind).toBe('lease');
});

test('an account that stands by and was never asked does not make every name a known one', async () => {
  const bench = benchOf(async () => [{ id: 'm' }], ['real', 'made-up']);
  const [, standIn] = bench.book.list();
  bench.book.apply(standIn?.record.id ?? '', { kind: 'stand-by' });
  await bench.pool.ensureModels();
  expect(bench.asked).toEqual(['real']);
  expect(bench.pool.offered.isComplete).toBe(true);
});

test('an account whose upstream is gone does not make every name a known one until that is there again', () => {
  const upstream = createFakeUpstream(() => ({ fail: { kind: 'path' } }));
  const upstreams = new Map([[upstream.id, upstream]]);
  const accounts = [{ id: 'left' }];
  const { pool } = createSeedPool({ accounts, upstream, upstreams, clock: createFakeClock() });
  const find = () => [pool.offered.isComplete, pool.offered.revision !== undefined];
  expect(find()).toEqual([false, false]);
  upstreams.delete(upstream.id);
  expect(find()).toEqual([true, true]);
  upstreams.set(upstream.id, upstream);
  expect(find()).toEqual([false, false]);
});

test('an account that serves by the name of its upstream alone takes no name of others with it when both go', () => {
  const upstream = createFakeUpstream(() => ({ fail: { kind: 'path' } }));
  const named = { ...upstream, id: 'named', servesByNameOnly: true };
  const upstreams = new Map([upstream, named].map((one) => [one.id, one]));
  const accounts = [{ id: 'a' }, { id: 'b', upstreamId: 'named' }];
  const { pool, book } = createSeedPool({
    ...{ accounts, upstream, upstreams, clock: createFakeClock() },
  });
  for (const { id } of accounts) book.setModels(id, new Map([['m', { id: 'm' }]]));
  upstreams.delete('named');
  book.removeSeed('b');
  expect([...pool.offered]).toEqual(['m']);
});

test('lists are read once, and again in the background when five minutes old', async () => {
  const bench = benchOf(async () => [{ id: 'm' }], ['a', 'b']);
  await bench.pool.ensureModels();
  expect(bench.pool.ensureModels()).toBeUndefined();
  await bench.clock.advance(299_999);
  expect(bench.pool.ensureModels()).toBeUndefined();
  expect(bench.asked).toEqual(['a', 'b']);
  await bench.clock.advance(1);
  expect(bench.pool.ensureModels()).toBeUndefined();
  await bench.clock.advance(0);
  expect(bench.asked).toEqual(['a', 'b', 'a', 'b']);
});

test('a list that cannot be read is unknown, and asked for again soon', async () => {
  const bench = benchOf(() => Promise.reject(new Error('no list')));
  await bench.pool.ensureModels();
  expect(bench.pool.ensureModels()).toBeUndefined();
  expect(leaseOf(bench, 'any').kind).toBe('lease');
  await bench.clock.advance(29_999);
  expect(bench.pool.ensureModels()).toBeUndefined();
  expect(bench.asked).toEqual(['a']);
  await bench.clock.advance(1);
  expect(bench.pool.ensureModels()).toBeUndefined();
  await bench.clock.advance(0);
  expect(bench.asked).toEqual(['a', 'a']);
});

test('a server that is started later has its models soon, and is then asked no more than others', async () => {
  let isDown = true;
  const bench = benchOf(async () => {
    if (isDown) throw new Error('nobody listens');
    return [{ id: 'm' }];
  });
  await bench.pool.ensureModels();
  isDown = false;
  for (let second = 0; second < 60; second += 1) {
    bench.pool.ensureModels();
    await bench.clock.advance(1000);
  }
  expect([...bench.pool.offered]).toEqual(['m']);
  expect(bench.asked).toEqual(['a', 'a']);
});

test('a slow list holds requests for what others offer up for a second, and other requests for five', async () => {
  const bench = benchOf(
    (id) => (id === 'a' ? Promise.resolve([{ id: 'm' }]) : new Promise(() => {})),
    ['a', 'b'],
  );
  const passed: string[] = [];
  for (const model of ['m', 'fake/m', 'other', 'fake/other', 'v/m']) {
    void bench.pool.ensureModels(model)?.then(() => passed.push(model));
  }
  await bench.clock.advance(999);
  expect(passed).toEqual([]);
  await bench.clock.advance(1);
  expect(passed).toEqual(['m', 'fake/m']);
  await bench.clock.advance(3_999);
  expect(passed).toEqual(['m', 'fake/m']);
  await bench.clock.advance(1);
  expect(passed).toEqual(['m', 'fake/m', 'other', 'fake/other', 'v/m']);
});

test('a list that was read once counts on while it cannot be read again', async () => {
  let isDown = false;
  const bench = benchOf(async () => {
    if (isDown) throw new Error('no list');
    return [{ id: 'm' }];
  });
  await bench.pool.ensureModels();
  isDown = true;
  await bench.clock.advance(300_000);
  bench.pool.ensureModels();
  await bench.clock.advance(0);
  expect(bench.asked).toEqual(['a', 'a']);
  expect([...bench.pool.offered]).toEqual(['m']);
});

test('a slow list holds nobody up for more than five seconds', async () => {
  const bench = benchOf(
    (id) => (id === 'a' ? new Promise(() => {}) : Promise.resolve([{ id: 'm' }])),
    ['a', 'b'],
  );
  let isReady = false;
  void bench.pool.ensureModels()?.then(() => {
    isReady = true;
  });
  await bench.clock.advance(4999);
  expect(isReady).toBe(false);
  await bench.clock.advance(1);
  expect(isReady).toBe(true);
  expect(bench.pool.ensureModels()).toBeUndefined();
  await bench.pool.close();
});

test('a list that is too slow is told as that, not as a fault of the gateway', async () => {
  const failures: unknown[] = [];
  const clock = createFakeClock();
  const upstream = {
    ...createFakeUpstream(() => ({ frames: [] })),
    listModels: () => Promise.reject(new DOMException('Too slow', 'TimeoutError')),
  };
  const { pool } = createSeedPool({
    ...{ accounts: [{ id: 'a' }], upstream, clock },
    onModelListFailure: ({ error, isRepeated }) => failures.push({ error, isRepeated }),
  });
  await pool.ensureModels();
  await clock.advance(30_000);
  pool.ensureModels();
  await clock.advance(0);
  const error = { kind: 'timeout', message: 'The upstream did not answer in time.' };
  expect(failures).toMatchObject([
    { error, isRepeated: false },
    { error, isRepeated: true },
  ]);
  await pool.close();
});

test('the slow list of an account that comes later holds nobody up for more than a second', async () => {
  const bench = benchOf(
    (id) => (id === 'b' ? new Promise(() => {}) : Promise.resolve([{ id: 'm' }])),
    ['a', 'b'],
  );
  bench.book.apply('b', { kind: 'disable' });
  await bench.pool.ensureModels();
  bench.book.apply('b', { kind: 'enable' });
  let isReady = false;
  void bench.pool.ensureModels()?.then(() => {
    isReady = true;
  });
  await bench.clock.advance(999);
  expect(isReady).toBe(false);
  await bench.clock.advance(1);
  expect(isReady).toBe(true);
  await bench.pool.close();
});

test('a disabled account is asked for its list only once it is enabled', async () => {
  const bench = benchOf(async () => [{ id: 'm' }]);
  bench.book.apply('a', { kind: 'disable' });
  expect(bench.pool.ensureModels()).toBeUndefined();
  await bench.clock.advance(10);
  expect(bench.asked).toEqual([]);
  bench.book.apply('a', { kind: 'enable' });
  await bench.clock.advance(10);
  expect(bench.asked).toEqual(['a']);
});

test('an account with a new credential is asked for its list anew, and its old one counts no more', async () => {
  let models = [{ id: 'old' }];
  const bench = benchOf(async () => models);
  await bench.pool.ensureModels();
  models = [{ id: 'new' }];
  bench.book.apply('a', { kind: 'reauthenticated' });
  expect([...bench.pool.offered]).toEqual([]);
  await bench.pool.ensureModels('new');
  expect([...bench.pool.offered]).toEqual(['new']);
  expect(bench.asked).toEqual(['a', 'a']);
});

test('a list that comes late of an upstream that was changed meanwhile is not taken', async () => {
  const late = Promise.withResolvers<readonly UpstreamModel[]>();
  const clock = createFakeClock();
  const fake = createFakeUpstream(() => ({ fail: { kind: 'path' } }));
  const before = { ...fake, listModels: () => late.promise };
  const latest = { ...fake, listModels: async () => [{ id: 'new' }] };
  const upstreams = new Map([[fake.id, before]]);
  const { pool, book } = createSeedPool({
    ...{ accounts: [{ id: 'a' }], upstream: before, upstreams, clock },
  });
  void pool.ensureModels();
  await clock.advance(0);
  upstreams.set(fake.id, { ...before, ...latest });
  book.apply('a', { kind: 'reauthenticated' });
  await clock.advance(0);
  late.resolve([{ id: 'old' }]);
  await clock.advance(0);
  expect([...pool.offered]).toEqual(['new']);
});

test('many lists are read a few at a time', async () => {
  let running = 0;
  let most = 0;
  const accounts = Array.from({ length: 40 }, (_, index) => `a${index}`);
  const bench = benchOf(async () => {
    running += 1;
    most = Math.max(most, running);
    await Promise.resolve();
    running -= 1;
    return [{ id: 'm' }];
  }, accounts);
  await bench.pool.ensureModels();
  expect([most, bench.asked.length]).toEqual([16, 40]);
});

test('a revoked credential found while reading a list counts against the account', async () => {
  const failure = { kind: 'credential-revoked' } as const;
  const revoked = new GatewayError({
    kind: 'upstream-auth',
    source: 'upstream',
    message: 'x',
    failure,
  });
  const bench = benchOf(() => Promise.reject(revoked));
  await bench.pool.ensureModels();
  expect(bench.book.find('a')?.health.revocations).toBe(1);
});

test('of many accounts whose upstream answers nobody one is asked again soon', async () => {
  const bench = benchOf(() => Promise.reject(new Error('nobody listens')), ['a', 'b', 'c']);
  await bench.pool.ensureModels();
  for (let second = 0; second < 70; second += 1) {
    bench.pool.ensureModels();
    await bench.clock.advance(1000);
  }
  expect(bench.asked).toEqual(['a', 'b', 'c', 'a', 'a']);
});
