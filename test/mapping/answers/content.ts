// What an answer holds: text, thoughts, calls, pictures, code.

import { expect } from 'vitest';
import {
  type AnswerRow,
  completion,
  contents,
  end,
  message,
  parts,
  reply,
  response,
  said,
  textPart,
} from '../answer.ts';

const SIGNATURE = 'EoYBCoMBAdHtim9Q';
const PNG = 'iVBORw0KGgo=';
const call = (id: string | undefined, args = {}) => ({
  functionCall: { name: 'w', args, ...(id === undefined ? {} : { id }) },
});
const carrier = `gw1:alpha:tool-call:${SIGNATURE}`;
const base64 = Buffer.from(carrier).toString('base64');
const TOOLS = {
  chat: { tools: [{ type: 'function', function: { name: 'w' } }] },
  responses: { tools: [{ type: 'function', name: 'w' }] },
  messages: { tools: [{ name: 'w', input_schema: { type: 'object' } }] },
};
const THINKS = {
  chat: { reasoning_effort: 'low' },
  responses: { reasoning: { effort: 'low', summary: 'auto' } },
  messages: { max_tokens: 9000, thinking: { type: 'enabled', budget_tokens: 2000 } },
  generate: { generationConfig: { thinkingConfig: { includeThoughts: true } } },
};
const anyId = expectText(/^.+$/);

