import { expect, test } from 'vitest';
import { MINIMAL, read, routeAt, routeInput } from '../../../test/support/messages.ts';
import type { JsonObject } from '../../lib/json.ts';

const QUESTION = { role: 'user', content: 'How far are we?' };
const SO_FAR = 'Summary of the conversation so far:\n\nso far';
const SUMMARIZE = { type: 'summarize' };
const definition = (name: string): JsonObject => ({ name, input_schema: { type: 'object' } });
const namesOf = (fields: JsonObject): unknown[] =>
  read(fields).request.tools.map((tool) => 'name' in tool && tool.name);

test('a wish for a summary asks the model for it, whatever would have shaped the answer', () => {
  const { request, receipt } = read({
    messages: [QUESTION],
    compaction: SUMMARIZE,
    tools: [definition('w')],
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
    stop_sequences: ['END'],
    output_config: { format: { type: 'json_schema', schema: {} } },
  });
  expect(request.turns).toMatchObject([
    { role: 'user', parts: [{ text: QUESTION.content }] },
    { role: 'user', parts: [{ text: expect.stringContaining('summarize') }] },
  ]);
  expect(request).toMatchObject({
    toolChoice: { kind: 'none' },
    stopSequences: [],
    outputFormat: { kind: 'text' },
  });
  expect(request.parallelToolCalls).toBeUndefined();
  expect(receipt).toContain('approximated compaction');
});

test('instructions of the client take the place of those of the gateway', () => {
  const instructions = 'Three words.';
  const { request } = read({ compaction: { ...SUMMARIZE, instructions } });
  expect(request.turns.at(-1)).toEqual({
    role: 'user',
    parts: [{ kind: 'text', text: instructions }],
  });
  expect(() => read({ compaction: { type: 'forget' } })).toThrow('compaction.type');
});

test('blank instructions are none', () => {
  const { request } = read({ compaction: { ...SUMMARIZE, instructions: ' \n' } });
  expect(request.turns.at(-1)).toMatchObject({
    parts: [{ text: expect.stringContaining('summarize') }],
  });
});

test('a conversation that ends with its answer can be summarized while thinking', () => {
  const messages = [QUESTION, { role: 'assistant', content: 'Done.' }];
  const thinking = { type: 'adaptive' };
  expect(() => read({ messages, thinking })).toThrow('prefill');
  expect(() => read({ messages, thinking, compaction: SUMMARIZE })).not.toThrow();
});

test('a token count is that of the conversation, with or without the wish', () => {
  const { readCall } = routeAt('count-tokens', '/v1/messages/count_tokens');
  const call = readCall(routeInput({ ...MINIMAL, compaction: SUMMARIZE }));
  expect(call.request.turns).toHaveLength(1);
});

test('what stands before a summary is no longer part of the conversation', () => {
  const summary = { type: 'compaction', content: 'so far', encrypted_content: null };
  const { request } = read({
    messages: [
      { role: 'user', content: 'old' },
      { role: 'assistant', content: [{ type: 'text', text: 'older' }, summary] },
      QUESTION,
    ],
  });
  expect(request.turns).toEqual([
    { role: 'user', parts: [{ kind: 'text', text: SO_FAR }] },
    { role: 'user', parts: [{ kind: 'text', text: QUESTION.content }] },
  ]);
  const failed = { ...summary, content: null };
  const kept = read({
    messages: [QUESTION, { role: 'assistant', content: [failed, { type: 'text', text: 'a' }] }],
  });
  expect(kept.request.turns).toHaveLength(2);
});

test('a summary may be all there is to answer, and words may stand behind it', () => {
  const summary = { type: 'compaction', content: 'so far' };
  const after = (...behind: JsonObject[]) =>
    read({
      thinking: { type: 'adaptive' },
      messages: [
        { role: 'assistant', content: [summary, ...behind] },
        ...behind.map(() => QUESTION),
      ],
    }).request.turns;
  const said = { role: 'user', parts: [{ kind: 'text', text: SO_FAR }] };
  expect(after()).toEqual([said]);
  expect(after({ type: 'text', text: 'Going on.' }).slice(0, 2)).toEqual([
    said,
    { role: 'assistant', parts: [{ kind: 'text', text: 'Going on.' }] },
  ]);
});

test('a summary says which tools are in effect behind it, else what came before it does', () => {
  const removal = { type: 'tool_removal', tool: { type: 'tool_reference', name: 'a' } };
  const addition = {
    type: 'tool_addition',
    tool: { type: 'tool_definition', definition: definition('c') },
  };
  const after = (summary: JsonObject): JsonObject => ({
    tools: [definition('a'), definition('b')],
    messages: [
      QUESTION,
      { role: 'system', content: [removal] },
      { role: 'assistant', content: [{ type: 'compaction', content: 'so far', ...summary }] },
      QUESTION,
    ],
  });
  expect(namesOf(after({}))).toEqual(['b']);
  expect(namesOf(after({ tool_changes: [addition] }))).toEqual(['a', 'b', 'c']);
  expect(namesOf(after({ tool_changes: [] }))).toEqual(['a', 'b']);
});
