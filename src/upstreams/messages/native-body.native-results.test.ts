import { expect, test } from 'vitest';
import { createReceipt } from '../../canonical/receipt.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import type { PatchTarget } from '../upstream.ts';
import { patch } from './native-body.ts';
import { patchTarget } from './patch.test-support.ts';
import { createAnthropicProfile } from './profiles.ts';

const call = (id: string): JsonObject => ({ type: 'tool_use', id, name: 'f', input: {} });
const result = (id: string, content = `of ${id}`): JsonObject => ({
  ...{ type: 'tool_result', tool_use_id: id, content },
});
const missing = (id: string): JsonObject => ({ ...result(id, 'no result'), is_error: true });
const words = (text: string): JsonObject => ({ type: 'text', text });
const user = (...content: JsonValue[]): JsonObject => ({ role: 'user', content });
const assistant = (...content: JsonValue[]): JsonObject => ({ role: 'assistant', content });
const START: JsonObject = { role: 'user', content: 'Go' };

const PROFILE = createAnthropicProfile();
const MODEL = 'claude-sonnet-4-5';

function sent(messages: JsonValue[], receipt: PatchTarget['receipt']): JsonValue[] {
  const target = patchTarget({ profile: PROFILE, modelId: MODEL }, { receipt });
  const { messages: made } = patch({ max_tokens: 100, messages }, target, PROFILE);
  return Array.isArray(made) ? made : [];
}

function paired(...messages: JsonObject[]) {
  const receipt = createReceipt();
  const given = [START, ...messages];
  const before = JSON.stringify(given);
  const made = sent(given, receipt);
  expect(JSON.stringify(given)).toBe(before);
  expect(sent(made, createReceipt())).toBe(made);
  const notes = receipt.entries.map(({ action }) => action);
  return { made: made.slice(1), isSame: made === given, notes };
}

test.each<[string, JsonObject[]]>([
  ['no calls', [assistant(words('So.')), user(words('And?'))]],
  ['results in another order', [assistant(call('a'), call('b')), user(result('b'), result('a'))]],
  [
    'results in two messages',
    [assistant(call('a'), call('b')), user(result('a')), user(result('b'))],
  ],
  ['a result to no call', [assistant(words('So.')), user(result('z'))]],
  [
    'two steps',
    [
      assistant(call('a')),
      user(result('a'), words('Go on')),
      assistant(call('b')),
      user(result('b')),
    ],
  ],
])('what the wire takes stays the same: %s', (_what, messages) => {
  expect(paired(...messages)).toMatchObject({ isSame: true, notes: [] });
});

test('V020 a call without a result is told to have none, also where others of its turn have one', () => {
  const plain: JsonObject = { role: 'user', content: 'Never mind.' };
  const alone = paired(assistant(words('Hm.'), call('a')), plain);
  expect(alone.made).toEqual([assistant(words('Hm.'), call('a')), user(missing('a')), plain]);
  expect(alone.notes).toEqual(['repaired']);
  const one = paired(assistant(call('a'), call('b')), user(result('b'), words('Next')));
  expect(one.made.slice(1)).toEqual([user(missing('a'), result('b')), user(words('Next'))]);
});

test('a call at the end, or before another turn of the assistant, has its result behind it', () => {
  expect(paired(assistant(call('a'))).made).toEqual([assistant(call('a')), user(missing('a'))]);
  const neighbours = paired(assistant(call('a')), assistant(words('So.')), user(result('a')));
  expect(neighbours.isSame).toBe(true);
});

test('P046 a result that comes late is moved up, and not made up as well', () => {
  const { made, notes } = paired(
    ...[assistant(call('a')), user(words('Wait.')), assistant(words('Yes?'))],
    user(result('a'), words('There.')),
  );
  expect(made).toEqual([
    ...[assistant(call('a')), user(result('a')), user(words('Wait.')), assistant(words('Yes?'))],
    user(words('There.')),
  ]);
  expect(notes).toEqual(['repaired']);
});

test('results behind a text come first, and a second result of a call is dropped', () => {
  const late = paired(assistant(call('a')), user(words('Here:'), result('a')));
  expect(late.made.slice(1)).toEqual([user(result('a')), user(words('Here:'))]);
  const twice = paired(assistant(call('a')), user(result('a'), result('a', 'again')));
  expect(twice.made.slice(1)).toEqual([user(result('a'))]);
  expect(twice.notes).toContain('dropped');
});
