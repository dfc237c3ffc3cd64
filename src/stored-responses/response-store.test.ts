import { expect, onTestFinished, test, vi } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createMemoryCluster, Hub } from '../cluster/memory.ts';
import { createMutex } from '../lib/concurrency.ts';
import type { JsonObject } from '../lib/json.ts';
import { memoryLimit, shareMemory } from '../lib/memory-limit.ts';
import {
  createResponseStores,
  type DurableResponseStore,
  type StoredResponse,
} from './response-store.ts';

function answer(id: string): StoredResponse {
  const output = [{ id: `msg_${id}`, type: 'message' }];
  return { id, previousId: 'r0', input: [], response: { id, output } };
}

interface SetUpOptions {
  store?: DurableResponseStore;
  maxEntries?: number;
  maxMemory?: number;
  maxAnswer?: number;
  lifetimeMs?: number;
  room?: Parameters<typeof createResponseStores>[0]['room'];
}

/** A store that comes with no way to change what it has. */
function changeable(store: Omit<DurableResponseStore, 'change'>): DurableResponseStore {
  const inTurn = createMutex();
  return {
    ...store,
    change: (clientKeyId, id, change) =>
      inTurn(async () => {
        const json = await store.find(clientKeyId, id);
        if (json === undefined) return undefined;
        const rows = change(json);
        for (const row of rows) await store.save(row);
        return rows;
      }),
  };
}

function setUp(options: SetUpOptions = {}) {
  const clock = createFakeClock();
  const failures: unknown[] = [];
  const responseStores = createResponseStores({
    clock,
    lifetimeMs: 1000,
    onFailure: (error) => failures.push(error),
    ...options,
  });
  return { clock, failures, responseStores };
}

test('an answer is found by its id and by the ids of its items, for its own key alone', async () => {
  const { responseStores } = setUp();
  responseStores.of('a').put(answer('r1'));
  expect(await responseStores.of('a').find('r1')).toMatchObject(answer('r1'));
  expect(await responseStores.of('a').findByItem('msg_r1')).toMatchObject(answer('r1'));
  expect(await responseStores.of('b').find('r1')).toBeUndefined();
  expect(await responseStores.of('b').findByItem('msg_r1')).toBeUndefined();
  expect(await responseStores.of('b').remove('r1')).toBe(false);
});

test('a removed answer is gone with its items', async () => {
  const { responseStores } = setUp();
  const responses = responseStores.of('a');
  responses.put(answer('r1'));
  expect(await responses.remove('r1')).toBe(true);
  expect(await responses.find('r1')).toBeUndefined();
  expect(await responses.findByItem('msg_r1')).toBeUndefined();
  expect(await responses.remove('r1')).toBe(false);
});

test('an item of two answers stays with the later one when the earlier is removed', async () => {
  const responses = setUp().responseStores.of('a');
  const output = [{ id: 'msg_x', type: 'message' }];
  for (const id of ['r1', 'r2']) responses.put({ id, input: [], response: { id, output } });
  await responses.remove('r1');
  expect(await responses.findByItem('msg_x')).toMatchObject({ id: 'r2' });
});

test('answers end with their lifetime', async () => {
  const { clock, responseStores } = setUp();
  responseStores.of('a').put(answer('r1'));
  await clock.advance(1000);
  expect(await responseStores.of('a').find('r1')).toBeUndefined();
});

test('the memory is bounded, the least recently used answer going first', async () => {
  const { responseStores } = setUp({ maxEntries: 2 });
  const responses = responseStores.of('a');
  responses.put(answer('r1'));
  responses.put(answer('r2'));
  await responses.find('r1');
  responses.put(answer('r3'));
  expect(await responses.find('r1')).toBeDefined();
  expect(await responses.find('r2')).toBeUndefined();
});

