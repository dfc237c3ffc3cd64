import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { WriteBehind } from './write-behind.ts';

type WriteBehindOptions = ConstructorParameters<typeof WriteBehind<Entry>>[0];

interface Entry {
  readonly key: string;
  readonly text: string;
}

function entry(key: string, text = key): Entry {
  return { key, text };
}

/** A queue over a store that each test may let fail, hang or refuse a part. */
function startQueue(options: Partial<WriteBehindOptions> = {}) {
  const clock = createFakeClock();
  const batches: string[][] = [];
  const warnings: string[] = [];
  const store = { isBroken: false };
  const queue = new WriteBehind<Entry>({
    clock,
    async save(entries) {
      batches.push(entries.map(({ text }) => text));
      if (store.isBroken) throw new Error('no room');
    },
    log: { warn: (_fields, message) => void warnings.push(message) },
    failure: 'Not saved.',
    ...options,
  });
  return { clock, batches, warnings, store, queue };
}

/** Saves that end only when the test says so. */
function holdSaves() {
  const held: PromiseWithResolvers<void>[] = [];
  const save = (): Promise<void> => {
    const one = Promise.withResolvers<void>();
    held.push(one);
    return one.promise;
  };
  return { held, save };
}

test('entries gather for a moment and are saved together, oldest first', async () => {
  const { clock, batches, queue } = startQueue();
  for (const key of ['a', 'b', 'c']) queue.add(entry(key));
  await clock.advance(249);
  expect(batches).toEqual([]);
  await clock.advance(1);
  expect(batches).toEqual([['a', 'b', 'c']]);
  expect([queue.size, clock.pendingTimers]).toEqual([0, 0]);
});

test('whole batches are saved soon, one after the other; what is left gathers again', async () => {
  const { clock, batches, queue } = startQueue({
    fullDelayMs: 1,
    batch: { count: 2, size: Infinity },
  });
  for (const key of ['a', 'b', 'c', 'd', 'e']) queue.add(entry(key));
  expect(batches).toEqual([]);
  await clock.advance(10);
  expect(batches).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  await clock.advance(250);
  expect(batches[2]).toEqual(['e']);
});

test('large entries make small batches, and one that is larger than a batch is saved alone', async () => {
  const { batches, queue } = startQueue({
    batch: { count: 10, size: 5 },
    sizeOf: ({ text }) => text.length,
  });
  for (const text of ['aa', 'bb', 'cc', 'dddddddd', 'e']) queue.add(entry(text));
  await queue.flush();
  expect(batches).toEqual([['aa', 'bb'], ['cc'], ['dddddddd'], ['e']]);
});

test.each(['with', 'without'])(
  'saves never overlap and keep their order, %s keys',
  async (keys) => {
    const { held, save } = holdSaves();
    const saved: string[] = [];
    const { clock, queue } = startQueue({
      ...(keys === 'with' ? { keyOf: ({ key }) => key } : {}),
      async save(entries) {
        await save();
        saved.push(...entries.map(({ text }) => text));
      },
    });
    queue.add(entry('a', 'a1'));
    await clock.advance(250);
    queue.add(entry('a', 'a2'));
    queue.add(entry('b'));
    const flushed = queue.flush();
    await clock.advance(60_000);
    expect(held).toHaveLength(1);
    expect(queue.entries().map(({ text }) => text)).toEqual(['a1', 'a2', 'b']);
    held[0]?.resolve();
    await clock.advance(0);
    held[1]?.resolve();
    await flushed;
    expect(saved).toEqual(['a1', 'a2', 'b']);
  },
);

test('a waiting entry is replaced by one of the same key, or merged with it', async () => {
  const { batches, queue } = startQueue({ keyOf: ({ key }) => key });
  for (const text of ['old', 'new']) queue.add(entry('a', text));
  await queue.flush();
  expect(batches).toEqual([['new']]);
  const merging = startQueue({
    keyOf: ({ key }) => key,
    merge: (older, newer) => entry(newer.key, older.text + newer.text),
  });
  for (const text of ['1', '2', '3']) merging.queue.add(entry('a', text));
  await merging.queue.flush();
  expect(merging.batches).toEqual([['123']]);
});

test('a failing store is logged once and tried again later; nothing is lost when it recovers', async () => {
  let recoveries = 0;
  const onRecovery = (): void => {
    recoveries += 1;
  };
  const { clock, batches, warnings, store, queue } = startQueue({ onRecovery });
  store.isBroken = true;
  queue.add(entry('a'));
  await clock.advance(250);
  queue.add(entry('b'));
  await clock.advance(4999);
  expect([batches.length, queue.isFailing, queue.size]).toEqual([1, true, 2]);
  await clock.advance(1);
  expect([batches.length, warnings]).toEqual([2, ['Not saved.']]);
  store.isBroken = false;
  await clock.advance(5000);
  expect(batches[2]).toEqual(['a', 'b']);
  expect([queue.isFailing, queue.dropped, recoveries]).toEqual([false, 0, 1]);
});

