import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { patch } from './native-body.ts';
import { gemini, targetOf } from './requests.test-support.ts';

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

/** The contents behind a first question, for a model that asks for no signatures. */
function patchAll(contents: JsonValue[], mayBePiece = false) {
  const target = targetOf('gemini-2.5-pro', { mayBePiece });
  const body: JsonObject = { contents: [user(text('x')), ...contents] };
  const sent = patch(body, target, gemini);
  const [, ...patched] = sent.contents as JsonValue[];
  return { patched, isSame: sent === body, actions: target.receipt.entries.map((e) => e.action) };
}

test('paired histories stay the same object, with ids and without', () => {
  for (const contents of [
    [user(text('x'))],
    [user(text('x')), model(call('w', '1')), user(response('w', '1'), text('and?'))],
    [user(text('x')), model(call('a'), call('b')), user(response('a'), response('b'))],
    [
      user(text('x')),
      model(call('a', '1'), call('b', '2')),
      user(response('b', '2'), response('a', '1')),
    ],
  ]) {
    const { isSame, actions } = patchAll(contents);
    expect(isSame).toBe(true);
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
    user(noResult('w', '1'), response('v', '2'), text('go on')),
  ]);
  const { patched, actions } = patchAll([calls]);
  expect(patched).toEqual([calls, user(noResult('w', '1'), noResult('v', '2'))]);
  expect(actions).toEqual(['repaired', 'repaired']);
});

test('P046 a response that stands later in the history is moved behind its call', () => {
  const { patched, actions } = patchAll([
    model(call('w', '1')),
    user(text('wait')),
    model(text('yes')),
    user(response('w', '1'), text('there')),
  ]);
  expect(patched).toEqual([
    model(call('w', '1')),
    user(response('w', '1'), text('wait')),
    model(text('yes')),
    user(text('there')),
  ]);
  expect(actions).toEqual(['repaired']);
});

test('a content that held only a moved response leaves no gap, at the end neither', () => {
  const moved = [model(call('w', '1')), user(response('w', '1'), text('wait'))];
  const late = [
    model(call('w', '1')),
    user(text('wait')),
    model(text('a')),
    user(response('w', '1')),
  ];
  expect(patchAll([...late, model(text('b')), user(text('c'))]).patched).toEqual([
    ...moved,
    model(text('a'), text('b')),
    user(text('c')),
  ]);
  const { patched, actions } = patchAll(late);
  expect(patched).toEqual([...moved, model(text('a')), user(text('…'))]);
  expect(actions).toEqual(['repaired', 'approximated']);
});

test('a second response to the same call is dropped', () => {
  const { patched, actions } = patchAll([
    model(call('w', '1')),
    user(response('w', '1'), response('w', '1')),
    model(text('a')),
    user(response('w', '1'), response('w'), text('b')),
  ]);
  expect(patched).toEqual([
    model(call('w', '1')),
    user(response('w', '1')),
    model(text('a')),
    user(text('b')),
  ]);
  expect(actions).toEqual(['dropped']);
});

test('calls that share an id are told apart, and so are their responses', () => {
  expect(
    patchAll([model(call('w', '1'), call('v', '1')), user(response('w', '1'), response('v', '1'))])
      .patched,
  ).toEqual([
    model(call('w', '1'), call('v', '1-2')),
    user(response('w', '1'), response('v', '1-2')),
  ]);
});

test('ids that begin anew in every step belong to the calls right before them', () => {
  const contents = [
    model(call('w', '0')),
    user(response('w', '0')),
    model(call('w', '0')),
    user(response('w', '0')),
  ];
  expect(patchAll(contents).isSame).toBe(true);
  expect(patchAll([...contents.slice(0, 1), ...contents.slice(1)]).actions).toEqual([]);
  const aborted = [model(call('w', '0')), user(text('no')), ...contents.slice(2)];
  expect(patchAll(aborted).patched).toEqual([
    model(call('w', '0')),
    user(noResult('w', '0'), text('no')),
    ...contents.slice(2),
  ]);
});

test('a response with a strange id or name is given those of its call', () => {
  for (const [calls, wrong, right] of [
    [model(call('w', '1')), response('w', 'zz'), response('w', '1')],
    [model(call('w')), response('w', 'zz'), response('w')],
  ] as const) {
    const { patched, actions } = patchAll([calls, user(wrong)]);
    expect(patched).toEqual([calls, user(right)]);
    expect(actions).toEqual(['repaired']);
  }
  const { patched } = patchAll([model(call('w', '1')), user(response('v', '1'))]);
  expect(patched[1]).toMatchObject({ parts: [{ functionResponse: { id: '1', name: 'w' } }] });
});

test('responses with the name of no call answer the calls that are left open, in order', () => {
  const answer = (words: string, name = words) => ({
    functionResponse: { name, response: { output: words } },
  });
  const { patched, actions } = patchAll([
    model(call('old')),
    user(text('never mind')),
    model(call('a'), call('b'), call('c')),
    user(answer('x'), answer('b'), answer('y')),
  ]);
  expect(patched[3]).toEqual(user(answer('x', 'a'), answer('b'), answer('y', 'c')));
  expect(actions).toEqual(['repaired', 'repaired', 'repaired']);
  expect(() => patchAll([model(call('a')), user(response('x'), response('y'))])).toThrow(
    /the response of the function "y" answers no call before it/,
  );
});

test('responses without ids stand in the order of their calls: upstreams pair them by position', () => {
  const calls = model(call('a'), call('b'));
  expect(patchAll([calls, user(response('b'), response('a'))]).patched).toEqual([
    calls,
    user(response('a'), response('b')),
  ]);
});

test('a response to no call at all is refused', () => {
  expect(() => patchAll([user(text('x')), user(response('w', '1'))])).toThrow(
    /^contents\[2\]\.parts\[0\]\.functionResponse: the response "1" of the function "w" answers no call before it/,
  );
  expect(() => patchAll([user(response('w'))])).toThrow(/the response of the function "w"/);
});

test('a piece of a conversation stays as it is', () => {
  const piece = [user(response('v')), model(call('w', '1')), user(text('x'))];
  const { isSame, actions } = patchAll(piece, true);
  expect(isSame).toBe(true);
  expect(actions).toEqual([]);
});