test('a store that fails costs nothing but the lines about it', async () => {
  const refuse = () => Promise.reject(new Error('disk full'));
  const store = changeable({
    save: refuse,
    find: async () => undefined,
    findByItem: async () => undefined,
    remove: async () => false,
  });
  const { failures, responseStores } = setUp({ store });
  responseStores.of('a').put(answer('r1'));
  expect(await responseStores.of('a').find('r1')).toBeDefined();
  expect(failures).toEqual([new Error('disk full')]);
});

test('what could not be stored is stored when it can be, and said once', async () => {
  const rows = new Map<string, string>();
  let isFull = true;
  const store = changeable({
    async save({ id, json }) {
      if (isFull) throw new Error('disk full');
      rows.set(id, json);
    },
    find: async (_key, id) => rows.get(id),
    findByItem: async () => undefined,
    remove: async (_key, id) => rows.delete(id),
  });
  const { clock, failures, responseStores } = setUp({ store, lifetimeMs: 60_000 });
  const responses = responseStores.of('a');
  for (const id of ['r1', 'r2', 'r3']) responses.put(answer(id));
  await clock.advance(10_000);
  expect(failures).toHaveLength(3);
  await responses.remove('r3');
  isFull = false;
  await clock.advance(5_000);
  expect([...rows.keys()]).toEqual(['r1', 'r2']);
  expect(clock.pendingTimers).toBe(0);
  isFull = true;
  responses.put(answer('r4'));
  await clock.advance(0);
  expect(clock.pendingTimers).toBe(1);
  responseStores.close();
  expect(clock.pendingTimers).toBe(0);
});

test('what left the memory is read from the store', async () => {
  const store = changeable({
    save: async () => undefined,
    find: async (key, id) => (key === 'a' ? JSON.stringify(answer(id)) : undefined),
    findByItem: async () => undefined,
    remove: async () => true,
  });
  const { responseStores } = setUp({ store });
  expect(await responseStores.of('a').find('old')).toMatchObject(answer('old'));
  expect(await responseStores.of('b').find('old')).toBeUndefined();
  expect(await responseStores.of('a').remove('old')).toBe(true);
});

test('of two saves of one answer the later one stands, however long the first takes', async () => {
  const saved: string[] = [];
  const gate = Promise.withResolvers<void>();
  const store = changeable({
    async save({ json }) {
      if (json.includes('queued')) await gate.promise;
      saved.push(JSON.parse(json).response.status);
    },
    find: async () => undefined,
    findByItem: async () => undefined,
    remove: async () => false,
  });
  const responses = setUp({ store }).responseStores.of('a');
  for (const status of ['queued', 'completed'])
    responses.put({ id: 'r', input: [], response: { id: 'r', status } });
  await Promise.resolve();
  gate.resolve();
  await new Promise(setImmediate);
  expect(saved).toEqual(['queued', 'completed']);
});

test('the memory is bounded by size as well', async () => {
  const size = JSON.stringify(answer('r1')).length;
  const { responseStores } = setUp({ maxMemory: size * 2 });
  const responses = responseStores.of('a');
  for (const id of ['r1', 'r2', 'r3']) responses.put(answer(id));
  expect(await responses.find('r1')).toBeUndefined();
  expect(await responses.find('r2')).toMatchObject({ size });
});

test('an answer that is too large is not kept, and said so', async () => {
  const { failures, responseStores } = setUp({ maxAnswer: 10 });
  responseStores.of('a').put(answer('r1'));
  expect(await responseStores.of('a').find('r1')).toBeUndefined();
  expect(failures).toMatchObject([{ message: expect.stringContaining('too large') }]);
});

test('of an answer whose texts alone are too large no JSON text is made', async () => {
  const { failures, responseStores } = setUp({ maxAnswer: 100 });
  const toJSON = vi.fn();
  const input = [{ type: 'message', content: 'x'.repeat(101), toJSON }] as unknown as JsonObject[];
  const responses = responseStores.of('a');
  expect(responses.put({ ...answer('r1'), input })).toBe(false);
  expect(responses.canKeep(input)).toBe(false);
  expect(failures).toMatchObject([{ message: expect.stringContaining('too large') }]);
  expect(toJSON).not.toHaveBeenCalled();
});

