import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { StoredCopy } from './stored-copy.ts';

type Reading = PromiseWithResolvers<string>;

function openCopy() {
  const readings: Reading[] = [];
  const taken: string[] = [];
  const warnings: string[] = [];
  const clock = createFakeClock();
  const copy = new StoredCopy<string>({
    what: 'Keys',
    clock,
    log: { warn: (_fields, message) => void warnings.push(message) },
    read: () => {
      const reading = Promise.withResolvers<string>();
      readings.push(reading);
      return reading.promise;
    },
    take: (stored) => void taken.push(stored),
  });
  return { copy, clock, readings, taken, warnings };
}

test('what is told while it is read is read once more, and the latest reading stays', async () => {
  const { copy, readings, taken } = openCopy();
  const first = copy.reread();
  void copy.reread();
  void copy.reread();
  expect(readings).toHaveLength(1);
  readings[0]?.resolve('as it was');
  await expect.poll(() => readings.length).toBe(2);
  readings[1]?.resolve('as it is');
  await first;
  expect(taken).toEqual(['as it was', 'as it is']);
  void copy.reread();
  expect(readings).toHaveLength(3);
});

test('a reading that does not know what was stored here meanwhile is not taken', async () => {
  const { copy, readings, taken } = openCopy();
  const reread = copy.reread();
  copy.noteChange();
  readings[0]?.resolve('without it');
  await expect.poll(() => readings.length).toBe(2);
  readings[1]?.resolve('with it');
  await reread;
  expect(taken).toEqual(['with it']);
});

test('what cannot be read stays as it was until it can, and that is said once', async () => {
  const { copy, clock, readings, taken, warnings } = openCopy();
  const reread = copy.reread();
  readings[0]?.reject(new Error('The database is gone.'));
  await reread;
  expect(taken).toEqual([]);
  await clock.advance(5000);
  readings[1]?.reject(new Error('The database is gone.'));
  await clock.advance(5000);
  readings[2]?.resolve('as it is');
  await copy.settled;
  expect(taken).toEqual(['as it is']);
  expect(warnings).toEqual([
    'Keys that another process changed cannot be read; they stay as they were until they can.',
  ]);
  expect(clock.pendingTimers).toBe(0);
});

test('nothing is read again once it is closed', async () => {
  const { copy, clock, readings } = openCopy();
  void copy.reread();
  copy.close();
  readings[0]?.reject(new Error('The database is closed.'));
  await copy.settled;
  expect(clock.pendingTimers).toBe(0);
});
