import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createMemorySignatureStore } from '../../test/support/memory-signature-store.ts';
import { createMemoryTraceStore } from '../../test/support/memory-trace-store.ts';
import { createSignatureKeeper } from './cache.ts';
import type { SignatureStore, StoredSignature, TraceStore } from './signature-store.ts';

const signature = { value: 'S', family: 'alpha', on: 'tool-call' } as const;

test('what was remembered is there after a restart, for its own key and lifetime only', async () => {
  const clock = createFakeClock();
  const store = createMemorySignatureStore();
  const keeper = createSignatureKeeper({ clock, store, lifetimeMs: 10_000 });
  keeper.rememberCall('ann', { id: 'c1', name: 'read', signature });
  keeper.rememberThought('ann', 'a thought', signature);
  await clock.advance(1000);
  const restarted = createSignatureKeeper({ clock, store, lifetimeMs: 10_000 });
  await restarted.load();
  expect(restarted.findCall('ann', 'c1', 'read')).toEqual(signature);
  expect(restarted.findThought('ann', 'a thought')).toEqual(signature);
  expect(restarted.issued('ann', 'S')).toMatchObject({ family: 'alpha' });
  expect(restarted.findCall('bob', 'c1', 'read')).toBeUndefined();
  await clock.advance(9000);
  expect(restarted.findCall('ann', 'c1', 'read')).toBeUndefined();
});

test('after a restart a call is known without its id, by its function and what it answered', async () => {
  const clock = createFakeClock();
  const store = createMemorySignatureStore();
  const keeper = createSignatureKeeper({ clock, store });
  const call = { name: 'read', input: { a: 1 } };
  keeper.rememberContent('ann', { content: '{"a":1}', callee: 'read', asked: 'why' }, signature);
  await keeper.close();
  const restarted = createSignatureKeeper({ clock, store });
  await restarted.load();
  const find = (callee: string) =>
    restarted.findAnsweredCall('ann', { ...call, name: callee }, () => 'why');
  expect(find('read')).toEqual(signature);
  expect(find('write')).toBeUndefined();
  expect(restarted.findContent('ann', { content: '{"a":1}', asked: 'why' })).toBeUndefined();
});

test('what an upstream did before a call is there after a restart, for its own key and lifetime only', async () => {
  const clock = createFakeClock();
  const traceStore = createMemoryTraceStore();
  const keeper = createSignatureKeeper({ clock, traceStore, lifetimeMs: 10_000 });
  const call = { id: 'c1', name: 'read' };
  const trace = { family: 'alpha', parts: [{ toolCall: { id: 's1' }, thoughtSignature: 'S' }] };
  keeper.rememberTrace('ann', call, trace);
  await clock.advance(1000);
  const restarted = createSignatureKeeper({ clock, traceStore, lifetimeMs: 10_000 });
  await restarted.load();
  expect(restarted.findTrace('ann', call)).toEqual(trace);
  expect(restarted.findTrace('bob', call)).toBeUndefined();
  expect(restarted.findTrace('ann', { id: 'c1', name: 'write' })).toBeUndefined();
  await clock.advance(9000);
  expect(restarted.findTrace('ann', call)).toBeUndefined();
});

test('what waits to be saved is counted once, however often it is remembered anew', async () => {
  const clock = createFakeClock();
  const traceStore: TraceStore = {
    load: async () => [],
    save: () => Promise.reject(new Error('no room')),
  };
  const keeper = createSignatureKeeper({ clock, traceStore });
  const trace = { family: 'f', parts: [{ text: 'x'.repeat(200_000) }] };
  for (let turn = 0; turn < 200; turn += 1) {
    keeper.rememberTrace('k', { id: 'c', name: 'n' }, trace);
  }
  expect(keeper.droppedWrites).toBe(0);
  await keeper.close();
  expect(keeper.droppedWrites).toBe(1);
});