test('a large answer is counted in the memory of requests while it is saved, and not kept where none is left', async () => {
  const gate = Promise.withResolvers<void>();
  const store = changeable({
    save: () => gate.promise,
    find: async () => undefined,
    findByItem: async () => undefined,
    remove: async () => false,
  });
  let left = 250_000;
  const room = {
    take(holder: { heldBytes: number }, bytes: number): void {
      if (bytes > left) throw new Error('no room');
      left -= bytes;
      holder.heldBytes = bytes;
    },
    release(holder: { heldBytes: number }): void {
      left += holder.heldBytes;
    },
  };
  const { failures, responseStores } = setUp({ store, room });
  const responses = responseStores.of('a');
  const large = (id: string): StoredResponse => ({ ...answer(id), session: 'x'.repeat(100_000) });
  expect(['r1', 'r2', 'r3'].map((id) => responses.put(large(id)))).toEqual([true, true, false]);
  expect(responses.put(answer('small'))).toBe(true);
  expect(await responses.find('r3')).toBeUndefined();
  expect(failures).toMatchObject([{ message: 'no room' }]);
  gate.resolve();
  await new Promise(setImmediate);
  expect(left).toBe(250_000);
  expect(responses.put(large('r3'))).toBe(true);
});

test('a process of little memory keeps no large answers', async () => {
  const large = { ...answer('r1'), input: [{ text: 'x'.repeat(3_000_000) }] };
  onTestFinished(() => shareMemory(1));
  for (const [limit, isKept] of [
    [64, false],
    [128, true],
  ] as const) {
    shareMemory(1);
    shareMemory(memoryLimit() / (limit * 1_048_576));
    const { responseStores } = setUp();
    expect(responseStores.of('a').put(large)).toBe(isKept);
  }
});

