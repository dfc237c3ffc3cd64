import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createMemoryRequestStore } from '../../test/support/memory-request-store.ts';
import { recordOf } from '../../test/support/request-records.ts';
import { createLiveFeed, createLiveFigures, RecentErrors, recallBefore } from './live.ts';
import type { AttemptSum } from './request-store.ts';

async function read(reader: ReturnType<ReturnType<typeof createLiveFeed>['read']>, count: number) {
  const ids: unknown[] = [];
  for (let index = 0; index < count; index += 1) {
    const event = await reader.next();
    ids.push(typeof event === 'object' ? event.id : event);
  }
  return ids;
}

test('a reader hears what comes, and one that was away what is kept of it', async () => {
  const feed = createLiveFeed('p');
  const reader = feed.read();
  for (let index = 0; index < 250; index += 1) feed.publish('request', { index });
  expect(await read(reader, 2)).toEqual(['p-51', 'p-52']);
  expect(await read(feed.read('p-248'), 2)).toEqual(['p-249', 'p-250']);
  expect(await read(feed.read('older-9'), 1)).toEqual(['p-101']);
  const fresh = feed.read();
  feed.publish('config', {});
  expect(await read(fresh, 1)).toEqual(['p-251']);
});

test('a reader that was away for longer than events are kept is told that it missed some', () => {
  const feed = createLiveFeed('p');
  for (let index = 0; index < 250; index += 1) feed.publish('request', { index });
  expect(feed.read('p-100').missed).toBe(0);
  expect(feed.read('p-99').missed).toBe(1);
  expect(feed.read('p-10').missed).toBe(90);
  expect(feed.read('older-9').missed).toBe(100);
  expect(feed.read().missed).toBe(0);
  for (let index = 0; index < 1000; index += 1) feed.publish('log', { index });
  expect(feed.read('p-249').missed).toBe(0);
});

test('a page that begins to listen hears what came since it was read', async () => {
  let now = 0;
  const feed = createLiveFeed('p', { clock: { monotonic: () => now } });
  feed.publish('request', {});
  now = 5_000;
  feed.publish('key', {});
  now = 5_400;
  const reader = feed.read(undefined, 500);
  feed.publish('config', {});
  expect(await read(reader, 2)).toEqual(['p-2', 'p-3']);
  expect(feed.read(undefined, 500).missed).toBe(0);
  for (let index = 0; index < 250; index += 1) feed.publish('request', { index });
  expect(feed.read(undefined, 500).missed).toBe(1);
  now = 6_000;
  expect(feed.read(undefined, 500).missed).toBe(0);
});

test('what is read elsewhere is not repeated, and its ids still say what was seen', async () => {
  const feed = createLiveFeed('p');
  feed.publish('request', {});
  feed.publish('overview', {});
  feed.publish('log', {});
  feed.publish('request', {});
  expect(await read(feed.read('p-2'), 1)).toEqual(['p-4']);
});

test('a slow reader loses the oldest and is told how many; it holds up nobody', async () => {
  const feed = createLiveFeed('p');
  const slow = feed.read();
  const quick = feed.read();
  const first = quick.next();
  for (let index = 0; index < 1000; index += 1) feed.publish('request', {});
  expect(await first).toMatchObject({ id: 'p-1' });
  expect(slow.missed).toBe(800);
  expect(await read(slow, 1)).toEqual(['p-801']);
});

test('a waiting reader wakes for a heartbeat and ends with the feed', async () => {
  const feed = createLiveFeed('p');
  const reader = feed.read();
  const idle = reader.next();
  reader.wake();
  expect(await idle).toBe('idle');
  const end = reader.next();
  feed.close();
  expect(await end).toBeUndefined();
  expect(feed.readers).toBe(0);
  feed.publish('request', {});
  expect(await reader.next()).toBeUndefined();
});

test('a reader that is closed tells nothing of what waited for it', async () => {
  const feed = createLiveFeed('p');
  const reader = feed.read();
  feed.publish('request', {});
  reader.close();
  expect(await reader.next()).toBeUndefined();
});

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
