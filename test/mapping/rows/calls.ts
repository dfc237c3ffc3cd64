// Calls of the history and their results.

import type { JsonObject } from '../../../src/lib/json.ts';
import { type Entry, noted, type RequestRow, refused, unsaid } from '../row.ts';

const STAND_IN = 'skip_thought_signature_validator';

/** A history of one call and its result. */
const HI = { role: 'user', content: 'Hi' };
const chatCall = (id: string, json: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'w', arguments: json } }],
});
const itemCall = (call_id: string, json: string) => ({
  type: 'function_call',
  call_id,
  name: 'w',
  arguments: json,
});
const use = (id: string, input: JsonObject) => ({ type: 'tool_use', id, name: 'w', input });
const toolResult = (tool_use_id: string, more: JsonObject) => ({
  type: 'tool_result',
  tool_use_id,
  ...more,
});
const wireCall = (id: string, args: JsonObject, isFirst = true) => ({
  functionCall: { id, name: 'w', args },
  ...(isFirst && { thoughtSignature: STAND_IN }),
});
const wireResult = (id: string, response: JsonObject) => ({
  functionResponse: { id, name: 'w', response },
});
const history = (calls: readonly JsonObject[], results: readonly JsonObject[]) => ({
  contents: [
    { role: 'user', parts: [{ text: 'Hi' }] },
    { role: 'model', parts: [...calls] },
    { role: 'user', parts: [...results] },
  ],
});
/** The stand-in for the missing signature is noted, and nothing else. */
const told = (ask: JsonObject, fields: JsonObject): Entry =>
  noted(ask, { fields }, ['repaired', pathOf(ask)]);

const PARALLEL = history(
  [wireCall('a', {}), wireCall('b', {}, false)],
  [wireResult('a', { output: '1' }), wireResult('b', { output: '2' })],
);