export const CONTENT_ROWS: readonly AnswerRow[] = [
  {
    name: 'text in pieces',
    frames: [parts(textPart('Hel')), parts(textPart('lo')), end('STOP')],
    told: {
      chat: completion(
        { role: 'assistant', content: 'Hello', refusal: null, annotations: [] },
        'stop',
      ),
      responses: response('completed', [said('Hello', { annotations: [] })]),
      messages: message('end_turn', [{ type: 'text', text: 'Hello' }]),
      generate: contents('STOP', [{ text: 'Hello' }]),
    },
  },
  {
    name: 'thoughts before text',
    frames: [parts(textPart('hm', { thought: true })), parts(textPart('Hi')), end('STOP')],
    ask: THINKS,
    told: {
      chat: completion({ reasoning_content: 'hm', content: 'Hi' }, 'stop'),
      responses: response('completed', [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
        said('Hi'),
      ]),
      messages: message('end_turn', [
        { type: 'thinking', thinking: 'hm', signature: '' },
        { type: 'text', text: 'Hi' },
      ]),
      generate: contents('STOP', [{ text: 'hm', thought: true }, { text: 'Hi' }]),
    },
  },
  {
    name: 'a signed thought',
    frames: [
      parts(textPart('hm', { thought: true, thoughtSignature: SIGNATURE })),
      parts(textPart('Hi')),
      end('STOP'),
    ],
    ask: THINKS,
    told: {
      chat: completion({ reasoning_content: 'hm', content: 'Hi' }, 'stop'),
      responses: response('completed', [
        { type: 'reasoning', encrypted_content: `gw1:alpha:thinking:${SIGNATURE}` },
        said('Hi'),
      ]),
      messages: message('end_turn', [
        { type: 'thinking', thinking: 'hm', signature: `gw1:alpha:thinking:${SIGNATURE}` },
        { type: 'text', text: 'Hi' },
      ]),
      generate: contents('STOP', [
        { text: 'hm', thought: true, thoughtSignature: anyId },
        { text: 'Hi' },
      ]),
    },
  },
  {
    name: 'a signed call',
    frames: [parts({ ...call('c1', { city: 'Oslo' }), thoughtSignature: SIGNATURE }), end('STOP')],
    ask: TOOLS,
    told: {
      chat: completion(
        {
          content: null,
          tool_calls: [
            {
              id: 'c1',
              type: 'function',
              function: { name: 'w', arguments: '{"city":"Oslo"}' },
              extra_content: { google: { thought_signature: carrier } },
            },
          ],
        },
        'tool_calls',
      ),
      responses: response('completed', [
        { type: 'reasoning', summary: [], encrypted_content: carrier },
        { type: 'function_call', call_id: 'c1', name: 'w', arguments: '{"city":"Oslo"}' },
      ]),
      messages: message('tool_use', [
        { type: 'tool_use', id: 'c1', name: 'w', input: { city: 'Oslo' }, signature: carrier },
      ]),
      generate: contents('STOP', [{ ...call('c1', { city: 'Oslo' }), thoughtSignature: base64 }]),
    },
  },
  {
    name: 'a call without an id, and one without arguments',
    frames: [parts(call(undefined), { functionCall: { name: 'w' } }), end('STOP')],
    ask: TOOLS,
    told: {
      chat: completion(
        {
          tool_calls: [
            { id: anyId, function: { name: 'w', arguments: '{}' } },
            { id: anyId, function: { name: 'w', arguments: '{}' } },
          ],
        },
        'tool_calls',
      ),
      responses: response('completed', [
        { type: 'function_call', call_id: anyId, arguments: '{}' },
        { type: 'function_call', call_id: anyId, arguments: '{}' },
      ]),
      messages: message('tool_use', [
        { type: 'tool_use', id: anyId, input: {} },
        { type: 'tool_use', id: anyId, input: {} },
      ]),
      generate: contents('STOP', [call(anyId), call(anyId)]),
    },
  },
  {
    name: 'a call in an answer that ran out of room',
    frames: [parts(call('c1')), end('MAX_TOKENS')],
    ask: TOOLS,
    told: {
      chat: completion({ tool_calls: [{ id: 'c1' }] }, 'tool_calls'),
      responses: response('completed', [{ type: 'function_call', call_id: 'c1' }]),
      messages: message('tool_use', [{ type: 'tool_use', id: 'c1' }]),
      generate: contents('STOP', [call('c1')]),
    },
  },
  {
    name: 'text after a call',
    frames: [parts(textPart('a')), parts(call('c1')), parts(textPart('b')), end('STOP')],
    ask: TOOLS,
    told: {
      chat: completion({ content: 'ab', tool_calls: [{ id: 'c1' }] }, 'tool_calls'),
      responses: response('completed', [said('a'), { type: 'function_call' }, said('b')]),
      messages: message('tool_use', [
        { type: 'text', text: 'a' },
        { type: 'tool_use', id: 'c1' },
        { type: 'text', text: 'b' },
      ]),
      generate: contents('STOP', [{ text: 'a' }, call('c1'), { text: 'b' }]),
    },
  },
  {
    name: 'a drawn picture',
    frames: [parts({ inlineData: { mimeType: 'image/png', data: PNG } }), end('STOP')],
    told: {
      chat: completion(
        {
          content: `![image](data:image/png;base64,${PNG})`,
          images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }],
        },
        'stop',
      ),
      responses: response('completed', [{ type: 'image_generation_call', result: PNG }]),
      messages: message('end_turn', [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
      ]),
      generate: contents('STOP', [{ inlineData: { mimeType: 'image/png', data: PNG } }]),
    },
  },
  {
    name: 'code the upstream ran',
    frames: [
      parts(
        { executableCode: { language: 'PYTHON', code: 'print(1)' } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
      ),
      end('STOP'),
    ],
    told: {
      chat: completion({ content: expectText(/```python\nprint\(1\)\n```/) }, 'stop'),
      responses: response('completed', [said(expectText(/```python\nprint\(1\)\n```/))]),
      messages: message('end_turn', [
        { type: 'text', text: expectText(/```python\nprint\(1\)\n```/) },
        { type: 'text', text: expectText(/1/) },
      ]),
      generate: contents('STOP', [
        { executableCode: { language: 'PYTHON', code: 'print(1)' } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
      ]),
    },
  },
  {
    name: 'several answers',
    frames: [
      {
        candidates: [0, 1].map((index) => ({ index, content: { parts: [{ text: `${index}` }] } })),
      },
      { candidates: [0, 1].map((index) => ({ index, finishReason: 'STOP' })) },
    ],
    ask: { chat: { n: 2 }, generate: { generationConfig: { candidateCount: 2 } } },
    told: {
      chat: reply({
        choices: [
          { index: 0, message: { content: '0' } },
          { index: 1, message: { content: '1' } },
        ],
      }),
      responses: response('completed', [said('0')]),
      messages: message('end_turn', [{ type: 'text', text: '0' }]),
      generate: reply({
        candidates: [
          { content: { parts: [{ text: '0' }] } },
          { content: { parts: [{ text: '1' }] } },
        ],
      }),
    },
  },
];

/** A text of which only the look is known. */
function expectText(look: RegExp): string {
  return expect.stringMatching(look);
}
