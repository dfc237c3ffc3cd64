import { expect, test } from 'vitest';
import type { JsonObject } from '../../lib/json.ts';
import { canonical, notes, read, refusal, USER } from './reading.test-support.ts';

test('V080 leading system and developer messages are the instructions, in order', () => {
  const request = canonical({
    messages: [{ role: 'system', content: 'S' }, { role: 'developer', content: 'D' }, USER],
  });
  expect(request.system.map((part) => part.text)).toEqual(['S', 'D']);
  expect(request.turns).toEqual([{ role: 'user', parts: [{ kind: 'text', text: 'U' }] }]);
});

test('P061 a later system message keeps its place', () => {
  const request = canonical({ messages: [USER, { role: 'system', content: 'L' }, USER] });
  expect(request.system).toEqual([]);
  expect(request.turns.map((turn) => turn.role)).toEqual(['user', 'system', 'user']);
});

test('a mark for the cache is read with its length, on a part, a message and a result', () => {
  const cache_control = { type: 'ephemeral', ttl: '1h' };
  const calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }];
  const { system, turns } = canonical({
    messages: [
      { role: 'system', content: 'S', cache_control },
      { role: 'user', content: [{ type: 'text', text: 'U', cache_control }] },
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', tool_call_id: 'a', content: 'R', cache_control },
    ],
  });
  const marked = [...system, ...turns.flatMap(({ parts }) => parts)];
  expect(marked.map((part) => 'cacheHint' in part && part.cacheHint)).toEqual([
    ...['1h', '1h', false, '1h'],
  ]);
});

test('the name of a participant stands before what was said, that of an assistant in the receipt alone', () => {
  const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  const messages = [
    { role: 'system', name: 'example_user', content: 'S' },
    { role: 'user', name: 'ann', content: 'Hello' },
    { role: 'user', name: 'bob', content: [picture] },
    { role: 'assistant', name: 'host', content: 'Hi' },
    { role: 'user', name: '', content: 'x' },
  ];
  const { system, turns } = canonical({ messages });
  expect(system).toMatchObject([{ text: 'example_user: S' }]);
  expect(turns.map(({ parts }) => parts)).toMatchObject([
    [{ text: 'ann: Hello' }],
    [{ text: 'bob:' }, { kind: 'media' }],
    [{ text: 'Hi' }],
    [{ text: 'x' }],
  ]);
  expect(notes({ messages })).toEqual([
    'approximated messages[0].name',
    'approximated messages[1].name',
    'approximated messages[2].name',
    'dropped messages[3].name',
  ]);
});

test('a refusal that is handed back on the text beside it is read', () => {
  const said = { type: 'text', text: 'Hm.', role: 'assistant', refusal: 'No.', annotations: [] };
  const messages = [USER, { role: 'assistant', content: [said] }, USER];
  expect(canonical({ messages }).turns[1]?.parts).toEqual([
    { kind: 'text', text: 'Hm.' },
    { kind: 'text', text: 'No.' },
  ]);
  expect(notes({ messages })).toEqual([]);
});

test('how closely a document is to be read is told as lost', () => {
  const document = { file_data: 'data:application/pdf;base64,AA==', filename: 'a.pdf' };
  const content = [{ type: 'file', file: { ...document, detail: 'high' } }];
  expect(notes({ messages: [{ role: 'user', content }] })).toEqual([
    'dropped messages[0].content[0].file.detail',
  ]);
});

test('thoughts among the parts of an answer are read, and nobody else has any', () => {
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }], closed: true };
  const content = [thinking, { type: 'text', text: 'yes' }];
  const messages = [USER, { role: 'assistant', content }, USER];
  expect(canonical({ messages }).turns[1]?.parts).toEqual([
    { kind: 'thinking', text: 'hm' },
    { kind: 'text', text: 'yes' },
  ]);
  expect(notes({ messages })).toEqual([]);
  expect(refusal({ messages: [{ role: 'user', content }] }).field).toBe(
    'messages[0].content[0].type',
  );
});

test('a participant who says nothing is not named either', () => {
  const messages = [
    { role: 'system', name: 'ann', content: '' },
    { role: 'user', name: 'ann', content: [{ type: 'text', text: '' }] },
  ];
  const { system, turns } = canonical({ messages });
  expect([...system, ...turns.flatMap(({ parts }) => parts)]).toMatchObject([
    { text: '' },
    { text: '' },
  ]);
});

test('what helpers of SDKs parsed an answer into comes back beside it without a word', () => {
  const call = { name: 'w', arguments: '{"a":1}', parsed_arguments: { a: 1 } };
  const messages = [
    USER,
    { role: 'assistant', content: '{"a":1}', parsed: { a: 1 } },
    USER,
    { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: call }] },
    { role: 'tool', tool_call_id: 'c1', content: 'ok' },
  ];
  expect(notes({ messages })).toEqual([]);
});