export const CALL_ROWS: readonly RequestRow[] = [
  {
    name: 'a call and its result, by the client’s own ids',
    entries: {
      chat: told(
        {
          messages: [
            HI,
            chatCall('c1', '{"city":"Oslo"}'),
            { role: 'tool', tool_call_id: 'c1', content: 'rain' },
          ],
        },
        history([wireCall('c1', { city: 'Oslo' })], [wireResult('c1', { output: 'rain' })]),
      ),
      responses: told(
        {
          input: [
            HI,
            itemCall('c1', '{"city":"Oslo"}'),
            { type: 'function_call_output', call_id: 'c1', output: 'rain' },
          ],
        },
        history([wireCall('c1', { city: 'Oslo' })], [wireResult('c1', { output: 'rain' })]),
      ),
      messages: told(
        {
          messages: [
            HI,
            { role: 'assistant', content: [use('c1', { city: 'Oslo' })] },
            { role: 'user', content: [toolResult('c1', { content: 'rain' })] },
          ],
        },
        history([wireCall('c1', { city: 'Oslo' })], [wireResult('c1', { output: 'rain' })]),
      ),
      generate: told(
        history(
          [{ functionCall: { id: 'c1', name: 'w', args: { city: 'Oslo' } } }],
          [wireResult('c1', { output: 'rain' })],
        ),
        history([wireCall('c1', { city: 'Oslo' })], [wireResult('c1', { output: 'rain' })]),
      ),
    },
  },
  {
    name: 'arguments that are JSON but no object',
    entries: {
      chat: wrapped({
        messages: [HI, chatCall('c1', '[1]'), { role: 'tool', tool_call_id: 'c1', content: 'r' }],
      }),
      responses: wrapped({
        input: [
          HI,
          itemCall('c1', '[1]'),
          { type: 'function_call_output', call_id: 'c1', output: 'r' },
        ],
      }),
      messages: refused(
        { messages: [HI, { role: 'assistant', content: [{ ...use('c1', {}), input: [1] }] }] },
        'messages[1].content[0].input',
      ),
      generate: refused(
        { contents: [{ role: 'model', parts: [{ functionCall: { name: 'w', args: [1] } }] }] },
        'contents[0].parts[0].functionCall.args',
      ),
    },
  },
  {
    name: 'arguments that are null or nothing',
    entries: {
      chat: told(
        {
          messages: [
            HI,
            chatCall('c1', 'null'),
            { role: 'tool', tool_call_id: 'c1', content: 'r' },
          ],
        },
        history([wireCall('c1', {})], [wireResult('c1', { output: 'r' })]),
      ),
      responses: told(
        {
          input: [
            HI,
            itemCall('c1', ''),
            { type: 'function_call_output', call_id: 'c1', output: 'r' },
          ],
        },
        history([wireCall('c1', {})], [wireResult('c1', { output: 'r' })]),
      ),
      messages: unsaid('Arguments are an object of the body itself.'),
      generate: unsaid('Arguments that are absent are forwarded as they are.'),
    },
  },
  {
    name: 'arguments that are no JSON',
    entries: {
      chat: refused(
        {
          messages: [
            HI,
            chatCall('c1', '{"city":'),
            { role: 'tool', tool_call_id: 'c1', content: 'r' },
          ],
        },
        'messages[1].tool_calls[0].function.arguments',
      ),
      responses: refused(
        {
          input: [
            HI,
            itemCall('c1', '{"city":'),
            { type: 'function_call_output', call_id: 'c1', output: 'r' },
          ],
        },
        'input[1].arguments',
      ),
      messages: unsaid('Arguments are an object of the body itself.'),
      generate: unsaid('Arguments are an object of the body itself.'),
    },
  },
  {
    name: 'a failed result',
    entries: {
      chat: unsaid('Results say nothing about failure.'),
      responses: told(
        {
          input: [
            HI,
            itemCall('c1', '{}'),
            { type: 'function_call_output', call_id: 'c1', output: 'boom', status: 'incomplete' },
          ],
        },
        history([wireCall('c1', {})], [wireResult('c1', { error: 'boom' })]),
      ),
      messages: told(
        {
          messages: [
            HI,
            { role: 'assistant', content: [use('c1', {})] },
            { role: 'user', content: [toolResult('c1', { content: 'boom', is_error: true })] },
          ],
        },
        history([wireCall('c1', {})], [wireResult('c1', { error: 'boom' })]),
      ),
      generate: told(
        history(
          [{ functionCall: { id: 'c1', name: 'w', args: {} } }],
          [wireResult('c1', { error: 'boom' })],
        ),
        history([wireCall('c1', {})], [wireResult('c1', { error: 'boom' })]),
      ),
    },
  },
  {
    name: 'several results stand together, in the order of their calls',
    entries: {
      chat: told(
        {
          messages: [
            HI,
            {
              role: 'assistant',
              content: null,
              tool_calls: ['a', 'b'].map((id) => ({
                id,
                type: 'function',
                function: { name: 'w', arguments: '{}' },
              })),
            },
            { role: 'tool', tool_call_id: 'b', content: '2' },
            { role: 'tool', tool_call_id: 'a', content: '1' },
          ],
        },
        PARALLEL,
      ),
      responses: told(
        {
          input: [
            HI,
            itemCall('a', '{}'),
            itemCall('b', '{}'),
            { type: 'function_call_output', call_id: 'b', output: '2' },
            { type: 'function_call_output', call_id: 'a', output: '1' },
          ],
        },
        PARALLEL,
      ),
      messages: told(
        {
          messages: [
            HI,
            { role: 'assistant', content: [use('a', {}), use('b', {})] },
            {
              role: 'user',
              content: [toolResult('b', { content: '2' }), toolResult('a', { content: '1' })],
            },
          ],
        },
        PARALLEL,
      ),
      generate: told(
        history(
          [
            { functionCall: { id: 'a', name: 'w', args: {} } },
            { functionCall: { id: 'b', name: 'w', args: {} } },
          ],
          [wireResult('b', { output: '2' }), wireResult('a', { output: '1' })],
        ),
        history(
          [wireCall('a', {}), wireCall('b', {}, false)],
          [wireResult('b', { output: '2' }), wireResult('a', { output: '1' })],
        ),
      ),
    },
  },
  {
    name: 'a call whose result never came',
    entries: {
      chat: aborted({ messages: [HI, chatCall('c1', '{}'), { role: 'user', content: 'go on' }] }),
      responses: aborted({ input: [HI, itemCall('c1', '{}'), { role: 'user', content: 'go on' }] }),
      messages: aborted({
        messages: [
          HI,
          { role: 'assistant', content: [use('c1', {})] },
          { role: 'user', content: 'go on' },
        ],
      }),
      generate: aborted({
        contents: [
          { role: 'user', parts: [{ text: 'Hi' }] },
          { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'w', args: {} } }] },
          { role: 'user', parts: [{ text: 'go on' }] },
        ],
      }),
    },
  },
  {
    name: 'a result that belongs to no call',
    entries: {
      chat: refused(
        { messages: [HI, { role: 'tool', tool_call_id: 'c9', content: 'r' }] },
        'messages[1]',
      ),
      responses: refused(
        { input: [HI, { type: 'function_call_output', call_id: 'c9', output: 'r' }] },
        'input[1]',
      ),
      messages: refused(
        { messages: [{ role: 'user', content: [toolResult('c9', { content: 'r' })] }] },
        'messages[0].content[0]',
      ),
      generate: refused(
        { contents: [{ role: 'user', parts: [wireResult('c9', { output: 'r' })] }] },
        'contents[0].parts[0].functionResponse',
      ),
    },
  },
];

function pathOf(ask: JsonObject): string {
  return ['input', 'contents'].find((key) => key in ask) ?? 'messages';
}

function wrapped(ask: JsonObject): Entry {
  const value = history([wireCall('c1', { value: [1] })], [wireResult('c1', { output: 'r' })]);
  return noted(
    ask,
    { fields: value },
    [
      'repaired',
      'input' in ask ? 'input[1].arguments' : 'messages[1].tool_calls[0].function.arguments',
    ],
    ['repaired', pathOf(ask)],
  );
}

function aborted(ask: JsonObject): Entry {
  const path = pathOf(ask);
  const result = wireResult('c1', { error: 'no result' });
  return {
    kind: 'written',
    ask,
    expected: { fields: history([wireCall('c1', {})], [result, { text: 'go on' }]) },
    noted: [
      ['repaired', path],
      ['repaired', path],
    ],
  };
}
