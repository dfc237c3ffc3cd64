import { expect, test } from 'vitest';
import type { UpstreamFailure } from '../canonical/failure.ts';
import { createPoolBench } from './pool.test-support.ts';

const DAY_MS = 86_400_000;

const FAILURES: readonly UpstreamFailure[] = [
  { kind: 'rate-limited', status: 429, retryAfterMs: 20_000 },
  { kind: 'quota-exhausted', status: 429, retryAfterMs: 3_600_000 },
  { kind: 'verification-required', status: 403 },
];

test.each(FAILURES)(
  'a wait after $kind ends when the clock is set back, and a new one holds',
  async (failure) => {
    const bench = createPoolBench({ accounts: [{ id: 'a' }] });
    await bench.clock.advance(2 * DAY_MS);
    bench.use({}, failure);
    expect(bench.ask().kind).toBe('none');
    await bench.clock.advance(-2 * DAY_MS);
    expect(bench.use({}, failure)).toBe('a');
    expect(bench.ask().kind).toBe('none');
    await bench.clock.advance(3_600_000);
    expect(bench.ask().kind).toBe('lease');
  },
);

test('a correction of less than a second ends no wait', async () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }] });
  bench.use({}, { kind: 'rate-limited', status: 429, retryAfterMs: 20_000 });
  await bench.clock.advance(-900);
  expect(bench.ask().kind).toBe('none');
});

test('figures that were read in what is now the future count no more', async () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }] });
  await bench.clock.advance(DAY_MS);
  const now = bench.clock.now();
  const empty = {
    remainingFraction: 0,
    resetsAt: now + 3_600_000,
    source: 'estimated',
    fetchedAt: now,
  } as const;
  bench.book.setQuotas('a', new Map([['m', empty]]));
  expect(bench.ask().kind).toBe('none');
  await bench.clock.advance(-DAY_MS);
  expect(bench.ask().kind).toBe('lease');
  expect(bench.book.find('a')?.quotas.size).toBe(0);
});
