import { expect, test } from 'vitest';
import { createAccount } from '../accounts/account.test-support.ts';
import { createRateReadings } from './estimates.ts';
import { createFakeBook, createReading } from './quota.test-support.ts';

const NOW = 1_000_000;

function setUp(quotas: ReadonlyMap<string, ReturnType<typeof createReading>> = new Map()) {
  const time = { now: NOW };
  const book = createFakeBook([createAccount('a', { quotas })]);
  const rates = createRateReadings({ book, now: () => time.now });
  let reads = 0;
  const note = (remainingFraction: number, model = 'm') =>
    rates.note('a', model, () => {
      reads += 1;
      return { remainingFraction, resetsAt: time.now + 60_000 };
    });
  return { time, note, reads: () => reads, reading: () => book.find('a')?.quotas.get('m'), rates };
}

test('what an answer says of the rate limits is a reading until they are whole again', () => {
  const { note, reading } = setUp();
  note(0.25);
  expect(reading()).toEqual({
    ...{ remainingFraction: 0.25, resetsAt: NOW + 60_000, source: 'rate', fetchedAt: NOW },
  });
});

test('headers are read once a second for each model of an account, whatever a clock does', () => {
  const { time, note, reads, reading } = setUp();
  for (let count = 0; count < 100; count += 1) note(0.5);
  expect(reads()).toBe(1);
  note(0.5, 'other');
  expect(reads()).toBe(2);
  time.now += 1000;
  note(0.4);
  expect(reading()?.remainingFraction).toBe(0.4);
  time.now -= 500_000;
  note(0.3);
  expect(reads()).toBe(4);
});

test('a change too small to rank by is not noted, nor is an answer without such headers', () => {
  const { time, note, reading, rates } = setUp();
  note(0.5);
  const first = reading();
  time.now += 1000;
  note(0.495);
  expect(reading()).toBe(first);
  time.now += 1000;
  rates.note('a', 'm', () => undefined);
  expect(reading()).toBe(first);
});

test('a quota whose window is not over goes before a rate', () => {
  const quota = createReading({ source: 'estimated', remainingFraction: 0, resetsAt: NOW + 5000 });
  const { time, note, reading } = setUp(new Map([['m', quota]]));
  note(1);
  expect(reading()).toBe(quota);
  time.now += 6000;
  note(1);
  expect(reading()).toMatchObject({ source: 'rate', remainingFraction: 1 });
});