test('P067 a tool result keeps its picture, its text and its call id', () => {
  const content = [
    { type: 'text', text: 'seen' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
  ];
  const request = canonical({ messages: [USER, { role: 'tool', tool_call_id: 'c1', content }] });
  expect(request.turns[1]).toMatchObject({
    role: 'user',
    parts: [{ kind: 'tool-result', callId: 'c1', content: [{ text: 'seen' }, { kind: 'media' }] }],
  });
});

test('P045 tool calls keep id, name, arguments and signature', () => {
  const call = {
    id: 'c1',
    type: 'function',
    function: { name: 'w', arguments: '{"__proto__":{"a":1},"n":12345678901234567890}' },
    extra_content: { google: { thought_signature: 'gw1:fam:tool-call:SIG' } },
  };
  const request = canonical({ messages: [USER, { role: 'assistant', tool_calls: [call] }] });
  const part = request.turns[1]?.parts[0];
  expect(part).toMatchObject({
    kind: 'tool-call',
    id: 'c1',
    name: 'w',
    signature: { value: 'SIG', family: 'fam', on: 'tool-call' },
  });
  const input = part?.kind === 'tool-call' ? part.input : {};
  expect(JSON.stringify(input)).toBe(call.function.arguments);
});

test('the neutral word for the extension is read and used in the answer', () => {
  const call = {
    id: 'c1',
    type: 'function',
    function: { name: 'w', arguments: '' },
    extra_content: { vendora: { thought_signature: 'bare' } },
  };
  const request = read({ messages: [USER, { role: 'assistant', tool_calls: [call] }] });
  expect(request.canonical.turns[1]?.parts[0]).toMatchObject({
    input: {},
    signature: { value: 'bare' },
  });
  expect(request.answer.extensionKey).toBe('vendora');
});

test('arguments that are not JSON are a 400 naming the path; other JSON is wrapped with a receipt', () => {
  const messages = (text: string): JsonObject[] => [
    USER,
    { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'w', arguments: text } }] },
  ];
  expect(refusal({ messages: messages('{"a":') })).toMatchObject({
    field: 'messages[1].tool_calls[0].function.arguments',
    reason: 'invalid-json',
  });
  expect(canonical({ messages: messages('[1]') }).turns[1]?.parts).toMatchObject([
    { input: { value: [1] } },
  ]);
  expect(notes({ messages: messages('[1]') })).toEqual([
    'repaired messages[1].tool_calls[0].function.arguments',
  ]);
});

test('thoughts, refusals and custom calls of the history are read in the order of production', () => {
  const message = {
    role: 'assistant',
    content: 'text',
    reasoning_content: 'hm',
    refusal: 'no',
    tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'run', input: 'ls' } }],
  };
  expect(canonical({ messages: [USER, message] }).turns[1]?.parts).toEqual([
    { kind: 'thinking', text: 'hm' },
    { kind: 'text', text: 'text' },
    { kind: 'text', text: 'no' },
    { kind: 'tool-call', id: 'c1', name: 'run', input: { input: 'ls' } },
  ]);
});

test('the deprecated function form pairs results with calls by name, oldest first', () => {
  const call = { role: 'assistant', content: null, function_call: { name: 'w', arguments: '{}' } };
  const result = { role: 'function', name: 'w', content: 'ok' };
  const request = read({
    functions: [{ name: 'w' }],
    messages: [USER, call, result, call, result],
  });
  const ids = request.canonical.turns.flatMap((turn) =>
    turn.parts.map((part) =>
      part.kind === 'tool-call' ? part.id : part.kind === 'tool-result' ? part.callId : '',
    ),
  );
  expect(ids).toEqual([
    '',
    'call_function_0',
    'call_function_0',
    'call_function_1',
    'call_function_1',
  ]);
  expect(request.answer.callForm).toBe('function_call');
  expect(request.canonical.parallelToolCalls).toBe(false);
  expect(refusal({ messages: [USER, result] }).field).toBe('messages[1].name');
});

test('a signed message is signed on its last text, a custom call on itself', () => {
  const extra_content = { google: { thought_signature: 'gw1:fam:text:SIG' } };
  const content = [
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
  ];
  const custom = { name: 'patch', input: 'x' };
  const tool_calls = [{ id: 'c1', type: 'custom', custom, extra_content }];
  const message = { role: 'assistant', content, tool_calls, extra_content };
  const signature = expect.objectContaining({ value: 'SIG' });
  expect(canonical({ messages: [USER, message] }).turns[1]?.parts).toEqual([
    { kind: 'text', text: 'a' },
    { kind: 'text', text: 'b', signature },
    { kind: 'tool-call', id: 'c1', name: 'patch', input: { input: 'x' }, signature },
  ]);
});

test('results of the deprecated form go to the oldest open call of their name', () => {
  const called = (value: number) => ({
    role: 'assistant',
    function_call: { name: 'w', arguments: JSON.stringify({ value }) },
  });
  const answered = (content: string) => ({ role: 'function', name: 'w', content });
  const messages = [USER, called(1), called(2), answered('one'), answered('two')];
  const parts = canonical({ messages }).turns.flatMap((turn) => [...turn.parts]);
  const [, first, second, one, two] = parts;
  expect([one, two]).toMatchObject([
    { callId: first !== undefined && 'id' in first && first.id, content: [{ text: 'one' }] },
    { callId: second !== undefined && 'id' in second && second.id, content: [{ text: 'two' }] },
  ]);
});

test('a tool message without a name of its own takes that of its call; its other fields are noted', () => {
  const message = { role: 'tool', tool_call_id: 'c1', name: '', content: 'x', is_error: true };
  const messages = [USER, message];
  expect(canonical({ messages }).turns[1]?.parts[0]).toMatchObject({ name: undefined });
  expect(notes({ messages })).toEqual(['dropped messages[1].is_error']);
});
