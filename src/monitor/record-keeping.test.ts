import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { recordOf } from '../../test/support/request-records.ts';
import type { RequestRecord } from './record.ts';
import { createRetention, createWriteQueue } from './record-keeping.ts';

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
  await clock.advance(3000);
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

const settings = { retentionMs: 1_000, maxBytes: 500 };

function open(sweep: () => Promise<boolean>) {
  const clock = createFakeClock();
  const warnings: string[] = [];
  const retention = createRetention({
    store: { sweep },
    clock,
    settings: () => settings,
    log: { warn: (_fields, message) => void warnings.push(message) },
  });
  return { clock, retention, warnings };
}

test('what is too old or too much leaves in small steps, and is looked for every five minutes', async () => {
  const asked: unknown[] = [];
  const isDone = [false, false, true, true];
  const clock = createFakeClock();
  const retention = createRetention({
    store: {
      async sweep(limits) {
        asked.push({ ...limits, at: clock.now() });
        return isDone.shift() ?? true;
      },
    },
    clock,
    settings: () => settings,
    log: { warn: () => undefined },
  });
  const startedAt = clock.now();
  await clock.advance(29_999);
  expect(asked).toEqual([]);
  await clock.advance(1 + 50 + 50);
  const at = startedAt + 30_000;
  expect(asked).toEqual(
    [at, at + 50, at + 100].map((now) => ({
      oldest: now - 1_000,
      closedBefore: now - 1_800_000,
      oldestUsage: now - 366 * 86_400_000,
      maxBytes: 500,
      reducedBytes: 250,
      at: now,
    })),
  );
  await clock.advance(299_999);
  expect(asked).toHaveLength(3);
  await clock.advance(1);
  expect(asked).toHaveLength(4);
  await retention.close();
});

test('a store that fails is told once, asked again later, and again told when it fails anew', async () => {
  let isBroken = true;
  let tries = 0;
  const { clock, retention, warnings } = open(async () => {
    tries += 1;
    if (isBroken) throw new Error('disk full');
    return true;
  });
  await clock.advance(30_000);
  await clock.advance(600_000);
  expect([tries, warnings.length]).toEqual([3, 1]);
  isBroken = false;
  await clock.advance(300_000);
  isBroken = true;
  await clock.advance(300_000);
  expect([tries, warnings.length]).toEqual([5, 2]);
  await retention.close();
});

test('closing waits for the step under way and lets no other begin', async () => {
  const step = Promise.withResolvers<boolean>();
  let tries = 0;
  const { clock, retention } = open(() => {
    tries += 1;
    return step.promise;
  });
  await clock.advance(30_000);
  let isClosed = false;
  const closing = retention.close().then(() => {
    isClosed = true;
  });
  await clock.advance(600_000);
  expect(isClosed).toBe(false);
  step.resolve(false);
  await closing;
  expect([tries, clock.pendingTimers]).toEqual([1, 0]);
});
