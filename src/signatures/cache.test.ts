import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createMemoryExpiringStore } from '../../test/support/memory-expiring-store.ts';
import { createMemorySignatureStore } from '../../test/support/memory-signature-store.ts';
import type { SignatureKey } from '../canonical/signatures.ts';
import type { ExpiringStore } from '../lib/expiring-store.ts';
import { SignatureCache, type SignatureStore, type StoredSignature } from './cache.ts';

type SignatureCacheOptions = ConstructorParameters<typeof SignatureCache>[0];

const signature = { value: 'S', family: 'alpha', on: 'tool-call' } as const;

const call = (id: string, name: string): SignatureKey => ({ kind: 'call', id, name });
const thought = (text: string, family = 'alpha'): SignatureKey => {
  return { kind: 'thought', text, family };
};
const value = (text: string): SignatureKey => ({ kind: 'value', value: text });
const content = (text: string, asked = 'why'): SignatureKey => {
  return { kind: 'content', content: text, asked: () => asked };
};
const answeredCall = (name: string, json: string, asked = 'why'): SignatureKey => {
  return { kind: 'answered-call', name, json: () => json, asked: () => asked };
};

function openCache(options: Partial<SignatureCacheOptions> = {}) {
  const clock = createFakeClock();
  const cache = new SignatureCache({ clock, ...options });
  const find = (scope: string, key: SignatureKey) => cache.lookup(scope, key)?.signature;
  return { clock, cache, find };
}

/** A cache over the same stores, as after a restart. */
async function reopen(options: SignatureCacheOptions): Promise<SignatureCache> {
  const cache = new SignatureCache(options);
  await cache.load();
  return cache;
}

test('a call’s signature comes back to the same key, by id and name only', () => {
  const { cache, find } = openCache();
  cache.remember('ann', call('c1', 'read'), { signature });
  expect(find('ann', call('c1', 'read'))).toEqual(signature);
  expect(find('ann', call('c1', 'write'))).toBeUndefined();
  expect(find('bob', call('c1', 'read'))).toBeUndefined();
  expect(find('ann', value('S'))).toEqual(signature);
  expect(find('bob', value('S'))).toBeUndefined();
});

test('the same words of two families are two thoughts', () => {
  const { cache, find } = openCache();
  const other = { value: 'T', family: 'anthropic', on: 'thinking' } as const;
  cache.remember('ann', thought('Let me look.'), { signature });
  cache.remember('ann', thought('Let me look.', 'anthropic'), { signature: other });
  expect(find('ann', thought('Let me look.'))).toEqual(signature);
  expect(find('ann', thought('Let me look.', 'anthropic'))).toEqual(other);
});

test('a value is found however its base64 is spelt, as it was issued', () => {
  const { cache, find } = openCache();
  for (const one of ['a+b/cQ==', 'd-e_fQ']) {
    cache.remember('ann', value(one), { signature: { value: one } });
  }
  for (const spelt of ['a+b/cQ==', 'a-b_cQ==', 'a-b_cQ', 'a+b/cQ']) {
    expect(find('ann', value(spelt))?.value).toBe('a+b/cQ==');
  }
  for (const spelt of ['d-e_fQ', 'd+e/fQ==']) {
    expect(find('ann', value(spelt))?.value).toBe('d-e_fQ');
  }
});

test('keys never share signatures, however names are put together', () => {
  const { cache, find } = openCache();
  cache.remember('ann thought', thought('x'), { signature });
  expect(find('ann', thought('thought x'))).toBeUndefined();
  cache.remember('ann', call('a b', 'c'), { signature });
  expect(find('ann', call('a', 'b c'))).toBeUndefined();
});

test('what is remembered of a call one after the other comes back together', () => {
  const { cache } = openCache();
  const history = { family: 'alpha', parts: [{ toolCall: { id: 's1' } }] };
  const input = { issued: '{"n":"1"}', shown: '{"n":1}' };
  cache.remember('ann', call('c1', 'read'), { signature, history });
  cache.remember('ann', call('c1', 'read'), { input });
  expect(cache.lookup('ann', call('c1', 'read'))).toMatchObject({ signature, input, history });
  cache.remember('ann', call('c1', 'read'), { input: { issued: '{}' } });
  expect(cache.lookup('ann', call('c1', 'read'))?.input).toEqual({ issued: '{}' });
});

