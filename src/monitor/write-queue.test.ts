import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { recordOf } from '../../test/support/request-records.ts';
import type { RequestRecord } from './record.ts';
import { createWriteQueue } from './write-queue.ts';

function startQueue(save: (records: readonly RequestRecord[]) => Promise<void>) {
  const clock = createFakeClock();
  const warnings: string[] = [];
  const log = { warn: (_fields: object, message: string) => void warnings.push(message) };
  return { clock, warnings, queue: createWriteQueue({ store: { save }, clock, log }) };
}

test('whole batches are saved at once, one after the other; what is left gathers again', async () => {
  const batches: number[] = [];
  const { clock, queue } = startQueue(async (records) => void batches.push(records.length));
  for (let index = 0; index < 320; index += 1) queue.add(recordOf());
  expect(batches).toEqual([]);
  await clock.advance(10);
  expect(batches).toEqual([128, 128]);
  await clock.advance(250);
  expect(batches).toEqual([128, 128, 64]);
  expect(queue.dropped).toBe(0);
});

test('a store that hangs costs the oldest records, counted and said once, and closing does not wait for it', async () => {
  const { clock, queue, warnings } = startQueue(() => new Promise(() => {}));
  queue.add(recordOf());
  await clock.advance(300);
  for (let index = 0; index < 10_500; index += 1) queue.add(recordOf());
  expect(queue.dropped).toBe(500);
  expect(warnings).toHaveLength(1);
  const closed = queue.close();
  await clock.advance(2000);
  await closed;
  expect(queue.dropped).toBe(10_500);
});

test('what is not saved yet is found, by its own id first, and no longer once it is saved', async () => {
  const saving = Promise.withResolvers<void>();
  const { clock, queue } = startQueue(() => saving.promise);
  queue.add(recordOf({ id: 'a', requestId: 'given' }));
  queue.add(recordOf({ id: 'b', requestId: 'given' }));
  expect(queue.find('a')?.row.id).toBe('a');
  await clock.advance(250);
  queue.add(recordOf({ id: 'given', requestId: 'other' }));
  expect(queue.find('b')?.row.id).toBe('b');
  expect(queue.find('given')?.row.id).toBe('given');
  expect(queue.find('nobody')).toBeUndefined();
  saving.resolve();
  await clock.advance(300);
  expect(queue.find('b')).toBeUndefined();
});

test('long bodies make small batches', async () => {
  const batches: number[] = [];
  const { clock, queue } = startQueue(async (records) => void batches.push(records.length));
  const text = 'x'.repeat(2_000_000);
  for (let index = 0; index < 4; index += 1) {
    queue.add(recordOf({ bodies: { clientRequest: { text, isWhole: true } } }));
  }
  await clock.advance(300);
  expect(batches).toEqual([2, 2]);
});

test('records that a failing store does not take are unsaved, and flushed on close once it recovers', async () => {
  let isBroken = true;
  const saved: string[] = [];
  const { clock, queue } = startQueue(async (records) => {
    if (isBroken) throw new Error('disk full');
    saved.push(...records.map(({ row }) => row.id));
  });
  queue.add(recordOf({ id: 'a' }));
  await clock.advance(300);
  queue.add(recordOf({ id: 'b' }));
  await queue.flush();
  expect(queue.unsaved).toBe(2);
  isBroken = false;
  await queue.close();
  expect([saved, queue.unsaved, queue.dropped]).toEqual([['a', 'b'], 0, 0]);
});
