import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createMutex, createRateGate, limit, mapLimit } from './concurrency.ts';

test('no more than so many jobs run at once, in order, also after one that failed', async () => {
  const run = limit(2);
  const started: number[] = [];
  const ends: (() => void)[] = [];
  let running = 0;
  let most = 0;
  const jobs = Array.from({ length: 6 }, (_, turn) =>
    run(async () => {
      started.push(turn);
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => ends.push(resolve));
      running -= 1;
      if (turn === 0) throw new Error('no');
      return turn;
    }),
  );
  const results = Promise.allSettled(jobs);
  for (let turn = 0; turn < 6; turn += 1) {
    expect(started.length).toBe(Math.min(turn + 2, 6));
    ends.shift()?.();
    for (let settle = 0; settle < 20; settle += 1) await Promise.resolve();
  }
  expect((await results).map(({ status }) => status)).toEqual([
    'rejected',
    ...Array(5).fill('fulfilled'),
  ]);
  expect([most, started]).toEqual([2, [0, 1, 2, 3, 4, 5]]);
});

test('a job begins when the one before has ended, well or badly, and each has its own result', async () => {
  const queue = createMutex();
  const steps: string[] = [];
  const fail = Promise.withResolvers<never>();
  const first = queue(async () => {
    steps.push('first begins');
    return fail.promise;
  });
  const second = queue(async () => {
    steps.push('second begins');
    return 2;
  });
  await Promise.resolve();
  expect(steps).toEqual(['first begins']);
  fail.reject(new Error('broken'));
  await expect(first).rejects.toThrow('broken');
  expect(await second).toBe(2);
  expect(steps).toEqual(['first begins', 'second begins']);
});

function setUp() {
  const clock = createFakeClock();
  const queue = createRateGate({ clock, maxConcurrent: 2, spacingMs: 100 });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (name: string, isUrgent = false): void =>
    queue.add(
      () => {
        begun.push(name);
        return new Promise((resolve) => ends.set(name, resolve));
      },
      { isUrgent },
    );
  return { clock, queue, begun, add, end: (name: string) => ends.get(name)?.() };
}

test('jobs begin some time apart, and no more than a few are under way', async () => {
  const { clock, begun, add, end } = setUp();
  for (const name of ['a', 'b', 'c']) add(name);
  expect(begun).toEqual(['a']);
  await clock.advance(99);
  expect(begun).toEqual(['a']);
  await clock.advance(1);
  expect(begun).toEqual(['a', 'b']);
  await clock.advance(10_000);
  expect(begun).toEqual(['a', 'b']);
  end('a');
  await clock.advance(0);
  expect(begun).toEqual(['a', 'b', 'c']);
});

test('what is urgent goes before what waits', async () => {
  const { clock, begun, add, end } = setUp();
  for (const name of ['a', 'b', 'c']) add(name);
  add('soon', true);
  await clock.advance(100);
  end('a');
  end('soon');
  await clock.advance(100);
  expect(begun).toEqual(['a', 'soon', 'b']);
});

test('a closed queue begins nothing of what waited', async () => {
  const { clock, queue, begun, add } = setUp();
  for (const name of ['a', 'b', 'c']) add(name);
  queue.close();
  await clock.advance(10_000);
  expect(begun).toEqual(['a']);
  expect(clock.pendingTimers).toBe(0);
});

test('results come in the order of the items, however they end', async () => {
  const clock = createFakeClock();
  const { signal } = new AbortController();
  const results = mapLimit([30, 10, 20], 2, async (delayMs) => {
    await clock.sleep(delayMs, signal);
    return delayMs;
  });
  await clock.advance(100);
  expect(await results).toEqual([30, 10, 20]);
});