test('changes of one answer come one after the other, and reading waits for them', async () => {
  let release = () => {};
  let stored = JSON.stringify(answer('c'));
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const store = changeable({
    save: async ({ json }) => {
      stored = json;
    },
    find: async () => {
      await gate;
      return stored;
    },
    findByItem: async () => undefined,
    remove: async () => false,
  });
  const responses = setUp({ store }).responseStores.of('a');
  const add = (word: string) =>
    responses.change('c', (kept) => [{ ...kept, input: [...kept.input, { word }] }]);
  const [first, second, found] = [add('one'), add('two'), responses.find('c')];
  release();
  await Promise.all([first, second]);
  expect(await found).toMatchObject({ input: [{ word: 'one' }, { word: 'two' }] });
  await expect(
    responses.change('c', () => {
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  expect(await responses.find('c')).toBeDefined();
});

test('an answer that is removed while it changes stays removed', async () => {
  const stored = new Map([['c', JSON.stringify(answer('c'))]]);
  const [begun, read] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const store = changeable({
    save: async ({ id, json }) => void stored.set(id, json),
    find: async (_key, id) => {
      const json = stored.get(id);
      begun.resolve();
      await read.promise;
      return json;
    },
    findByItem: async () => undefined,
    remove: async (_key, id) => stored.delete(id),
  });
  const responses = setUp({ store }).responseStores.of('a');
  const change = (word: string) =>
    responses.change('c', (kept) => [{ ...kept, input: [{ word }] }]);
  const before = change('before');
  await begun.promise;
  const steps = Promise.all([before, responses.remove('c'), change('after')]);
  read.resolve();
  const [changed, wasThere, changedLater] = await steps;
  expect(await responses.find('c')).toBeUndefined();
  expect(stored.size).toBe(0);
  expect([changed?.input, wasThere, changedLater]).toEqual([[{ word: 'before' }], true, undefined]);
});

/**
 * Two processes over one store whose saves end when they are told to.
 * @param lateMs what a notice takes from one to the other
 */
function openReplicas({ lateMs = 0 } = {}) {
  const clock = createFakeClock();
  const hub = new Hub(clock);
  const rows = new Map<string, string>();
  const saves: (() => void)[] = [];
  const store = changeable({
    save: ({ id, json }) =>
      new Promise((resolve) => {
        saves.push(() => {
          rows.set(id, json);
          resolve();
        });
      }),
    find: async (_key, id) => rows.get(id),
    findByItem: async (_key, itemId) => [...rows.values()].find((json) => json.includes(itemId)),
    remove: async (_key, id) => rows.delete(id),
  });
  const open = (replica: string) => {
    const cluster = createMemoryCluster({ replica, clock, hub, onFault });
    const { notices } = cluster;
    const listen: typeof notices.listen = (topic, { take }) =>
      notices.listen(topic, {
        take(...told) {
          if (lateMs === 0) take(...told);
          else clock.startTimer(lateMs, () => take(...told));
        },
      });
    const sharing = { cluster: { ...cluster, notices: { ...notices, listen } }, clock };
    return createResponseStores({ clock, store, onFailure: onFault, sharing }).of('a');
  };
  const saveAll = async (): Promise<void> => {
    for (const save of saves.splice(0)) save();
    await clock.advance(0);
  };
  return { clock, saveAll, one: open('one'), other: open('other') };
}

test('an answer of another process is found also by who asks while it is being saved', async () => {
  const { saveAll, one, other } = openReplicas();
  one.put(answer('r1'));
  const [byId, byItem] = [other.find('r1'), other.findByItem('msg_r1')];
  await saveAll();
  expect(await byId).toMatchObject(answer('r1'));
  expect(await byItem).toMatchObject(answer('r1'));
});

test('what is put is stored for all once it is said to be, or after half a second', async () => {
  const { clock, saveAll, one } = openReplicas();
  let isSaid = false;
  const say = (): void => {
    isSaid = true;
  };
  one.put(answer('r1'));
  void one.stored(['r0', 'r1'])?.then(say);
  await clock.advance(499);
  expect(isSaid).toBe(false);
  await clock.advance(1);
  expect(isSaid).toBe(true);
  isSaid = false;
  void one.stored(['r1'])?.then(say);
  await saveAll();
  expect([isSaid, one.stored(['r1'])]).toEqual([true, undefined]);
});

test('nobody waits for what is put where no other process may be asked for it', () => {
  const store = changeable({
    save: () => new Promise(() => undefined),
    find: async () => undefined,
    findByItem: async () => undefined,
    remove: async () => false,
  });
  const responses = setUp({ store }).responseStores.of('a');
  responses.put(answer('r1'));
  expect(responses.stored(['r1'])).toBeUndefined();
});

test('an answer of another process is found also by who asks before that was heard of', async () => {
  const { clock, saveAll, one, other } = openReplicas({ lateMs: 120 });
  one.put(answer('r1'));
  const found = [other.find('r1'), other.findByItem('msg_r1')];
  const never = other.find('r2');
  await clock.advance(240);
  await saveAll();
  await clock.advance(120);
  const [byId, byItem] = await Promise.all(found);
  expect([byId?.id, byItem?.id, await never]).toEqual(['r1', 'r1', undefined]);
});

test('what another process changes or removes is not shown as it was before', async () => {
  const { clock, saveAll, one, other } = openReplicas();
  one.put(answer('r1'));
  await saveAll();
  const change = other.change('r1', (known) => [{ ...known, previousId: 'changed' }]);
  const found = one.find('r1');
  await saveAll();
  await saveAll();
  await change;
  expect(await found).toMatchObject({ previousId: 'changed' });
  expect(await one.remove('r1')).toBe(true);
  const removed = other.find('r1');
  await clock.advance(200);
  expect(await removed).toBeUndefined();
});

test('what one process removed is at no other any more', async () => {
  const { clock, saveAll, one, other } = openReplicas({ lateMs: 120 });
  one.put(answer('r1'));
  await saveAll();
  await clock.advance(120);
  const found = other.remove('r1').then(() => one.find('r1'));
  await clock.advance(1_000);
  expect(await found).toBeUndefined();
});

test('two processes that change one answer at the same moment lose nothing of either', async () => {
  const { saveAll, clock, one, other } = openReplicas();
  one.put(answer('r1'));
  await saveAll();
  const add = (responses: typeof one, word: string) =>
    responses.change('r1', (known) => [{ ...known, input: [...known.input, { word }] }]);
  const changes = Promise.all([add(one, 'one'), add(other, 'other')]);
  const found = one.findLatest('r1');
  for (let turn = 0; turn < 4; turn += 1) await saveAll();
  await changes;
  await clock.advance(200);
  const words = (await found)?.input.map(({ word }) => word).sort();
  expect(words).toEqual(['one', 'other']);
  expect((await other.find('r1'))?.input).toHaveLength(2);
});

test('a save of another process that does not end is not waited for', async () => {
  const { clock, one, other } = openReplicas();
  one.put(answer('r1'));
  const found = other.find('r1');
  await clock.advance(2000);
  await clock.advance(200);
  expect(await found).toBeUndefined();
  expect(await one.find('r1')).toMatchObject(answer('r1'));
});

test('who makes a response in the background is kept with it, and with no other', async () => {
  const { one } = openReplicas();
  for (const [id, background] of [['r1', true] as const, ['r2', false] as const]) {
    one.put({ id, input: [], response: { id, status: 'completed', background } });
  }
  expect(await one.find('r1')).toMatchObject({ runner: 'one' });
  expect(await one.find('r2')).not.toHaveProperty('runner');
});

test('of two processes that say how one ended the first is right, and each knows', async () => {
  const { clock, saveAll, one, other } = openReplicas();
  const ending = (status: string): StoredResponse => ({
    id: 'r1',
    input: [],
    response: { id: 'r1', status, background: true },
  });
  one.put(ending('queued'));
  await saveAll();
  const ends = [other.end(ending('failed')), one.end(ending('completed'))];
  for (let turn = 0; turn < 4; turn += 1) await saveAll();
  expect(await Promise.all(ends)).toEqual([true, false]);
  await clock.advance(300);
  for (const responses of [one, other])
    expect((await responses.find('r1'))?.response.status).toBe('failed');
});

test('one that was removed is not there again when it ends', async () => {
  const { clock, saveAll, one, other } = openReplicas();
  one.put({ id: 'r1', input: [], response: { id: 'r1', status: 'queued' } });
  await saveAll();
  const removed = other.remove('r1');
  await clock.advance(300);
  await removed;
  const ended = one.end({ id: 'r1', input: [], response: { id: 'r1', status: 'completed' } });
  for (let turn = 0; turn < 4; turn += 1) await saveAll();
  await ended;
  const found = one.find('r1');
  await clock.advance(300);
  expect(await found).toBeUndefined();
});

function onFault(error: unknown): never {
  throw error;
}

test('an answer that is removed while it is being saved stays removed', async () => {
  const stored = new Set<string>();
  const saving = Promise.withResolvers<void>();
  const store = changeable({
    save: async ({ id }) => {
      await saving.promise;
      stored.add(id);
    },
    find: async () => undefined,
    findByItem: async () => undefined,
    remove: async (_key, id) => stored.delete(id),
  });
  const responses = setUp({ store }).responseStores.of('a');
  responses.put(answer('r1'));
  const removed = responses.remove('r1');
  saving.resolve();
  expect(await removed).toBe(true);
  expect([...stored]).toEqual([]);
});
