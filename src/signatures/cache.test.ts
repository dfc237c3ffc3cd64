import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createMemorySignatureStore } from '../../test/support/memory-signature-store.ts';
import { createSignatureKeeper } from './cache.ts';

const signature = { value: 'S', family: 'alpha', on: 'tool-call' } as const;

test('a call’s signature comes back to the same key, by id and name only', () => {
  const keeper = createSignatureKeeper({ clock: createFakeClock() });
  keeper.rememberCall('ann', { id: 'c1', name: 'read', signature });
  expect(keeper.findCall('ann', 'c1', 'read')).toEqual(signature);
  expect(keeper.findCall('ann', 'c1', 'write')).toBeUndefined();
  expect(keeper.findCall('bob', 'c1', 'read')).toBeUndefined();
  expect(keeper.issued('ann', 'S')).toMatchObject({ family: 'alpha' });
  expect(keeper.issued('bob', 'S')).toBeUndefined();
});

test('a value is found however its base64 is spelt, as it was issued', () => {
  const keeper = createSignatureKeeper({ clock: createFakeClock() });
  for (const value of ['a+b/cQ==', 'd-e_fQ']) keeper.rememberValue('ann', { value });
  for (const spelt of ['a+b/cQ==', 'a-b_cQ==', 'a-b_cQ', 'a+b/cQ']) {
    expect(keeper.issued('ann', spelt)?.value).toBe('a+b/cQ==');
  }
  for (const spelt of ['d-e_fQ', 'd+e/fQ==']) {
    expect(keeper.issued('ann', spelt)?.value).toBe('d-e_fQ');
  }
});

test('keys never share signatures, however names are put together', () => {
  const keeper = createSignatureKeeper({ clock: createFakeClock() });
  keeper.rememberThought('ann thought', 'x', signature);
  expect(keeper.findThought('ann', 'thought x')).toBeUndefined();
  keeper.rememberCall('ann', { id: 'a b', name: 'c', signature });
  expect(keeper.findCall('ann', 'a', 'b c')).toBeUndefined();
});

test('the arguments a call was signed with come back for those its client was shown, and no others', async () => {
  const clock = createFakeClock();
  const keeper = createSignatureKeeper({ clock, lifetimeMs: 1000 });
  const call = { id: 'c1', name: 'read' };
  expect(keeper.findInput('ann', call, { n: 1 })).toBeUndefined();
  keeper.rememberInput('ann', call, { shown: '{"n":1}', issued: '{"n":"1"}' });
  expect(keeper.findInput('ann', call, { n: 1 })).toEqual({ n: '1' });
  expect(keeper.findInput('ann', call, { n: 2 })).toBeUndefined();
  const wide = { id: 'c3', name: 'read' };
  keeper.rememberInput('ann', wide, { shown: '{"a":1,"b":{"c":2,"d":3}}', issued: '{"a":"1"}' });
  expect(keeper.findInput('ann', wide, { b: { d: 3, c: 2 }, a: 1 })).toEqual({ a: '1' });
  expect(keeper.findInput('bob', call, { n: 1 })).toBeUndefined();
  expect(keeper.findInput('ann', { id: 'c1', name: 'write' }, { n: 1 })).toBeUndefined();
  const huge = JSON.stringify({ text: 'x'.repeat(300_000) });
  keeper.rememberInput('ann', { id: 'c2', name: 'read' }, { shown: huge, issued: '{}' });
  expect(keeper.findInput('ann', { id: 'c2', name: 'read' }, JSON.parse(huge))).toBeUndefined();
  await clock.advance(1000);
  expect(keeper.findInput('ann', call, { n: 1 })).toBeUndefined();
});

test('the arguments a call was signed with come back for those its client filled in or trimmed', () => {
  const keeper = createSignatureKeeper({ clock: createFakeClock() });
  const schema = { type: 'object', properties: { all: { type: 'boolean', default: false } } };
  const call = { id: 'c1', name: 'edit', schema };
  keeper.rememberInput('ann', call, { shown: '{"path":"a"}', issued: '{"path":"a"}' });
  expect(keeper.findInput('ann', call, { all: false, path: 'a' })).toEqual({ path: 'a' });
  expect(keeper.findInput('ann', call, { all: true, path: 'a' })).toBeUndefined();
  keeper.rememberInput('ann', call, { shown: '{"path":"a "}', issued: '{"path":"a "}' });
  expect(keeper.findInput('ann', call, { path: 'a' })).toEqual({ path: 'a ' });
  // As it was issued: nothing is to be put in its place, and nothing parsed.
  expect(keeper.findInput('ann', call, { path: 'a ' })).toBeUndefined();
});

test('the arguments a call was issued with come back for any others, not for themselves', () => {
  const keeper = createSignatureKeeper({ clock: createFakeClock() });
  const call = { id: 'c1', name: 'read' };
  expect(keeper.findIssuedInput('ann', call, { n: 2 })).toBeUndefined();
  keeper.rememberIssuedInput('ann', call, '{"n":1}');
  expect(keeper.findIssuedInput('ann', call, { n: 2 })).toEqual({ n: 1 });
  expect(keeper.findIssuedInput('ann', call, { n: 1 })).toBeUndefined();
  expect(keeper.findIssuedInput('bob', call, { n: 2 })).toBeUndefined();
  keeper.rememberIssuedInput('ann', call, '');
  expect(keeper.findIssuedInput('ann', call, { n: 2 })).toEqual({});
});

