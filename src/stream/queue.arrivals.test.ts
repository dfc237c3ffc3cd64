import { expect, test } from 'vitest';
import { createArrivals } from './queue.ts';

test('what came is given in order, what comes is waited for, and the end is undefined', async () => {
  const arrivals = createArrivals<number>();
  arrivals.add(1);
  arrivals.add(2);
  expect([await arrivals.next(), await arrivals.next()]).toEqual([1, 2]);
  const third = arrivals.next();
  arrivals.add(3);
  expect(await third).toBe(3);
  const end = arrivals.next();
  arrivals.end();
  expect([await end, await arrivals.next()]).toEqual([undefined, undefined]);
});

test('what came before the end is not lost', async () => {
  const arrivals = createArrivals<number>();
  arrivals.add(1);
  arrivals.end();
  expect([await arrivals.next(), await arrivals.next()]).toEqual([1, undefined]);
});