test('the delay before another try follows the number of failures in a row', async () => {
  const tries: number[] = [];
  const clock = createFakeClock(0);
  const { queue } = startQueue({
    clock,
    retryMs: (failures) => 1000 * 2 ** (failures - 1),
    save() {
      tries.push(clock.now());
      return Promise.reject(new Error('away'));
    },
  });
  queue.add(entry('a'));
  for (let second = 0; second < 9; second += 1) {
    await clock.advance(1000);
    // An entry that comes meanwhile does not shorten the wait.
    queue.add(entry('b'));
  }
  expect(tries).toEqual([250, 1250, 3250, 7250]);
});

test('an entry that is replaced while its save fails is saved in its newer form', async () => {
  const { held, save } = holdSaves();
  const saved: string[] = [];
  const { clock, queue } = startQueue({
    keyOf: ({ key }) => key,
    async save(entries) {
      if (held.length === 0) await save();
      saved.push(...entries.map(({ text }) => text));
    },
  });
  queue.add(entry('a', 'old'));
  await clock.advance(250);
  queue.add(entry('a', 'new'));
  held[0]?.reject(new Error('no room'));
  await clock.advance(5000);
  expect(saved).toEqual(['new']);
});

test('only the part of a batch that was not saved is tried again', async () => {
  const tried: string[][] = [];
  const { clock, queue } = startQueue({
    async save(entries, retryOnly) {
      tried.push(entries.map(({ text }) => text));
      if (tried.length > 1) return;
      retryOnly(entries.slice(1));
      throw new Error('odd');
    },
  });
  for (const key of ['a', 'b', 'c']) queue.add(entry(key));
  await clock.advance(5250);
  expect(tried).toEqual([
    ['a', 'b', 'c'],
    ['b', 'c'],
  ]);
});

test.each([
  ['oldest', true, ['b', 'c', 'd']],
  ['newest', false, ['a', 'b', 'c']],
] as const)(
  'beyond the limit the %s entries are dropped and counted',
  async (drops, isTaken, saved) => {
    const { batches, queue } = startQueue({ drops, limit: { count: 3, size: Infinity } });
    for (const key of ['a', 'b', 'c']) expect(queue.add(entry(key))).toBe(true);
    expect(queue.add(entry('d'))).toBe(isTaken);
    await queue.flush();
    expect(batches).toEqual([saved]);
    expect(queue.dropped).toBe(1);
  },
);

test('a store that hangs is called once and bounded by size as well', async () => {
  const { held, save } = holdSaves();
  const { clock, queue } = startQueue({
    save,
    sizeOf: ({ text }) => text.length,
    limit: { count: 100, size: 10 },
  });
  queue.add(entry('first'));
  await clock.advance(60_000);
  for (let index = 0; index < 5; index += 1) queue.add(entry(`${index}`, 'abcd'));
  await clock.advance(60_000);
  expect([held.length, queue.dropped, queue.size]).toEqual([1, 3, 3]);
});

test('an entry counted as leaving has its place kept where the newest are refused', async () => {
  const { held, save } = holdSaves();
  const { clock, queue } = startQueue({
    save,
    drops: 'newest',
    sizeOf: ({ text }) => text.length,
    limit: { count: 100, size: 4 },
  });
  queue.add(entry('abc'));
  await clock.advance(250);
  expect(queue.add(entry('de'))).toBe(false);
  held[0]?.reject(new Error('full'));
  await clock.advance(0);
  expect([queue.size, queue.dropped]).toEqual([1, 1]);
});

test('a flush saves all that waits and rejects with the error of the store', async () => {
  const { clock, batches, store, queue } = startQueue({ batch: { count: 2, size: Infinity } });
  for (const key of ['a', 'b', 'c']) queue.add(entry(key));
  await Promise.all([queue.flush(), queue.flush()]);
  expect(batches).toEqual([['a', 'b'], ['c']]);
  store.isBroken = true;
  queue.add(entry('d'));
  await expect(queue.flush()).rejects.toThrow('no room');
  store.isBroken = false;
  await clock.advance(5000);
  expect([batches.at(-1), queue.size]).toEqual([['d'], 0]);
});

test('closing waits for the save under way, saves the rest, and refuses what comes later', async () => {
  const { held, save } = holdSaves();
  const { clock, queue } = startQueue({ save });
  queue.add(entry('a'));
  await clock.advance(250);
  queue.add(entry('b'));
  const closed = queue.close();
  await clock.advance(60_000);
  expect(held).toHaveLength(1);
  held[0]?.resolve();
  await clock.advance(0);
  held[1]?.resolve();
  expect(await closed).toEqual([]);
  expect([queue.add(entry('c')), queue.dropped, clock.pendingTimers]).toEqual([false, 1, 0]);
});

test('closing gives up and returns what a failing store does not take, or a slow one in time', async () => {
  const failing = startQueue();
  failing.store.isBroken = true;
  failing.queue.add(entry('a'));
  expect(await failing.queue.close()).toEqual([entry('a')]);
  expect(failing.queue.dropped).toBe(1);
  const { save } = holdSaves();
  const slow = startQueue({ save });
  slow.queue.add(entry('a'));
  await slow.clock.advance(250);
  slow.queue.add(entry('b'));
  const closed = slow.queue.close(1000);
  await slow.clock.advance(1000);
  expect(await closed).toEqual([entry('b')]);
});
