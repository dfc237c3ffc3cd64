// The fields that the documents of OpenAI (`Response`, stream events) and of Open Responses (`ResponseResource`) require.

import { expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../lib/json.ts';
import { type Block, eventsOf } from '../answers.test-support.ts';
import { framesOf, read, stream } from './responses.test-support.ts';

const RESPONSE = [
  ...['id', 'object', 'created_at', 'completed_at', 'status', 'incomplete_details', 'model'],
  ...['previous_response_id', 'instructions', 'output', 'error', 'tools', 'tool_choice'],
  ...['truncation', 'parallel_tool_calls', 'text', 'top_p', 'presence_penalty'],
  ...['frequency_penalty', 'top_logprobs', 'temperature', 'reasoning', 'usage', 'store'],
  ...['max_output_tokens', 'max_tool_calls', 'background', 'service_tier', 'metadata'],
  ...['safety_identifier', 'prompt_cache_key'],
];
const AT_ITEM = ['item_id', 'output_index'];
const AT_PART = [...AT_ITEM, 'content_index'];
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  'response.output_item.added': ['output_index', 'item'],
  'response.output_item.done': ['output_index', 'item'],
  'response.content_part.added': [...AT_PART, 'part'],
  'response.content_part.done': [...AT_PART, 'part'],
  'response.output_text.delta': [...AT_PART, 'delta', 'logprobs'],
  'response.output_text.done': [...AT_PART, 'text', 'logprobs'],
  'response.function_call_arguments.delta': [...AT_ITEM, 'delta'],
  'response.function_call_arguments.done': [...AT_ITEM, 'name', 'arguments'],
};
const ITEMS: Readonly<Record<string, readonly string[]>> = {
  message: ['id', 'status', 'role', 'content'],
  function_call: ['id', 'call_id', 'name', 'arguments', 'status'],
};
const TOOL = ['type', 'name', 'description', 'parameters', 'strict'];

const BLOCKS: Block[] = [
  { kind: 'text', pieces: ['One ', 'two'] },
  { kind: 'call', id: 'c1', name: 'w', json: ['{"a":1}'] },
];

function expectFields(value: JsonValue | undefined, keys: readonly string[]): JsonObject {
  const object = isJsonObject(value) ? value : {};
  expect(Object.keys(object)).toEqual(expect.arrayContaining([...keys]));
  return object;
}

test('C2: answers and their events hold every field that the documents require', () => {
  const { settings } = read({ input: 'x', tools: [{ type: 'function', name: 'w' }] });
  const frames = framesOf(stream(eventsOf([BLOCKS]), settings));
  for (const frame of frames) {
    expectFields(frame, ['sequence_number', ...(REQUIRED[String(frame.type)] ?? ['response'])]);
    if (frame.item !== undefined) expectItem(frame.item);
    if (frame.response !== undefined) expectResponse(frame.response);
  }
  expect(new Set(frames.map(({ type }) => type)).size).toBeGreaterThanOrEqual(10);
});

function expectResponse(value: JsonValue): void {
  const { tools, output, usage, status } = expectFields(value, RESPONSE);
  for (const tool of Array.isArray(tools) ? tools : []) expectFields(tool, TOOL);
  for (const item of Array.isArray(output) ? output : []) expectItem(item);
  if (status !== 'completed') return;
  const counts = ['input_tokens', 'input_tokens_details', 'output_tokens', 'total_tokens'];
  expectFields(usage, [...counts, 'output_tokens_details']);
}

function expectItem(value: JsonValue): void {
  const type = isJsonObject(value) ? String(value.type) : '';
  expectFields(value, ['type', ...(ITEMS[type] ?? ['unknown item'])]);
}
