import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { targetOf } from './__fixtures__/requests.ts';
import { patchResponses } from './patch-responses.ts';

const user = (...parts: JsonObject[]): JsonObject => ({ role: 'user', parts });
const model = (...parts: JsonObject[]): JsonObject => ({ role: 'model', parts });
const text = (words: string): JsonObject => ({ text: words });
const call = (name: string, id?: string): JsonObject => ({
  functionCall: { ...(id === undefined ? {} : { id }), name, args: {} },
});
const response = (name: string, id?: string): JsonObject => ({
  functionResponse: { ...(id === undefined ? {} : { id }), name, response: { output: name } },
});
const noResult = (name: string, id: string): JsonObject => ({
  functionResponse: { id, name, response: { error: 'no result' } },
});

function patchAll(contents: JsonValue[]) {
  const target = targetOf('alpha-3-flash');
  const patched = patchResponses(contents, target);
  return { patched, actions: target.receipt.entries.map(({ action }) => action) };
}

test('paired histories stay the same object, with ids and without', () => {
  for (const contents of [
    [user(text('x'))],
    [user(text('x')), model(call('w', '1')), user(response('w', '1'), text('and?'))],
    [user(text('x')), model(call('a'), call('b')), user(response('b'), response('a'))],
  ]) {
    const { patched, actions } = patchAll(contents);
    expect(patched).toBe(contents);
    expect(actions).toEqual([]);
  }
});

test('P045 a response that lost its id gets that of its call', () => {
  const calls = model(call('w', '1'), call('w', '2'), call('v', '3'));
  const { patched, actions } = patchAll([
    calls,
    user(response('v'), response('w', '2'), response('w')),
  ]);
  expect(patched).toEqual([
    calls,
    user(response('v', '3'), response('w', '2'), response('w', '1')),
  ]);
  expect(actions).toEqual([]);
});

test('P046 a call whose response never came gets one, before what the user says next', () => {
  const calls = model(call('w', '1'), call('v', '2'));
  expect(patchAll([calls, user(text('never mind'))]).patched).toEqual([
    calls,
    user(noResult('w', '1'), noResult('v', '2'), text('never mind')),
  ]);
  expect(patchAll([calls, user(response('v', '2'), text('go on'))]).patched).toEqual([
    calls,
    user(response('v', '2'), noResult('w', '1'), text('go on')),
  ]);
  const { patched, actions } = patchAll([calls]);
  expect(patched).toEqual([calls, user(noResult('w', '1'), noResult('v', '2'))]);
  expect(actions).toEqual(['repaired', 'repaired']);
});

test('P046 a response that stands later in the history is not made up', () => {
  const contents = [model(call('w', '1')), user(text('wait')), user(response('w', '1'))];
  expect(patchAll(contents).patched).toBe(contents);
});
