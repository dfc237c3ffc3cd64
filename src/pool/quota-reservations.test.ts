import { expect, test } from 'vitest';
import { capabilitiesOf } from '../../test/support/canonical.ts';
import { createFakeUpstream } from '../../test/support/fake-upstream.ts';
import { createMemoryAccountStore } from '../../test/support/memory-account-store.ts';
import type { QuotaReading } from '../accounts/account.ts';
import { createPoolBench, type PoolBench } from './pool.test-support.ts';
import type { LeaseResult } from './pool.ts';

const DRAWING = {
  ...createFakeUpstream(() => ({ frames: [] })),
  capabilities: () => ({ ...capabilitiesOf(), drawsImages: true }),
};

interface Figures {
  readonly calls?: number;
  readonly fraction?: number;
  readonly resetsAt?: number;
}

function read(bench: PoolBench, id: string, { calls, fraction = 0.5, resetsAt }: Figures): void {
  const reading: QuotaReading = {
    remainingFraction: calls === 0 ? 0 : fraction,
    remainingCalls: calls,
    resetsAt,
    source: 'upstream',
    fetchedAt: bench.clock.now(),
  };
  bench.book.setQuotas(id, new Map([['m', reading]]));
}

function benchOf(left: Readonly<Record<string, Figures>>, limit?: number): PoolBench {
  const ids = Object.keys(left);
  const bench = createPoolBench({
    accounts: ids.map((id) => ({ id })),
    upstream: DRAWING,
    callLimitOf: () => limit,
  });
  for (const id of ids) read(bench, id, left[id] ?? {});
  return bench;
}

function ask(bench: PoolBench, times: number): LeaseResult[] {
  return Array.from({ length: times }, () => bench.ask());
}

function leased(results: readonly LeaseResult[]) {
  return results.flatMap((result) => (result.kind === 'lease' ? [result.lease] : []));
}

test('of many calls at once as many begin as the accounts have left, and the others are told at once', () => {
  const bench = benchOf({ a: { calls: 15 }, b: { calls: 5 } });
  const results = ask(bench, 200);
  const ids = leased(results).map(({ account }) => account.id);
  expect(ids.filter((id) => id === 'a')).toHaveLength(15);
  expect(ids.filter((id) => id === 'b')).toHaveLength(5);
  expect(results[20]).toMatchObject({ kind: 'none', reason: 'limited' });
  expect(results[20]?.kind === 'none' && results[20].selectionLog).toEqual([
    { accountId: 'a', verdict: 'has reserved the rest of its quota for calls under way' },
    { accountId: 'b', verdict: 'has reserved the rest of its quota for calls under way' },
  ]);
});

test('a share of a known limit is as good as a count', () => {
  expect(leased(ask(benchOf({ a: { fraction: 0.02 } }, 1000), 50))).toHaveLength(20);
  expect(leased(ask(benchOf({ a: { fraction: 0.0001 } }, 1000), 50))).toHaveLength(1);
});

test('some share left is a call at least, also after the first one', async () => {
  const bench = benchOf({ a: { fraction: 0.0001 } }, 1000);
  for (let window = 0; window < 3; window += 1) {
    const leases = leased(ask(bench, 5));
    expect(leases).toHaveLength(1);
    await bench.clock.advance(1000);
    for (const { release } of leases) release({ kind: 'success' });
    await bench.clock.advance(1000);
    read(bench, 'a', { fraction: 0.0001 });
  }
});

test('a count of the upstream says more than a share of a limit', () => {
  expect(leased(ask(benchOf({ a: { calls: 3, fraction: 0.5 } }, 1000), 50))).toHaveLength(3);
});

test('where nobody knows how many calls a share is, the upstream decides', () => {
  expect(leased(ask(benchOf({ a: { fraction: 0.02 } }), 50))).toHaveLength(50);
});

test.each([
  ['failed', { kind: 'failure', failure: { kind: 'path' } }, 1],
  ['was left by its client', { kind: 'neutral' }, 1],
  ['was answered', { kind: 'success' }, 0],
] as const)('after a call that %s', (_how, outcome, more) => {
  const bench = benchOf({ a: { calls: 2 } });
  const [first] = leased(ask(bench, 5));
  first?.release(outcome);
  first?.release(outcome);
  expect(leased(ask(bench, 5))).toHaveLength(more);
});

test('the figures read after an answer correct what is left', async () => {
  const bench = benchOf({ a: { calls: 1 } });
  leased(ask(bench, 2))[0]?.release({ kind: 'success' });
  expect(leased(ask(bench, 1))).toHaveLength(0);
  await bench.clock.advance(1000);
  read(bench, 'a', { calls: 3 });
  expect(leased(ask(bench, 9))).toHaveLength(3);
});

test('a window that ends gives its accounts back, and what is known of the limit holds', async () => {
  const bench = benchOf({ a: {} }, 2);
  read(bench, 'a', { fraction: 0.5, resetsAt: bench.clock.now() + 5000 });
  leased(ask(bench, 2))[0]?.release({ kind: 'success' });
  expect(bench.ask()).toMatchObject({ kind: 'none', reason: 'limited', retryAfterMs: 5000 });
  await bench.clock.advance(5000);
  expect(leased(ask(bench, 9))).toHaveLength(2);
});

test('a look without a call reserves nothing', () => {
  const bench = benchOf({ a: { calls: 1 } });
  for (let look = 0; look < 3; look += 1) {
    expect(bench.ask({ isDryRun: true }).kind).toBe('lease');
  }
  expect(leased(ask(bench, 2))).toHaveLength(1);
});

test('models that draw nothing are not held back', () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }] });
  read(bench, 'a', { calls: 1 });
  expect(leased(ask(bench, 5))).toHaveLength(5);
});

test('an account that is removed while it draws leaves nothing behind', async () => {
  const bench = createPoolBench({
    accounts: [],
    upstream: DRAWING,
    store: createMemoryAccountStore(),
  });
  const credential = { kind: 'api-key', key: 'k' } as const;
  const { id } = (await bench.book.add({ upstreamId: 'fake', label: 'a', credential })).record;
  read(bench, id, { calls: 1 });
  const [first] = leased(ask(bench, 2));
  await bench.book.remove(id);
  first?.release({ kind: 'neutral' });
  expect(bench.ask()).toMatchObject({ kind: 'none', reason: 'no-accounts' });
});