test('the arguments of calls are not written down before any call was signed', () => {
  const keeper = createSignatureKeeper({ clock: createFakeClock() });
  keeper.rememberContent('ann', { content: 'words', asked: 'why' }, signature);
  const written: string[] = [];
  const call = { name: 'read', input: { toJSON: () => written.push('input') } as never };
  const find = () => keeper.findAnsweredCall('ann', call, () => `${written.push('asked')}`);
  expect(find()).toBeUndefined();
  expect(written).toEqual([]);
  keeper.rememberContent('ann', { content: '{}', callee: 'read', asked: 'why' }, signature);
  expect(find()).toBeUndefined();
  expect(written).toEqual(['input', 'asked']);
});

test('entries expire after their lifetime', async () => {
  const clock = createFakeClock();
  const keeper = createSignatureKeeper({ clock, lifetimeMs: 1000 });
  keeper.rememberThought('ann', 'a long thought', signature);
  await clock.advance(999);
  expect(keeper.findThought('ann', 'a long thought')).toEqual(signature);
  await clock.advance(1);
  expect(keeper.findThought('ann', 'a long thought')).toBeUndefined();
});

test('the least recently used entry leaves first', () => {
  const keeper = createSignatureKeeper({ clock: createFakeClock(), maxEntries: 4 });
  keeper.rememberCall('k', { id: '1', name: 'n', signature: { value: 'A' } });
  keeper.rememberCall('k', { id: '2', name: 'n', signature: { value: 'B' } });
  keeper.findCall('k', '1', 'n');
  keeper.rememberCall('k', { id: '3', name: 'n', signature: { value: 'C' } });
  expect(keeper.findCall('k', '1', 'n')).toEqual({ value: 'A' });
  expect(keeper.findCall('k', '2', 'n')).toBeUndefined();
});

test('a signed text comes back by its words, whatever blanks stand around them', () => {
  const keeper = createSignatureKeeper({ clock: createFakeClock() });
  const asked = 'And the weather?';
  keeper.rememberContent('ann', { content: 'It rains.\n', asked }, signature);
  expect(keeper.findContent('ann', { content: 'It rains.', asked })).toEqual(signature);
  expect(keeper.findContent('bob', { content: 'It rains.', asked })).toBeUndefined();
  expect(keeper.findContent('ann', { content: 'It snows.', asked })).toBeUndefined();
  expect(keeper.findContent('ann', { content: 'It rains.', asked: 'Why?' })).toBeUndefined();
});

test('of words that were signed twice neither signature comes back', () => {
  const keeper = createSignatureKeeper({ clock: createFakeClock() });
  const answer = { content: 'Done.', asked: 'Go on.' };
  keeper.rememberContent('ann', answer, signature);
  keeper.rememberContent('ann', answer, signature);
  expect(keeper.findContent('ann', answer)).toEqual(signature);
  keeper.rememberContent('ann', answer, { ...signature, value: 'T' });
  expect(keeper.findContent('ann', answer)).toBeUndefined();
  keeper.rememberContent('ann', answer, signature);
  expect(keeper.findContent('ann', answer)).toBeUndefined();
});

test('a signed text comes back after a restart', async () => {
  const clock = createFakeClock();
  const store = createMemorySignatureStore();
  const before = createSignatureKeeper({ clock, store });
  const answer = { content: 'Done.', asked: 'Go on.' };
  before.rememberContent('ann', answer, signature);
  await before.close();
  const after = createSignatureKeeper({ clock, store });
  await after.load();
  expect(after.findContent('ann', answer)).toEqual(signature);
  await after.close();
});

test('what an upstream did before a call is found by key, id and name, for a day', async () => {
  const clock = createFakeClock();
  const keeper = createSignatureKeeper({ clock });
  const call = { id: 'c1', name: 'read' };
  const trace = { family: 'alpha', parts: [{ toolCall: { id: 's1' } }] };
  expect(keeper.findTrace('ann', call)).toBeUndefined();
  keeper.rememberTrace('ann', call, trace);
  expect(keeper.findTrace('ann', call)).toEqual(trace);
  expect(keeper.findTrace('bob', call)).toBeUndefined();
  expect(keeper.findTrace('ann', { id: 'c1', name: 'write' })).toBeUndefined();
  const huge = { family: 'alpha', parts: [{ text: 'x'.repeat(300_000) }] };
  keeper.rememberTrace('ann', { id: 'c2', name: 'read' }, huge);
  expect(keeper.findTrace('ann', { id: 'c2', name: 'read' })).toBeUndefined();
  await clock.advance(86_400_000);
  expect(keeper.findTrace('ann', call)).toBeUndefined();
});
