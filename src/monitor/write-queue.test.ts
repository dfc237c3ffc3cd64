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

test('records gather for a moment and are saved together', async () => {
  const batches: number[] = [];
  const { clock, queue } = startQueue(async (records) => void batches.push(records.length));
  for (let index = 0; index < 49; index += 1) queue.add(recordOf());
  await clock.advance(249);
  expect(batches).toEqual([]);
  await clock.advance(1);
  expect(batches).toEqual([49]);
});

test('whole batches are saved at once, one after the other; what is left gathers again', async () => {
  const batches: number[] = [];
  const { clock, queue } = startQueue(async (records) => void batches.push(records.length));
  for (let index = 0; index < 120; index += 1) queue.add(recordOf());
  expect(batches).toEqual([]);
  await clock.advance(10);
  expect(batches).toEqual([50, 50]);
  await clock.advance(250);
  expect(batches).toEqual([50, 50, 20]);
  expect(queue.dropped).toBe(0);
});

test('long bodies make small batches', async () => {
  const batches: number[] = [];
  const { clock, queue } = startQueue(async (records) => void batches.push(records.length));
  const text = 'x'.repeat(3_000_000);
  for (let index = 0; index < 4; index += 1) {
    queue.add(recordOf({ bodies: { clientRequest: { text, isWhole: true } } }));
  }
  await clock.advance(300);
  expect(batches).toEqual([2, 2]);
});

test('a store that fails is tried again every five seconds with nothing lost, and said once', async () => {
  let isBroken = true;
  let tries = 0;
  const saved: string[] = [];
  const { clock, queue, warnings } = startQueue(async (records) => {
    tries += 1;
    if (isBroken) throw new Error('disk full');
    saved.push(...records.map(({ row }) => row.id));
  });
  queue.add(recordOf({ id: 'a' }));
  await clock.advance(300);
  queue.add(recordOf({ id: 'b' }));
  await clock.advance(4900);
  expect(tries).toBe(1);
  expect(queue.unsaved).toBe(2);
  await clock.advance(100);
  expect(tries).toBe(2);
  expect(warnings).toHaveLength(1);
  isBroken = false;
  await clock.advance(5300);
  expect(saved).toEqual(['a', 'b']);
  expect(queue.dropped).toBe(0);
  expect(queue.unsaved).toBe(0);
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

test('closing saves what waits', async () => {
  const saved: number[] = [];
  const { queue } = startQueue(async (records) => void saved.push(records.length));
  for (let index = 0; index < 75; index += 1) queue.add(recordOf());
  await queue.close();
  expect(saved).toEqual([50, 25]);
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

test('flushing saves all that waits, behind what is being saved, and gathering goes on', async () => {
  const saved: number[] = [];
  const { clock, queue } = startQueue(async (records) => void saved.push(records.length));
  for (let index = 0; index < 120; index += 1) queue.add(recordOf());
  await Promise.all([queue.flush(), queue.flush()]);
  expect(saved).toEqual([50, 50, 20]);
  queue.add(recordOf());
  await clock.advance(251);
  expect(saved).toEqual([50, 50, 20, 1]);
});
