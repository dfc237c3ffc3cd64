import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createMemoryRequestStore } from '../../test/support/memory-request-store.ts';
import { recordOf } from '../../test/support/request-records.ts';
import { createLiveFigures } from './live.ts';
import { RecentErrors, recallBefore } from './recall.ts';
import type { AttemptSum } from './request-store.ts';

const NOW = 1_700_000_130_000;
const MINUTE_MS = 60_000;
const clock = createFakeClock(NOW);
const log = { warn: () => undefined };

test('the figures of the last hour and the latest errors outlive a restart', async () => {
  const store = createMemoryRequestStore();
  await store.save([
    recordOf({ id: 'old', at: NOW - 61 * MINUTE_MS, outcome: 'error' }),
    recordOf({ id: 'bad', at: NOW - 30 * MINUTE_MS, outcome: 'error' }),
    recordOf({ id: 'good', at: NOW - 1 }),
    recordOf({ id: 'later', at: NOW, outcome: 'error' }),
  ]);
  const figures = createLiveFigures(clock.now);
  figures.add(recordOf({ id: 'later', at: NOW }).row);
  const errors = new RecentErrors();
  errors.add(recordOf({ id: 'later', at: NOW, outcome: 'error' }).row);
  const sums: readonly AttemptSum[] = [{ at: NOW - 1, account: 'ada', good: 3, failed: 1 }];
  const told: unknown[] = [];
  recallBefore({
    store: { minutes: store.minutes, list: store.list, attempts: async () => sums },
    ...{ figures, errors, clock, log },
    onRecalledAttempts: (attempts) => told.push(attempts),
  });
  const ids = () => errors.latest().map(({ id }) => id);
  await expect.poll(ids).toEqual(['later', 'bad', 'old']);
  expect(told).toEqual([sums]);
  const series = figures.series();
  expect(series.map(({ requests }) => requests).filter((count) => count > 0)).toEqual([1, 2]);
  expect(series.reduce((sum, minute) => sum + minute.errors, 0)).toBe(1);
  errors.removeBefore(NOW - 40 * MINUTE_MS);
  expect(ids()).toEqual(['later', 'bad']);
});

test('a store that fails is told once and leaves the figures as they are', async () => {
  const told: string[] = [];
  const fail = () => Promise.reject(new Error('disk full'));
  const figures = createLiveFigures(clock.now);
  const errors = new RecentErrors();
  recallBefore({
    store: { minutes: fail, list: fail, attempts: fail },
    ...{ figures, errors, onRecalledAttempts: fail },
    clock,
    log: { warn: (_fields, message) => told.push(message) },
  });
  await expect.poll(() => told.length).toBe(1);
  expect(errors.latest()).toEqual([]);
  expect(figures.series().every(({ requests }) => requests === 0)).toBe(true);
});
