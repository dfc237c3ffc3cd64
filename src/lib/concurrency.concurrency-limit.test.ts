import { expect, test } from 'vitest';
import { createConcurrencyLimit } from './concurrency.ts';

test('no more than so many jobs run at once, in order, also after one that failed', async () => {
  const limit = createConcurrencyLimit(2);
  const started: number[] = [];
  const ends: (() => void)[] = [];
  let running = 0;
  let most = 0;
  const jobs = Array.from({ length: 6 }, (_, turn) =>
    limit(async () => {
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