test('a trace too large to be remembered is not saved, and many are saved a few at a time', async () => {
  const clock = createFakeClock();
  const batches: number[] = [];
  const traceStore: TraceStore = {
    load: async () => [],
    save: async (traces) => void batches.push(traces.length),
  };
  const keeper = createSignatureKeeper({ clock, traceStore });
  const trace = (length: number) => ({ family: 'f', parts: [{ text: 'x'.repeat(length) }] });
  keeper.rememberTrace('k', { id: 'huge', name: 'n' }, trace(300_000));
  for (let turn = 0; turn < 10; turn += 1) {
    keeper.rememberTrace('k', { id: `c${turn}`, name: 'n' }, trace(100_000));
  }
  await keeper.close();
  expect(batches).toEqual([2, 2, 2, 2, 2]);
});

test('traces that cannot be read cost no signature, and the other way round', async () => {
  const clock = createFakeClock();
  const store = createMemorySignatureStore();
  const traceStore = createMemoryTraceStore();
  const first = createSignatureKeeper({ clock, store, traceStore });
  const trace = { family: 'alpha', parts: [{ toolCall: {} }] };
  first.rememberCall('k', { id: 'c', name: 'n', signature });
  first.rememberTrace('k', { id: 'c', name: 'n' }, trace);
  await first.close();
  const broken = async () => Promise.reject(new Error('gone'));
  const warnings: string[] = [];
  const log = { warn: (_: object, message: string) => void warnings.push(message) };
  const withoutTraces = createSignatureKeeper({
    ...{ clock, store, log, traceStore: { ...traceStore, load: broken } },
  });
  await withoutTraces.load();
  expect(withoutTraces.findCall('k', 'c', 'n')).toEqual(signature);
  const withoutSignatures = createSignatureKeeper({
    ...{ clock, store: { ...store, load: broken }, log, traceStore },
  });
  await withoutSignatures.load();
  expect(withoutSignatures.findTrace('k', { id: 'c', name: 'n' })).toEqual(trace);
  expect(warnings).toHaveLength(2);
});

test('storage sees neither keys, calls nor texts', async () => {
  const saved: StoredSignature[] = [];
  const store: SignatureStore = {
    load: async () => [],
    save: async (entries) => void saved.push(...entries),
  };
  const keeper = createSignatureKeeper({ clock: createFakeClock(), store });
  keeper.rememberCall('client-key', { id: 'call-1', name: 'delete_all', signature });
  keeper.rememberThought('client-key', 'a private thought', signature);
  await keeper.close();
  expect(saved).toHaveLength(3);
  expect(JSON.stringify(saved)).not.toMatch(/client-key|call-1|delete_all|private/);
});

test('closing saves what waits, and gives up when the store fails', async () => {
  const clock = createFakeClock();
  const store = createMemorySignatureStore();
  const keeper = createSignatureKeeper({ clock, store });
  for (let turn = 0; turn < 500; turn += 1) keeper.rememberValue('k', { value: `v${turn}` });
  await keeper.close();
  expect(await store.load({ now: clock.now(), maxEntries: 1000 })).toHaveLength(500);

  const broken = createSignatureKeeper({
    clock,
    store: {
      load: () => Promise.reject(new Error('gone')),
      save: () => Promise.reject(new Error()),
    },
  });
  await broken.load();
  broken.rememberValue('k', signature);
  await broken.close();
  expect(broken.droppedWrites).toBe(1);
  expect(broken.issued('k', 'S')).toMatchObject({ family: 'alpha' });
});

test('all values together stay within their size', () => {
  const keeper = createSignatureKeeper({ clock: createFakeClock(), maxSize: 1000 });
  for (let turn = 0; turn < 10; turn += 1) {
    keeper.rememberValue('k', { value: `${turn}`.repeat(300), family: 'alpha' });
  }
  const kept = Array.from({ length: 10 }, (_, turn) =>
    keeper.issued('k', `${turn}`.repeat(300)),
  ).filter((signature) => signature !== undefined);
  expect(kept).toHaveLength(3);
});