test('large arguments and histories are not remembered, and cost their call no signature', () => {
  const { cache } = openCache();
  const large = JSON.stringify({ text: 'x'.repeat(300_000) });
  const history = { family: 'alpha', parts: [{ text: large }] };
  cache.remember('ann', call('c1', 'n'), { signature, history, input: { issued: large } });
  const found = cache.lookup('ann', call('c1', 'n'));
  expect([found?.signature, found?.input, found?.history]).toEqual([
    signature,
    undefined,
    undefined,
  ]);
  cache.remember('ann', call('c2', 'n'), { input: { issued: '{}', shown: large } });
  expect(cache.lookup('ann', call('c2', 'n'))?.input).toEqual({ issued: '{}' });
});

test('the arguments of calls are not written down before any call was signed', () => {
  const { cache, find } = openCache();
  cache.remember('ann', content('words'), { signature });
  const written: string[] = [];
  const key: SignatureKey = {
    kind: 'answered-call',
    name: 'read',
    json: () => `${written.push('input')}`,
    asked: () => `${written.push('asked')}`,
  };
  expect(find('ann', key)).toBeUndefined();
  expect(written).toEqual([]);
  cache.remember('ann', answeredCall('read', '{}'), { signature });
  expect(find('ann', key)).toBeUndefined();
  expect(written).toEqual(['input', 'asked']);
});

test('entries expire after their lifetime', async () => {
  const { clock, cache, find } = openCache({ lifetimeMs: 1000 });
  cache.remember('ann', thought('a long thought'), { signature });
  await clock.advance(999);
  expect(find('ann', thought('a long thought'))).toEqual(signature);
  await clock.advance(1);
  expect(find('ann', thought('a long thought'))).toBeUndefined();
});

test('the least recently used entry leaves first', () => {
  const { cache, find } = openCache({ maxEntries: 4 });
  cache.remember('k', call('1', 'n'), { signature: { value: 'A' } });
  cache.remember('k', call('2', 'n'), { signature: { value: 'B' } });
  find('k', call('1', 'n'));
  cache.remember('k', call('3', 'n'), { signature: { value: 'C' } });
  expect(find('k', call('1', 'n'))).toEqual({ value: 'A' });
  expect(find('k', call('2', 'n'))).toBeUndefined();
});

test('all entries together stay within their size', () => {
  const { cache, find } = openCache({ maxSize: 1000 });
  const values = Array.from({ length: 10 }, (_, turn) => `${turn}`.repeat(300));
  for (const one of values) cache.remember('k', value(one), { signature: { value: one } });
  expect(values.filter((one) => find('k', value(one)) !== undefined)).toHaveLength(3);
});

test('a signed text comes back by its words, whatever blanks stand around them', () => {
  const { cache, find } = openCache();
  cache.remember('ann', content('It rains.\n'), { signature });
  expect(find('ann', content('It rains.'))).toEqual(signature);
  expect(find('bob', content('It rains.'))).toBeUndefined();
  expect(find('ann', content('It snows.'))).toBeUndefined();
  expect(find('ann', content('It rains.', 'who?'))).toBeUndefined();
});

test('of words that were signed twice neither signature comes back', () => {
  const { cache, find } = openCache();
  const key = content('Done.');
  cache.remember('ann', key, { signature });
  cache.remember('ann', key, { signature });
  expect(find('ann', key)).toEqual(signature);
  cache.remember('ann', key, { signature: { ...signature, value: 'T' } });
  expect(find('ann', key)).toBeUndefined();
  cache.remember('ann', key, { signature });
  expect(find('ann', key)).toBeUndefined();
});

test('what was remembered is there after a restart, for its own key and lifetime only', async () => {
  const stores = { store: createMemorySignatureStore(), traceStore: createMemoryExpiringStore() };
  const { clock, cache } = openCache({ ...stores, lifetimeMs: 10_000 });
  const history = { family: 'alpha', parts: [{ toolCall: { id: 's1' }, thoughtSignature: 'S' }] };
  cache.remember('ann', call('c1', 'read'), { signature, history });
  cache.remember('ann', thought('a thought'), { signature });
  cache.remember('ann', content('Done.'), { signature });
  cache.remember('ann', answeredCall('read', '{"a":1}'), { signature });
  await clock.advance(1000);
  const restarted = await reopen({ clock, ...stores, lifetimeMs: 10_000 });
  const find = (scope: string, key: SignatureKey) => restarted.lookup(scope, key)?.signature;
  expect(restarted.lookup('ann', call('c1', 'read'))).toMatchObject({ signature, history });
  for (const key of [thought('a thought'), content('Done.'), value('S')]) {
    expect(find('ann', key)).toEqual(signature);
  }
  expect(find('ann', answeredCall('read', '{"a":1}'))).toEqual(signature);
  expect(find('ann', answeredCall('write', '{"a":1}'))).toBeUndefined();
  expect(find('ann', content('{"a":1}'))).toBeUndefined();
  expect(restarted.lookup('bob', call('c1', 'read'))).toBeUndefined();
  await clock.advance(9000);
  expect(restarted.lookup('ann', call('c1', 'read'))).toBeUndefined();
});

