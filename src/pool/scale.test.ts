import { expect, test } from 'vitest';
import { createFakeUpstream } from '../../test/support/fake-upstream.ts';
import { createPoolBench, createSeededRandom, type PoolBench } from './pool.test-support.ts';

const COUNT = 10_000;

interface Work {
  /** Accounts looked at anew, by what is asked of their upstream for it. */
  examined: number;
  /** Random numbers drawn. */
  drawn: number;
}

function largeBench(): { readonly bench: PoolBench; readonly work: Work } {
  const work: Work = { examined: 0, drawn: 0 };
  const random = createSeededRandom(9);
  const upstream = createFakeUpstream(() => ({ frames: [] }));
  const bench = createPoolBench({
    accounts: Array.from({ length: COUNT }, (_, index) => ({
      id: `a${index}`,
      tier: index % 2 === 0 ? ('pro' as const) : ('free' as const),
      priority: index % 7,
    })),
    upstream: {
      ...upstream,
      modelIds(name) {
        work.examined += 1;
        return upstream.modelIds(name);
      },
    },
    random() {
      work.drawn += 1;
      return random();
    },
  });
  bench.use();
  return { bench, work };
}

function workOf(work: Work, run: () => void): Work {
  const before = { ...work };
  run();
  return { examined: work.examined - before.examined, drawn: work.drawn - before.drawn };
}

test('a choice among 10,000 accounts looks at none of them anew and draws two of them', () => {
  const { bench, work } = largeBench();
  // One more: the account that has served.
  expect(work.examined).toBe(COUNT + 1);
  const session = workOf(work, () => bench.use({ session: 's' }));
  const choices = workOf(work, () => {
    for (let count = 0; count < 500; count += 1) {
      bench.use({ preferredTier: count % 2 === 0 ? 'free' : undefined });
      bench
        .lease({ preferredAccount: 'a77@example.org', session: 's' })
        .release({ kind: 'neutral' });
    }
  });
  // One more for each account that serves for the first time.
  expect(session.examined).toBeLessThanOrEqual(1);
  expect(choices.examined).toBeLessThanOrEqual(500);
  // Two for each choice by chance, one for each success that is settled.
  expect(choices.drawn).toBeLessThanOrEqual(3 * 500);
});

test('a failure looks at its own account alone, once for each model asked for lately', () => {
  const { bench, work } = largeBench();
  bench.use({ model: 'n' });
  const { examined } = workOf(work, () => {
    bench.use({}, { kind: 'rate-limited', retryAfterMs: 5000 });
  });
  expect(examined).toBe(2);
});

test('when all recover at once, no single choice looks at all of them', async () => {
  const { bench, work } = largeBench();
  const failure = { kind: 'rate-limited', retryAfterMs: 60_000 } as const;
  for (const { id } of bench.pool.accounts()) {
    bench.book.apply(id, { kind: 'failure', model: 'm', failure });
  }
  expect(bench.ask()).toMatchObject({ kind: 'none', reason: 'limited', retryAfterMs: 60_000 });
  const waiting = workOf(work, () => void bench.ask());
  expect(waiting.examined).toBe(0);
  await bench.clock.advance(60_000);
  const { examined } = workOf(work, () => void bench.use());
  expect(examined).toBeGreaterThan(0);
  // 64 that recovered, and the one that served.
  expect(examined).toBeLessThanOrEqual(65);
  for (let count = 0; count < 200; count += 1) bench.use();
  expect(bench.use({ preferredAccount: 'a9999@example.org' })).toBe('a9999');
});

test('an account comes back after its rest, however often others were refused meanwhile', async () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }, { id: 'b', priority: 1 }] });
  expect(bench.use({}, { kind: 'rate-limited', retryAfterMs: 60_000 })).toBe('b');
  for (let count = 0; count < 200; count += 1) {
    const failure = { kind: 'rate-limited', retryAfterMs: 10_000 + count } as const;
    bench.book.apply('a', { kind: 'failure', model: 'm', failure });
  }
  await bench.clock.advance(59_999);
  expect(bench.use()).toBe('a');
  await bench.clock.advance(1);
  expect(bench.use()).toBe('b');
});

test('as many priorities as accounts are no trouble', () => {
  const accounts = Array.from({ length: 3000 }, (_, index) => ({
    id: `a${index}`,
    priority: index,
  }));
  const bench = createPoolBench({ accounts });
  expect(bench.use()).toBe('a2999');
  bench.book.apply('a2999', { kind: 'disable' });
  expect(bench.use()).toBe('a2998');
  bench.book.apply('a2999', { kind: 'enable' });
  expect(bench.use()).toBe('a2999');
});

test('why this account: of many the record is short, and its counts add up', () => {
  const { bench } = largeBench();
  for (const id of ['a1', 'a2', 'a3', 'a4']) bench.book.apply(id, { kind: 'disable' });
  bench.book.apply('a5', { kind: 'failure', model: 'm', failure: { kind: 'quota-exhausted' } });
  const { selectionLog, account } = bench.lease({ exclude: new Set(['a6']) });
  const total = selectionLog.reduce((sum, one) => sum + ('count' in one ? one.count : 1), 0);
  expect(total).toBe(COUNT);
  expect(selectionLog).toEqual([
    { accountId: account.id, verdict: 'chosen' },
    { accountId: 'a6', verdict: 'already tried' },
    { count: 4, verdict: 'disabled by hand', accountIds: ['a1', 'a2', 'a3'] },
    { count: 1, verdict: 'reached its limit (quota)', accountIds: ['a5'] },
    { count: COUNT - 7, verdict: 'another was preferred', accountIds: expect.any(Array) },
  ]);
});

test('names of models nobody knows do not add up: the longest unused index is dropped', () => {
  let examined = 0;
  const upstream = createFakeUpstream(() => ({ frames: [] }));
  const modelIds = (name: string): readonly string[] => {
    examined += 1;
    return [name];
  };
  const bench = createPoolBench({ accounts: [{ id: 'a' }], upstream: { ...upstream, modelIds } });
  for (let count = 0; count < 100; count += 1) {
    bench.use({ model: `x${count}` });
    bench.use({ model: 'often' });
  }
  examined = 0;
  bench.book.apply('a', { kind: 'disable' });
  expect(examined).toBe(32);
  expect(bench.ask({ model: 'x99' }).kind).toBe('none');
  expect(bench.ask({ model: 'often' }).kind).toBe('none');
  expect(examined).toBe(32);
  expect(bench.ask({ model: 'x0' }).kind).toBe('none');
  expect(examined).toBe(33);
});
