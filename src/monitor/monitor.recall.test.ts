import { expect, test } from 'vitest';
import { createMemoryRequestStore } from '../../test/support/memory-request-store.ts';
import { recordOf } from '../../test/support/request-records.ts';
import { createLiveFigures } from './live.ts';
import { recallBefore } from './monitor.ts';

const NOW = 1_700_000_130_000;
const MINUTE_MS = 60_000;
const clock = { now: () => NOW };
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
  const recalled = recallBefore({ store, figures, clock, log });
  await expect.poll(() => recalled.errors().map(({ id }) => id)).toEqual(['bad', 'old']);
  const series = figures.series();
  expect(series.map(({ requests }) => requests).filter((count) => count > 0)).toEqual([1, 2]);
  expect(series.reduce((sum, { errors }) => sum + errors, 0)).toBe(1);
  recalled.removeBefore(NOW - 40 * MINUTE_MS);
  expect(recalled.errors().map(({ id }) => id)).toEqual(['bad']);
});

test('a store that fails is told once and leaves the figures as they are', async () => {
  const told: string[] = [];
  const fail = () => Promise.reject(new Error('disk full'));
  const figures = createLiveFigures(clock.now);
  const recalled = recallBefore({
    store: { minutes: fail, list: fail },
    figures,
    clock,
    log: { warn: (_fields, message) => told.push(message) },
  });
  await expect.poll(() => told.length).toBe(1);
  expect(recalled.errors()).toEqual([]);
  expect(figures.series().every(({ requests }) => requests === 0)).toBe(true);
});
