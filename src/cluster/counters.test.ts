import { expect, test } from 'vitest';
import { LocalBank } from './counters.ts';

const HOUR_MS = 3_600_000;

test('a counter that nobody asked for in two days is forgotten, one in use is not', () => {
  let now = Date.UTC(2026, 10, 27, 12);
  const bank = new LocalBank({ now: () => now });
  const use = (counter: string) =>
    bank.lease({ counter, window: 'named', limit: 5000, amount: 1, batch: 1, initial: 0 }).used;
  use('old');
  use('kept');
  now += 47 * HOUR_MS;
  use('kept');
  now += 2 * HOUR_MS;
  for (let count = 0; count < 1000; count += 1) use('busy');
  expect(use('kept')).toBe(3);
  expect(use('busy')).toBe(1001);
  expect(use('old')).toBe(1);
});