test('histories that cannot be read cost no signature, and the other way round', async () => {
  const clock = createFakeClock();
  const store = createMemorySignatureStore();
  const traceStore = createMemoryExpiringStore();
  const first = new SignatureCache({ clock, store, traceStore });
  const history = { family: 'alpha', parts: [{ toolCall: {} }] };
  first.remember('k', call('c', 'n'), { signature, history });
  await first.close();
  const load = () => Promise.reject(new Error('gone'));
  const warnings: string[] = [];
  const log = { warn: (_: object, message: string) => void warnings.push(message) };
  const withoutHistories = { clock, store, traceStore: { ...traceStore, load }, log };
  const signed = (await reopen(withoutHistories)).lookup('k', call('c', 'n'));
  expect([signed?.signature, signed?.history]).toEqual([signature, undefined]);
  const withoutSignatures = { clock, store: { ...store, load }, traceStore, log };
  const searched = (await reopen(withoutSignatures)).lookup('k', call('c', 'n'));
  expect([searched?.signature, searched?.history]).toEqual([undefined, history]);
  expect(warnings).toHaveLength(2);
});

test('what waits to be saved is counted once, however often it is remembered anew', async () => {
  const traceStore: ExpiringStore = {
    load: async () => [],
    save: () => Promise.reject(new Error('no room')),
  };
  const { cache } = openCache({ traceStore });
  const history = { family: 'f', parts: [{ text: 'x'.repeat(200_000) }] };
  for (let turn = 0; turn < 200; turn += 1) cache.remember('k', call('c', 'n'), { history });
  expect(cache.droppedWrites).toBe(0);
  await cache.close();
  expect(cache.droppedWrites).toBe(1);
});

test('a history too large to be remembered is not saved, and many are saved a few at a time', async () => {
  const batches: number[] = [];
  const traceStore: ExpiringStore = {
    load: async () => [],
    save: async (traces) => void batches.push(traces.length),
  };
  const { cache } = openCache({ traceStore });
  const history = (length: number) => ({ family: 'f', parts: [{ text: 'x'.repeat(length) }] });
  cache.remember('k', call('huge', 'n'), { history: history(300_000) });
  for (let turn = 0; turn < 10; turn += 1) {
    cache.remember('k', call(`c${turn}`, 'n'), { history: history(100_000) });
  }
  await cache.close();
  expect(batches).toEqual([2, 2, 2, 2, 2]);
});

test('storage sees neither keys, calls nor texts', async () => {
  const saved: StoredSignature[] = [];
  const store: SignatureStore = {
    load: async () => [],
    save: async (entries) => void saved.push(...entries),
  };
  const { cache } = openCache({ store });
  cache.remember('client-key', call('call-1', 'delete_all'), { signature });
  cache.remember('client-key', thought('a private thought'), { signature });
  await cache.close();
  expect(saved).toHaveLength(3);
  expect(JSON.stringify(saved)).not.toMatch(/client-key|call-1|delete_all|private/);
});

test('signatures are flushed on close, and remembered all the same when the store fails', async () => {
  const store = createMemorySignatureStore();
  const { clock, cache } = openCache({ store });
  for (let turn = 0; turn < 500; turn += 1) {
    cache.remember('k', value(`v${turn}`), { signature: { value: `v${turn}` } });
  }
  await cache.close();
  expect(await store.load({ now: clock.now(), maxEntries: 1000 })).toHaveLength(500);
  const fail = () => Promise.reject(new Error('gone'));
  const broken = await reopen({ clock, store: { load: fail, save: fail } });
  broken.remember('k', value('S'), { signature });
  await broken.close();
  expect(broken.droppedWrites).toBe(1);
  expect(broken.lookup('k', value('S'))).toMatchObject({ signature });
});
