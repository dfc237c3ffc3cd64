import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addTimings, BOUNDS_MS, BUCKETS, bucketOf, NO_TIMINGS, readTimings } from './latency.ts';

test('the buckets stay as they are stored', () => {
  expect(BUCKETS).toBe(33);
  expect(BOUNDS_MS.slice(0, 10)).toEqual([1, 2, 4, 8, 16, 32, 64, 91, 128, 181]);
  expect(BOUNDS_MS.at(-1)).toBe(370_728);
});

test('each duration is in the first bucket whose bound is not below it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 500_000 }), (ms) => {
      const first = BOUNDS_MS.findIndex((bound) => ms <= bound);
      expect(bucketOf(ms)).toBe(first === -1 ? BOUNDS_MS.length : first);
    }),
  );
});

test('a percentile from 64 ms on is within the square root of two of the true one, however the durations lie', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 92, max: 300_000 }), { minLength: 1 }), (all) => {
      const timings = all
        .map((ms) => {
          const durations: number[] = [];
          durations[bucketOf(ms)] = 1;
          return { ...NO_TIMINGS, durations };
        })
        .reduce(addTimings, NO_TIMINGS);
      const { duration } = readTimings(timings);
      const inOrder = all.toSorted((left, right) => left - right);
      const exact = inOrder[Math.ceil(0.95 * all.length) - 1] ?? 0;
      expect(duration?.count).toBe(all.length);
      expect((duration?.p95 ?? 0) / exact).toBeGreaterThan(1 / Math.SQRT2 - 0.01);
      expect((duration?.p95 ?? 0) / exact).toBeLessThan(Math.SQRT2 + 0.01);
    }),
  );
});

test('what is longer than all bounds counts as the longest, and nothing has no percentiles', () => {
  const durations: number[] = [];
  durations[bucketOf(9_000_000)] = 1;
  expect(readTimings({ ...NO_TIMINGS, durations }).duration).toMatchObject({ p50: 370_728 });
  expect(readTimings(NO_TIMINGS)).toEqual({});
});
