import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from './json.ts';
import type { ModelFamily } from './models.ts';
import { declare, model, refusal, testSignatures, text, user } from './sandbox.test-support.ts';
import { createId } from './state.ts';

const ARGS = { path: 'a', deep: { z: 1, b: [true, null] } };
const sign = (args: JsonObject = ARGS, family: ModelFamily = 'alpha'): string =>
  testSignatures.issue({ functionCall: { name: 'f', args } }, family);
const call = (thoughtSignature?: string, args: JsonObject = ARGS): JsonObject => ({
  functionCall: { name: 'f', args, id: createId('c') },
  ...(thoughtSignature !== undefined && { thoughtSignature }),
});
const result: JsonObject = { functionResponse: { name: 'f', response: { output: 'ok' } } };
const conversation = (...contents: JsonValue[]): JsonValue => ({ contents, ...declare('f') });
const afterCall = (...calls: JsonObject[]): JsonValue =>
  conversation(user(text('go')), model(...calls), user(...calls.map(() => result)));

test('a call returned with its own signature is accepted, whatever the order of its keys', () => {
  const reordered = { deep: { b: [true, null], z: 1 }, path: 'a' };
  expect(refusal(afterCall(call(sign(), reordered)))).toBe('');
  expect(refusal(afterCall(call(Buffer.from(sign(), 'base64').toString('base64url'))))).toBe('');
});

test('P001 P012 the first call of each step of the current turn needs its signature', () => {
  expect(refusal(afterCall(call()))).toMatch(/content 2 is missing a thought_signature/);
  const steps = (second: JsonObject): JsonValue =>
    conversation(user(text('go')), model(call(sign())), user(result), model(second), user(result));
  expect(refusal(steps(call()))).toMatch(/content 4 is missing/);
  expect(refusal(steps(call(sign())))).toBe('');
});

test('parallel calls need the signature on the first only', () => {
  expect(refusal(afterCall(call(sign()), call()))).toBe('');
  expect(refusal(afterCall(call(), call(sign())))).toMatch(/missing/);
});

test('text beside a result does not begin a new turn', () => {
  const contents = [user(text('go')), model(call()), user(result, text('remember'))];
  expect(refusal(conversation(...contents))).toMatch(/missing/);
});

test('calls of earlier turns need none, but a given one must be genuine', () => {
  const earlier = (first: JsonObject): JsonValue =>
    conversation(
      user(text('go')),
      model(first),
      user(result),
      model(text('done')),
      user(text('next')),
    );
  expect(refusal(earlier(call()))).toBe('');
  expect(refusal(earlier(call('QUJDREVG')))).toMatch(/Corrupted thought signature/);
});

test.each([
  'skip_thought_signature_validator',
  Buffer.from('skip_thought_signature_validator').toString('base64'),
])('the documented stand-in is accepted: %s', (standIn) => {
  expect(refusal(afterCall(call(standIn)))).toBe('');
});

test('P003 P006 a signature of other arguments is refused', () => {
  expect(refusal(afterCall(call(sign({ path: 'b' }))))).toMatch(/Corrupted thought signature/);
});

test('P004 a signature encoded twice is refused', () => {
  const twice = Buffer.from(sign()).toString('base64');
  expect(refusal(afterCall(call(twice)))).toMatch(/Corrupted/);
});

test('P009 a signature of the other model family is refused as such', () => {
  expect(refusal(afterCall(call(sign(ARGS, 'beta'))))).toMatch(/another model family/);
  expect(refusal(afterCall(call(sign(ARGS, 'beta'))), 'beta-opus-4-6-thinking')).toBe('');
});

test('V022 P026 a signature of text stands on text and thoughts, also on an empty closing part', () => {
  const signature = testSignatures.issue({ text: 'other words' }, 'alpha');
  const history = (...parts: JsonObject[]): JsonValue =>
    conversation(user(text('a')), model(...parts), user(text('b')));
  expect(refusal(history({ text: 'hm', thought: true, thoughtSignature: signature }))).toBe('');
  expect(refusal(history(text('hm'), { text: '', thoughtSignature: signature }))).toBe('');
  expect(refusal(history({ text: 'hm', thoughtSignature: sign() }))).toMatch(/Corrupted/);
});
