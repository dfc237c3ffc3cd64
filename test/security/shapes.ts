// Requests and upstream answers of any size, one shape for each thing there can be many of.

import type { JsonObject, JsonValue } from '../../src/lib/json.ts';
import { frameOf } from '../support/scripted-upstream.ts';

/** One request of size `count`, and what the upstream answers to it. */
export interface Exchange {
  readonly path: string;
  readonly body: JsonObject;
  /** Events of the upstream's stream, or of an answer as a whole the only one. */
  readonly frames?: readonly JsonObject[];
}

export type Shape = (count: number) => Exchange;

const CHAT = '/v1/chat/completions';
const RESPONSES = '/v1/responses';
const MESSAGES = '/v1/messages';
const NATIVE = '/v1beta/models/alpha-3-flash:generateContent';
const NATIVE_STREAM = '/v1beta/models/alpha-3-flash:streamGenerateContent?alt=sse';
const model = 'alpha-3-flash';

const range = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const chat = (messages: readonly JsonValue[], rest: JsonObject = {}): Exchange => ({
  path: CHAT,
  body: { model, messages: [...messages], ...rest },
});
const responses = (input: JsonValue, rest: JsonObject = {}): Exchange => ({
  path: RESPONSES,
  body: { model, input, ...rest },
});
const messages = (list: readonly JsonValue[], rest: JsonObject = {}): Exchange => ({
  path: MESSAGES,
  body: { model, max_tokens: 100, messages: [...list], ...rest },
});
const native = (contents: readonly JsonValue[], rest: JsonObject = {}): Exchange => ({
  path: NATIVE,
  body: { contents: [...contents], ...rest },
});
const user = (content: JsonValue): JsonObject => ({ role: 'user', content });

const chatCall = (id: string, name = 'f', args = '{"a":1}'): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const objectSchema = (properties: JsonObject, rest: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...rest,
});
const chatTool = (
  name: string,
  parameters: JsonObject = objectSchema({ a: { type: 'integer' } }),
) => ({
  type: 'function',
  function: { name, description: 'd', parameters },
});
const hi = [user('Hi')];

/** What a request can have many of, going up. */
export const REQUESTS: Readonly<Record<string, Shape>> = {
  'chat turns': (n) =>
    chat(range(n, (i) => ({ role: i % 2 ? 'assistant' : 'user', content: `t${i}` }))),
  'chat user turns': (n) => chat(range(n, (i) => user(`t${i}`))),
  'chat assistant turns': (n) =>
    chat([user('x'), ...range(n, (i) => ({ role: 'assistant', content: `t${i}` })), user('y')]),
  'chat system turns': (n) =>
    chat([...range(n, (i) => ({ role: 'system', content: `s${i}` })), ...hi]),
  'chat late system turns': (n) =>
    chat([user('a'), ...range(n, (i) => ({ role: 'system', content: `s${i}` })), ...hi]),
  'chat parts': (n) => chat([user(range(n, (i) => ({ type: 'text', text: `p${i}` })))]),
  'chat pictures': (n) =>
    chat([
      user(
        range(n, () => ({
          type: 'image_url',
          image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' },
        })),
      ),
    ]),
  'chat calls in one turn': (n) =>
    chat(
      [
        user('x'),
        { role: 'assistant', content: null, tool_calls: range(n, (i) => chatCall(`c${i}`)) },
        ...range(n, (i) => ({ role: 'tool', tool_call_id: `c${i}`, content: `{"r":${i}}` })),
      ],
      { tools: [chatTool('f')] },
    ),
  'chat calls in many turns': (n) =>
    chat(
      [
        user('x'),
        ...range(n, (i) => [
          { role: 'assistant', content: null, tool_calls: [chatCall(`c${i}`)] },
          { role: 'tool', tool_call_id: `c${i}`, content: 'r' },
        ]).flat(),
      ],
      { tools: [chatTool('f')] },
    ),
  'chat calls of one id': (n) =>
    chat([
      user('x'),
      { role: 'assistant', content: null, tool_calls: range(n, () => chatCall('c')) },
      ...range(n, () => ({ role: 'tool', tool_call_id: 'c', content: 'r' })),
    ]),
  'chat calls of one id in many turns': (n) =>
    chat([
      user('x'),
      ...range(n, () => [
        { role: 'assistant', content: null, tool_calls: [chatCall('c')] },
        { role: 'tool', tool_call_id: 'c', content: 'r' },
      ]).flat(),
    ]),
  'chat results of one id before calls': (n) =>
    chat([
      user('x'),
      { role: 'assistant', content: null, tool_calls: [chatCall('c')] },
      ...range(n, () => ({ role: 'tool', tool_call_id: 'c', content: 'r' })),
      ...range(n, () => [
        { role: 'assistant', content: null, tool_calls: [chatCall('c')] },
        user('y'),
      ]).flat(),
    ]),
  'chat calls without results': (n) =>
    chat([
      user('x'),
      ...range(n, (i) => ({ role: 'assistant', content: null, tool_calls: [chatCall(`c${i}`)] })),
      user('y'),
    ]),
  'chat results far from their calls': (n) =>
    chat([
      user('x'),
      ...range(n, (i) => ({ role: 'assistant', content: 'a', tool_calls: [chatCall(`c${i}`)] })),
      ...range(n, (i) => ({ role: 'tool', tool_call_id: `c${n - 1 - i}`, content: 'r' })),
    ]),
  'chat legacy calls': (n) =>
    chat([
      user('x'),
      ...range(n, () => [
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
        { role: 'function', name: 'f', content: 'r' },
      ]).flat(),
    ]),
  'chat legacy calls then results': (n) =>
    chat([
      user('x'),
      ...range(n, () => ({
        role: 'assistant',
        content: null,
        function_call: { name: 'f', arguments: '{}' },
      })),
      ...range(n, () => ({ role: 'function', name: 'f', content: 'r' })),
    ]),
  'chat calls of as many tools': (n) => {
    const tools = Math.min(n, 500);
    return chat(
      [
        user('x'),
        {
          role: 'assistant',
          content: null,
          tool_calls: range(n, (i) => chatCall(`c${i}`, `f${i % tools}`)),
        },
        ...range(n, (i) => ({ role: 'tool', tool_call_id: `c${i}`, content: 'r' })),
      ],
      { tools: range(tools, (i) => chatTool(`f${i}`)) },
    );
  },
  'chat calls of odd names': (n) =>
    chat([
      user('x'),
      {
        role: 'assistant',
        content: null,
        tool_calls: range(n, (i) => chatCall(`c${i}`, `f ${i}`)),
      },
      ...range(n, (i) => ({ role: 'tool', tool_call_id: `c${i}`, content: 'r' })),
    ]),
  'chat tools': (n) => chat(hi, { tools: range(n, (i) => chatTool(`f${i}`)) }),
  'chat tools of one name': (n) => chat(hi, { tools: range(n, () => chatTool('f')) }),
  'chat tools of odd names': (n) => chat(hi, { tools: range(n, (i) => chatTool(`f ${i}`)) }),
  'chat tools without names': (n) => chat(hi, { tools: range(n, () => ({ type: 'function' })) }),
  'chat allowed tools': (n) =>
    chat(hi, {
      tools: range(500, (i) => chatTool(`f${i}`)),
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: {
          mode: 'auto',
          tools: range(n, (i) => ({ type: 'function', function: { name: `f${i % 500}` } })),
        },
      },
    }),
  'chat stops': (n) => chat(hi, { stop: range(n, (i) => `s${i}`) }),
  'chat unknown fields': (n) => chat(hi, Object.fromEntries(range(n, (i) => [`x_${i}`, i]))),
  'chat unknown fields of turns': (n) =>
    chat(range(n, (i) => ({ ...user(`t${i}`), [`x_${i}`]: 1 }))),
  'chat logit bias': (n) =>
    chat(hi, { logit_bias: Object.fromEntries(range(n, (i) => [`${i}`, 1])) }),
  'chat metadata': (n) =>
    chat(hi, { metadata: Object.fromEntries(range(n, (i) => [`k${i}`, 'v'])) }),
  'chat reasoning details': (n) =>
    chat([
      user('x'),
      {
        role: 'assistant',
        content: 'a',
        reasoning_details: range(n, (i) => ({
          type: 'reasoning.text',
          text: `t${i}`,
          signature: `s${i}`,
        })),
      },
      user('y'),
    ]),
  'chat thinking blocks': (n) =>
    chat([
      user('x'),
      {
        role: 'assistant',
        content: 'a',
        thinking_blocks: range(n, (i) => ({
          type: 'thinking',
          thinking: `t${i}`,
          signature: `s${i}`,
        })),
      },
      user('y'),
    ]),
  'chat calls and thoughts': (n) =>
    chat([
      user('x'),
      ...range(n, (i) => ({ role: 'assistant', content: `a${i}`, reasoning_content: `r${i}` })),
      user('y'),
    ]),
  'chat big user turn, assistant turns': (n) =>
    chat([
      user(range(n, (i) => ({ type: 'text', text: `p${i}` }))),
      ...range(n, (i) => ({ role: 'assistant', content: `t${i}` })),
      user('y'),
    ]),
  'chat text in one turn': (n) => chat([user('word '.repeat(n * 20))]),
  'chat blanks in one turn': (n) => chat([user(' '.repeat(n * 20))]),
  'chat newlines in one turn': (n) => chat([user('\n'.repeat(n * 20))]),
  'chat lone halves': (n) => chat([user('\ud800x'.repeat(n))]),
  'chat markdown pictures': (n) =>
    chat([
      user('x'),
      { role: 'assistant', content: '![i](data:image/png;base64,iVBORw0KGgo=) '.repeat(n) },
      user('y'),
    ]),
  'chat open markdown pictures': (n) =>
    chat([
      user('x'),
      { role: 'assistant', content: '![i](data:image/png;base64,'.repeat(n) },
      user('y'),
    ]),
  'chat thinking tags': (n) =>
    chat([user('x'), { role: 'assistant', content: '<think>a</think>'.repeat(n) }, user('y')]),
  'chat open thinking tags': (n) =>
    chat([user('x'), { role: 'assistant', content: '<think>'.repeat(n) }, user('y')]),
  'chat argument members': (n) =>
    chat([
      user('x'),
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          chatCall(
            'c',
            'f',
            JSON.stringify(Object.fromEntries(range(n, (i) => [`k${i}`, `v${i}`]))),
          ),
        ],
      },
      { role: 'tool', tool_call_id: 'c', content: JSON.stringify(range(n, (i) => ({ a: i }))) },
    ]),
  'chat result parts': (n) =>
    chat([
      user('x'),
      { role: 'assistant', content: null, tool_calls: [chatCall('c')] },
      {
        role: 'tool',
        tool_call_id: 'c',
        content: range(n, (i) => ({ type: 'text', text: `p${i}` })),
      },
    ]),
  'completions prompts': (n) => ({
    path: '/v1/completions',
    body: { model, prompt: 'w '.repeat(n) },
  }),
  'responses items': (n) =>
    responses(range(n, (i) => ({ role: i % 2 ? 'assistant' : 'user', content: `t${i}` }))),
  'responses user items': (n) => responses(range(n, (i) => user(`t${i}`))),
  'responses assistant items': (n) =>
    responses([
      user('x'),
      ...range(n, (i) => ({ role: 'assistant', content: `t${i}` })),
      user('y'),
    ]),
  'responses parts': (n) =>
    responses([user(range(n, (i) => ({ type: 'input_text', text: `p${i}` })))]),
  'responses calls then outputs': (n) =>
    responses(
      [
        user('x'),
        ...range(n, (i) => ({
          type: 'function_call',
          call_id: `c${i}`,
          name: 'f',
          arguments: '{"a":1}',
        })),
        ...range(n, (i) => ({ type: 'function_call_output', call_id: `c${i}`, output: 'r' })),
      ],
      {
        tools: [
          { type: 'function', name: 'f', parameters: objectSchema({ a: { type: 'integer' } }) },
        ],
      },
    ),
  'responses calls and outputs': (n) =>
    responses([
      user('x'),
      ...range(n, (i) => [
        { type: 'function_call', call_id: `c${i}`, name: 'f', arguments: '{"a":1}' },
        { type: 'function_call_output', call_id: `c${i}`, output: 'r' },
      ]).flat(),
    ]),
  'responses reasoning items': (n) =>
    responses([
      user('x'),
      ...range(n, (i) => [
        {
          type: 'reasoning',
          id: `rs_${i}`,
          summary: [{ type: 'summary_text', text: `t${i}` }],
          encrypted_content: `e${i}`,
        },
        { role: 'assistant', content: `t${i}` },
      ]).flat(),
      user('y'),
    ]),
  'responses reasoning alone': (n) =>
    responses([
      user('x'),
      ...range(n, (i) => ({
        type: 'reasoning',
        id: `rs_${i}`,
        summary: [{ type: 'summary_text', text: `t${i}` }],
      })),
      user('y'),
    ]),
  'responses tools': (n) =>
    responses('Hi', {
      tools: range(n, (i) => ({ type: 'function', name: `f${i}`, parameters: objectSchema({}) })),
    }),
  'responses namespaces': (n) =>
    responses('Hi', {
      tools: range(n, (i) => ({
        type: 'namespace',
        name: `n${i}`,
        description: 'd',
        tools: [{ type: 'function', name: 'f', parameters: objectSchema({}) }],
      })),
    }),
  'responses allowed tools': (n) =>
    responses('Hi', {
      tools: range(500, (i) => ({ type: 'function', name: `f${i}`, parameters: objectSchema({}) })),
      tool_choice: {
        type: 'allowed_tools',
        mode: 'auto',
        tools: range(n, (i) => ({ type: 'function', name: `f${i % 500}` })),
      },
    }),
  'responses additional tools': (n) =>
    responses([
      ...range(n, (i) => ({
        type: 'additional_tools',
        tools: [{ type: 'function', name: `f${i}`, parameters: objectSchema({}) }],
      })),
      user('y'),
    ]),
  'responses metadata': (n) =>
    responses('Hi', { metadata: Object.fromEntries(range(n, (i) => [`k${i}`, 'v'])) }),
  'messages turns': (n) =>
    messages(range(n, (i) => ({ role: i % 2 ? 'assistant' : 'user', content: `t${i}` }))),
  'messages user turns': (n) => messages(range(n, (i) => user(`t${i}`))),
  'messages assistant turns': (n) =>
    messages([user('x'), ...range(n, (i) => ({ role: 'assistant', content: `t${i}` })), user('y')]),
  'messages blocks': (n) => messages([user(range(n, (i) => ({ type: 'text', text: `p${i}` })))]),
  'messages system blocks': (n) =>
    messages(hi, { system: range(n, (i) => ({ type: 'text', text: `s${i}` })) }),
  'messages calls in one turn': (n) =>
    messages(
      [
        user('x'),
        {
          role: 'assistant',
          content: range(n, (i) => ({ type: 'tool_use', id: `c${i}`, name: 'f', input: { a: 1 } })),
        },
        user(range(n, (i) => ({ type: 'tool_result', tool_use_id: `c${i}`, content: 'r' }))),
      ],
      { tools: [{ name: 'f', input_schema: objectSchema({ a: { type: 'integer' } }) }] },
    ),
  'messages calls in many turns': (n) =>
    messages([
      user('x'),
      ...range(n, (i) => [
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: `c${i}`, name: 'f', input: { a: 1 } }],
        },
        user([{ type: 'tool_result', tool_use_id: `c${i}`, content: 'r' }]),
      ]).flat(),
    ]),
  'messages thoughts': (n) =>
    messages([
      user('x'),
      {
        role: 'assistant',
        content: range(n, (i) => ({ type: 'thinking', thinking: `t${i}`, signature: `s${i}` })),
      },
      user('y'),
    ]),
  'messages thoughts and calls': (n) =>
    messages(
      [
        user('x'),
        {
          role: 'assistant',
          content: range(n, (i) => [
            { type: 'thinking', thinking: `t${i}`, signature: `s${i}` },
            { type: 'tool_use', id: `c${i}`, name: 'f', input: { a: 1 } },
          ]).flat(),
        },
        user(range(n, (i) => ({ type: 'tool_result', tool_use_id: `c${i}`, content: 'r' }))),
      ],
      { thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 4000 },
    ),
  'messages server searches': (n) =>
    messages([
      user('x'),
      {
        role: 'assistant',
        content: range(n, (i) => [
          { type: 'server_tool_use', id: `s${i}`, name: 'web_search', input: { query: 'q' } },
          {
            type: 'web_search_tool_result',
            tool_use_id: `s${i}`,
            content: [
              {
                type: 'web_search_result',
                url: 'https://a.test',
                title: 't',
                encrypted_content: 'e',
              },
            ],
          },
        ]).flat(),
      },
      user('y'),
    ]),
  'messages tools': (n) =>
    messages(hi, { tools: range(n, (i) => ({ name: `f${i}`, input_schema: objectSchema({}) })) }),
  'messages stops': (n) => messages(hi, { stop_sequences: range(n, (i) => `s${i}`) }),
  'messages unknown fields of blocks': (n) =>
    messages([user(range(n, (i) => ({ type: 'text', text: 'p', [`x_${i}`]: 1 })))]),
  'native turns': (n) =>
    native(range(n, (i) => ({ role: i % 2 ? 'model' : 'user', parts: [{ text: `t${i}` }] }))),
  'native user turns': (n) =>
    native(range(n, (i) => ({ role: 'user', parts: [{ text: `t${i}` }] }))),
  'native model turns': (n) =>
    native([
      { role: 'user', parts: [{ text: 'x' }] },
      ...range(n, (i) => ({ role: 'model', parts: [{ text: `t${i}` }] })),
      { role: 'user', parts: [{ text: 'x' }] },
    ]),
  'native parts': (n) => native([{ role: 'user', parts: range(n, (i) => ({ text: `p${i}` })) }]),
  'native runs of code': (n) =>
    native([
      { role: 'user', parts: [{ text: 'x' }] },
      {
        role: 'model',
        parts: range(2 * n, (i) =>
          i % 2 === 0
            ? { executableCode: { language: 'PYTHON', code: 'a' } }
            : { codeExecutionResult: { outcome: 'OUTCOME_OK', output: 'b' } },
        ),
      },
      { role: 'user', parts: [{ text: 'x' }] },
    ]),
  'native calls in one turn': (n) =>
    native([
      { role: 'user', parts: [{ text: 'x' }] },
      {
        role: 'model',
        parts: range(n, (i) => ({ functionCall: { id: `c${i}`, name: 'f', args: { a: 1 } } })),
      },
      {
        role: 'user',
        parts: range(n, (i) => ({
          functionResponse: { id: `c${i}`, name: 'f', response: { r: 1 } },
        })),
      },
    ]),
  'native calls without ids': (n) =>
    native([
      { role: 'user', parts: [{ text: 'x' }] },
      { role: 'model', parts: range(n, () => ({ functionCall: { name: 'f', args: { a: 1 } } })) },
      {
        role: 'user',
        parts: range(n, () => ({ functionResponse: { name: 'f', response: { r: 1 } } })),
      },
    ]),
  'native calls in many turns': (n) =>
    native([
      { role: 'user', parts: [{ text: 'x' }] },
      ...range(n, (i) => [
        { role: 'model', parts: [{ functionCall: { id: `c${i}`, name: 'f', args: { a: 1 } } }] },
        {
          role: 'user',
          parts: [{ functionResponse: { id: `c${i}`, name: 'f', response: { r: 1 } } }],
        },
      ]).flat(),
    ]),
  'native calls then responses': (n) =>
    native([
      { role: 'user', parts: [{ text: 'x' }] },
      ...range(n, (i) => ({
        role: 'model',
        parts: [{ functionCall: { id: `c${i}`, name: 'f', args: { a: 1 } } }],
      })),
      ...range(n, (i) => ({
        role: 'user',
        parts: [{ functionResponse: { id: `c${n - 1 - i}`, name: 'f', response: { r: 1 } } }],
      })),
    ]),
  'native signed parts': (n) =>
    native([
      { role: 'user', parts: [{ text: 'x' }] },
      { role: 'model', parts: range(n, (i) => ({ text: `t${i}`, thoughtSignature: `c${i}AAAA` })) },
      { role: 'user', parts: [{ text: 'x' }] },
    ]),
  'native functions': (n) =>
    native([{ role: 'user', parts: [{ text: 'x' }] }], {
      tools: range(n, (i) => ({
        functionDeclarations: [{ name: `f${i}`, parameters: objectSchema({}) }],
      })),
    }),
  'native functions in one tool': (n) =>
    native([{ role: 'user', parts: [{ text: 'x' }] }], {
      tools: [
        {
          functionDeclarations: range(n, (i) => ({ name: `f${i}`, parameters: objectSchema({}) })),
        },
      ],
    }),
  'native system parts': (n) =>
    native([{ role: 'user', parts: [{ text: 'x' }] }], {
      systemInstruction: { parts: range(n, (i) => ({ text: `s${i}` })) },
    }),
  'native stops': (n) =>
    native([{ role: 'user', parts: [{ text: 'x' }] }], {
      generationConfig: { stopSequences: range(n, (i) => `s${i}`) },
    }),
  'native unknown fields': (n) =>
    native(
      [{ role: 'user', parts: [{ text: 'x' }] }],
      Object.fromEntries(range(n, (i) => [`x_${i}`, i])),
    ),
  'native model turns, then native embeds': (n) => ({
    path: '/v1beta/models/alpha-3-flash:countTokens',
    body: { contents: range(n, (i) => ({ role: 'user', parts: [{ text: `t${i}` }] })) },
  }),
  'messages tool changes': (n) =>
    messages([
      user('x'),
      { role: 'assistant', content: 'a' },
      {
        role: 'system',
        content: range(n, (i) => ({
          type: 'tool_addition',
          tool: {
            type: 'tool_definition',
            definition: { name: `f${i}`, input_schema: objectSchema({}) },
          },
        })),
      },
      user('y'),
    ]),
  'native calls of a wide function': (n) =>
    native(
      [
        { role: 'user', parts: [{ text: 'x' }] },
        ...range(n, (i) => [
          { role: 'model', parts: [{ functionCall: { id: `c${i}`, name: 'f', args: { a: 1 } } }] },
          {
            role: 'user',
            parts: [{ functionResponse: { id: `c${i}`, name: 'f', response: { r: 1 } } }],
          },
        ]).flat(),
      ],
      {
        tools: [
          {
            functionDeclarations: [
              {
                name: 'f',
                parametersJsonSchema: objectSchema(
                  Object.fromEntries(range(n, (i) => [`p${i}`, { type: 'string' }])),
                ),
              },
            ],
          },
        ],
      },
    ),
  'responses namespaced calls': (n) =>
    responses(
      [
        user('x'),
        ...range(n, (i) => [
          { type: 'function_call', call_id: `c${i}`, name: `g${i}`, arguments: '{}' },
          { type: 'function_call_output', call_id: `c${i}`, output: 'r' },
        ]).flat(),
      ],
      {
        tools: range(500, (i) => ({
          type: 'namespace',
          name: `n${i}`,
          description: 'd',
          tools: [{ type: 'function', name: 'f', parameters: objectSchema({}) }],
        })),
      },
    ),
  'messages results out of order': (n) =>
    messages([
      user('x'),
      {
        role: 'assistant',
        content: range(n, (i) => ({ type: 'tool_use', id: `c${i}`, name: 'f', input: {} })),
      },
      user(range(n, (i) => ({ type: 'tool_result', tool_use_id: `c${n - 1 - i}`, content: 'r' }))),
    ]),
  'messages count tokens': (n) => ({
    path: '/v1/messages/count_tokens',
    body: { model, messages: range(n, (i) => ({ role: 'user', content: `t${i}` })) },
  }),
};

/** Schemas of tools and of answers. */
const SCHEMAS: Readonly<Record<string, (n: number) => JsonObject>> = {
  properties: (n) =>
    objectSchema(Object.fromEntries(range(n, (i) => [`p${i}`, { type: 'string' }]))),
  'required properties': (n) =>
    objectSchema(Object.fromEntries(range(n, (i) => [`p${i}`, { type: 'string', default: 'x' }])), {
      required: range(n, (i) => `p${i}`),
    }),
  'required names of nothing': (n) =>
    objectSchema({ a: {} }, { required: range(n, (i) => `p${i}`) }),
  'values of an enum': (n) => objectSchema({ a: { enum: range(n, (i) => `v${i}`) } }),
  'numbers of an enum': (n) => objectSchema({ a: { enum: range(n, (i) => i) } }),
  'mixed values of an enum': (n) =>
    objectSchema({ a: { enum: range(n, (i) => (i % 2 ? i : `v${i}`)) } }),
  branches: (n) =>
    objectSchema({
      a: { anyOf: range(n, (i) => ({ type: 'object', properties: { [`p${i}`]: {} } })) },
    }),
  'constant branches': (n) => objectSchema({ a: { anyOf: range(n, (i) => ({ const: `c${i}` })) } }),
  'oneOf branches': (n) =>
    objectSchema({
      a: {
        oneOf: range(n, (i) =>
          objectSchema({ kind: { const: `k${i}` }, v: { type: 'string' } }, { required: ['kind'] }),
        ),
      },
    }),
  'allOf branches': (n) =>
    objectSchema({
      a: {
        allOf: range(n, (i) => ({ type: 'object', properties: { [`p${i}`]: { type: 'string' } } })),
      },
    }),
  'allOf enums': (n) =>
    objectSchema({ a: { allOf: range(20, () => ({ enum: range(n, (i) => `v${i}`) })) } }),
  'branches at the root': (n) => ({
    type: 'object',
    anyOf: range(n, (i) => ({
      properties: { [`p${i}`]: { type: 'string' } },
      required: [`p${i}`],
    })),
  }),
  types: (n) =>
    objectSchema({ a: { type: range(n, (i) => ['string', 'integer', 'null'][i % 3] ?? '') } }),
  'refs of one definition': (n) =>
    objectSchema(Object.fromEntries(range(n, (i) => [`p${i}`, { $ref: '#/$defs/d' }])), {
      $defs: { d: objectSchema({ x: { type: 'string' } }) },
    }),
  'refs of as many definitions': (n) =>
    objectSchema(Object.fromEntries(range(n, (i) => [`p${i}`, { $ref: `#/$defs/d${i}` }])), {
      $defs: Object.fromEntries(
        range(n, (i) => [`d${i}`, objectSchema({ x: { type: 'string' } })]),
      ),
    }),
  'a chain of refs': (n) =>
    objectSchema(
      { a: { $ref: '#/$defs/d0' } },
      {
        $defs: Object.fromEntries(range(n, (i) => [`d${i}`, { $ref: `#/$defs/d${i + 1}` }])),
      },
    ),
  'nested chain of refs': (n) =>
    objectSchema(
      { a: { $ref: '#/$defs/d0' } },
      {
        $defs: Object.fromEntries(
          range(n, (i) => [`d${i}`, objectSchema({ n: { $ref: `#/$defs/d${i + 1}` } })]),
        ),
      },
    ),
  'refs that double': (n) =>
    objectSchema(
      { a: { $ref: '#/$defs/d0' } },
      {
        $defs: Object.fromEntries(
          range(n, (i) => [
            `d${i}`,
            objectSchema({ l: { $ref: `#/$defs/d${i + 1}` }, r: { $ref: `#/$defs/d${i + 1}` } }),
          ]),
        ),
      },
    ),
  'refs into each other': (n) =>
    objectSchema(
      { a: { $ref: '#/$defs/d0' } },
      {
        $defs: Object.fromEntries(
          range(n, (i) => [
            `d${i}`,
            objectSchema({
              l: { $ref: `#/$defs/d${(i * 7 + 1) % n}` },
              r: { $ref: `#/$defs/d${(i * 3 + 2) % n}` },
            }),
          ]),
        ),
      },
    ),
  'branches of refs that double': (n) =>
    objectSchema(
      { a: { $ref: '#/$defs/d0' } },
      {
        $defs: Object.fromEntries(
          range(n, (i) => [
            `d${i}`,
            {
              anyOf: [
                { $ref: `#/$defs/d${i + 1}` },
                { $ref: `#/$defs/d${i + 1}` },
                { type: 'string' },
              ],
            },
          ]),
        ),
      },
    ),
  'allOf of refs that double': (n) =>
    objectSchema(
      { a: { $ref: '#/$defs/d0' } },
      {
        $defs: Object.fromEntries(
          range(n, (i) => [
            `d${i}`,
            { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
          ]),
        ),
      },
    ),
  'recursive properties': (n) =>
    objectSchema(Object.fromEntries(range(n, (i) => [`p${i}`, { $ref: '#' }]))),
  'long descriptions': (n) =>
    objectSchema({ a: { type: 'string', description: 'word '.repeat(n) } }),
  'long patterns': (n) => objectSchema({ a: { type: 'string', pattern: '(a+)+'.repeat(n) } }),
  'patterns of members': (n) =>
    objectSchema(
      {},
      { patternProperties: Object.fromEntries(range(n, (i) => [`^p${i}`, { type: 'string' }])) },
    ),
  'tuple items': (n) =>
    objectSchema({ a: { type: 'array', prefixItems: range(n, () => ({ type: 'string' })) } }),
  conditions: (n) =>
    objectSchema(
      { a: { type: 'string' } },
      {
        allOf: range(n, (i) => ({
          if: { properties: { a: { const: `v${i}` } } },
          // Spread, as an object with such a member looks like a promise.
          ...Object.fromEntries([['then', { required: [`b${i}`] }]]),
        })),
      },
    ),
  'dependent names': (n) =>
    objectSchema(Object.fromEntries(range(n, (i) => [`p${i}`, {}])), {
      dependentRequired: Object.fromEntries(range(n, (i) => [`p${i}`, [`p${(i + 1) % n}`]])),
    }),
  'allOf of one property': (n) =>
    objectSchema(
      {},
      { allOf: range(n, (i) => ({ properties: { a: { type: 'string', description: `d${i}` } } })) },
    ),
  'allOf descriptions': (n) =>
    objectSchema({ a: { allOf: range(n, (i) => ({ description: `d${i}` })) } }),
  'groups of branches': (n) =>
    objectSchema({
      a: {
        allOf: range(n, (i) => ({ anyOf: [{ required: [`x${i}`] }, { required: [`y${i}`] }] })),
      },
    }),
  'branches of one property': (n) => ({
    type: 'object',
    anyOf: range(n, (i) => ({
      properties: { a: { const: `v${i}` }, [`b${i}`]: {} },
      required: ['a'],
    })),
  }),
  'branches that need much': (n) => ({
    type: 'object',
    properties: { a: {} },
    anyOf: range(n, () => ({ required: range(30, (i) => `r${i}`) })),
  }),
  'branches with null': (n) =>
    objectSchema({ a: { anyOf: range(n, (i) => (i % 2 ? { type: 'null' } : { const: i })) } }),
  'branches of branches': (n) =>
    objectSchema({
      a: {
        anyOf: range(Math.ceil(n / 50), () => ({ anyOf: range(50, (i) => ({ const: `c${i}` })) })),
      },
    }),
  'definitions nobody uses': (n) =>
    objectSchema(
      { a: {} },
      { $defs: Object.fromEntries(range(n, (i) => [`d${i}`, objectSchema({ x: {} })])) },
    ),
  anchors: (n) =>
    objectSchema(Object.fromEntries(range(n, (i) => [`p${i}`, { $ref: `#a${i}` }])), {
      $defs: Object.fromEntries(range(n, (i) => [`d${i}`, { $anchor: `a${i}`, type: 'string' }])),
    }),
  'long refs': (n) => objectSchema({ a: { $ref: `#/${'properties/a/'.repeat(n)}` } }),
  negations: (n) => objectSchema({ a: { allOf: range(n, (i) => ({ not: { const: `v${i}` } })) } }),
  examples: (n) => objectSchema({ a: { type: 'string', examples: range(n, (i) => `e${i}`) } }),
  'refs of a definition that needs much': (n) =>
    objectSchema(Object.fromEntries(range(n, (i) => [`p${i}`, { $ref: '#/$defs/d' }])), {
      $defs: { d: objectSchema({ x: {} }, { required: range(n, (i) => `r${i}`) }) },
    }),
  'refs of a long description': (n) =>
    objectSchema(Object.fromEntries(range(n, (i) => [`p${i}`, { $ref: '#/$defs/d' }])), {
      $defs: { d: { type: 'string', description: 'word '.repeat(n) } },
    }),
  'refs of a long list': (n) =>
    objectSchema(Object.fromEntries(range(n, (i) => [`p${i}`, { $ref: '#/$defs/d' }])), {
      $defs: { d: { enum: range(n, (i) => `v${i}`) } },
    }),
  'refs of many branches': (n) =>
    objectSchema(Object.fromEntries(range(n, (i) => [`p${i}`, { $ref: '#/$defs/d' }])), {
      $defs: { d: { anyOf: range(n, (i) => ({ const: i })) } },
    }),
  'refs of many properties': (n) =>
    objectSchema(Object.fromEntries(range(n, (i) => [`p${i}`, { $ref: '#/$defs/d' }])), {
      $defs: {
        d: objectSchema(Object.fromEntries(range(n, (i) => [`q${i}`, { type: 'integer' }]))),
      },
    }),
  'refs of a long default': (n) =>
    objectSchema(Object.fromEntries(range(n, (i) => [`p${i}`, { $ref: '#/$defs/d' }])), {
      $defs: {
        d: {
          type: 'array',
          items: {},
          default: range(n, (i) => ({ i })),
          examples: [range(n, (i) => ({ i }))],
        },
      },
    }),
  'refs of unknown keywords': (n) =>
    objectSchema(Object.fromEntries(range(n, (i) => [`p${i}`, { $ref: '#/$defs/d' }])), {
      $defs: { d: { type: 'string', ...Object.fromEntries(range(n, (i) => [`x-${i}`, i])) } },
    }),
  'refs of patterns': (n) =>
    objectSchema(Object.fromEntries(range(n, (i) => [`p${i}`, { $ref: '#/$defs/d' }])), {
      $defs: {
        d: {
          type: 'object',
          patternProperties: Object.fromEntries(range(n, (i) => [`^x${i}`, {}])),
        },
      },
    }),
  'unknown keywords': (n) =>
    objectSchema({ a: Object.fromEntries(range(n, (i) => [`x-${i}`, i])) }),
};

const SCHEMA_PLACES: Readonly<Record<string, (schema: JsonObject) => Exchange>> = {
  'of a chat tool': (schema) => chat(hi, { tools: [chatTool('f', schema)] }),
  'of a chat answer': (schema) =>
    chat(hi, { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } }),
  'of a messages tool': (schema) => messages(hi, { tools: [{ name: 'f', input_schema: schema }] }),
  'of a native function': (schema) =>
    native([{ role: 'user', parts: [{ text: 'x' }] }], {
      tools: [{ functionDeclarations: [{ name: 'f', parameters: schema }] }],
    }),
  'of a native JSON function': (schema) =>
    native([{ role: 'user', parts: [{ text: 'x' }] }], {
      tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: schema }] }],
    }),
  'of a native answer': (schema) =>
    native([{ role: 'user', parts: [{ text: 'x' }] }], {
      generationConfig: { responseMimeType: 'application/json', responseSchema: schema },
    }),
  'of a native JSON answer': (schema) =>
    native([{ role: 'user', parts: [{ text: 'x' }] }], {
      generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
    }),
};

const CALLED = { a: 'v1', p1: '1', b: 'x', kind: 'k1', ps: 1, nope: [1] };
const CALLING: readonly JsonObject[] = [
  {
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts: [{ functionCall: { name: 'f', args: CALLED } }] },
        finishReason: 'STOP',
      },
    ],
  },
];
const ANSWERING: readonly JsonObject[] = [frameOf(JSON.stringify(CALLED), 'STOP')];

export const SCHEMA_REQUESTS: Readonly<Record<string, Shape>> = Object.fromEntries(
  Object.entries(SCHEMAS).flatMap(([what, make]) =>
    Object.entries(SCHEMA_PLACES).map(([where, put]) => [
      `${what} ${where}`,
      (n: number) => ({ ...put(make(n)), frames: where.includes('answer') ? ANSWERING : CALLING }),
    ]),
  ),
);

const partsFrame = (
  parts: readonly JsonValue[],
  finishReason?: string,
  rest: JsonObject = {},
): JsonObject => ({
  candidates: [
    {
      index: 0,
      content: { role: 'model', parts: [...parts] },
      ...(finishReason ? { finishReason } : {}),
      ...rest,
    },
  ],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
  responseId: 'r',
});
const STOP = frameOf('', 'STOP');

/** What an answer can have many of, coming down. */
const ANSWERS: Readonly<
  Record<string, (n: number) => { frames: readonly JsonObject[]; rest?: JsonObject }>
> = {
  'text deltas': (n) => ({ frames: [...range(n, (i) => frameOf(`w${i} `)), STOP] }),
  'alike deltas': (n) => ({ frames: [...range(n, () => frameOf('x')), STOP] }),
  'blank deltas': (n) => ({ frames: [...range(n, () => frameOf(' ')), STOP] }),
  'thought deltas': (n) => ({
    frames: [...range(n, (i) => partsFrame([{ text: `t${i}`, thought: true }])), STOP],
  }),
  'thoughts and texts in turn': (n) => ({
    frames: [
      ...range(n, (i) => partsFrame([{ text: `t${i}`, ...(i % 2 ? { thought: true } : {}) }])),
      STOP,
    ],
  }),
  'parts in one frame': (n) => ({
    frames: [
      partsFrame(
        range(n, (i) => ({ text: `t${i}` })),
        'STOP',
      ),
    ],
  }),
  'parts in turn in one frame': (n) => ({
    frames: [
      partsFrame(
        range(n, (i) => ({ text: `t${i}`, ...(i % 2 ? { thought: true } : {}) })),
        'STOP',
      ),
    ],
  }),
  calls: (n) => ({
    frames: [
      ...range(n, (i) => partsFrame([{ functionCall: { name: 'f', args: { a: i } } }])),
      STOP,
    ],
  }),
  'calls of one id': (n) => ({
    frames: [
      ...range(n, (i) => partsFrame([{ functionCall: { id: 'c', name: 'f', args: { a: i } } }])),
      STOP,
    ],
  }),
  'calls in one frame': (n) => ({
    frames: [
      partsFrame(
        range(n, (i) => ({ functionCall: { name: 'f', args: { a: i } } })),
        'STOP',
      ),
    ],
  }),
  'calls of unknown names': (n) => ({
    frames: [
      partsFrame(
        range(n, (i) => ({ functionCall: { name: `mcp__x_g${i}`, args: { a: i } } })),
        'STOP',
      ),
    ],
  }),
  'members of arguments': (n) => ({
    frames: [
      partsFrame(
        [
          {
            functionCall: {
              name: 'f',
              args: Object.fromEntries(range(n, (i) => [`k${i}`, `${i}`])),
            },
          },
        ],
        'STOP',
      ),
    ],
  }),
  'pieces of arguments': (n) => ({
    frames: [
      partsFrame([{ functionCall: { name: 'f', willContinue: true } }]),
      ...range(n, (i) =>
        partsFrame([
          {
            functionCall: {
              partialArgs: [{ jsonPath: '$.a', stringValue: `x${i}`, willContinue: true }],
              willContinue: true,
            },
          },
        ]),
      ),
      partsFrame([{ functionCall: {} }]),
      STOP,
    ],
  }),
  'pieces of a list of arguments': (n) => ({
    frames: [
      partsFrame([{ functionCall: { name: 'f', willContinue: true } }]),
      ...range(n, (i) =>
        partsFrame([
          {
            functionCall: {
              partialArgs: [{ jsonPath: `$.l[${i}]`, stringValue: `x${i}` }],
              willContinue: true,
            },
          },
        ]),
      ),
      partsFrame([{ functionCall: {} }]),
      STOP,
    ],
  }),
  'signed deltas': (n) => ({
    frames: [
      ...range(n, (i) => partsFrame([{ text: `t${i}`, thoughtSignature: `s${i}AAA` }])),
      STOP,
    ],
  }),
  pictures: (n) => ({
    frames: [
      ...range(n, () =>
        partsFrame([{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }]),
      ),
      STOP,
    ],
  }),
  'code and results': (n) => ({
    frames: [
      ...range(n, (i) =>
        partsFrame([
          { executableCode: { language: 'PYTHON', code: `print(${i})` } },
          { codeExecutionResult: { outcome: 'OUTCOME_OK', output: `${i}` } },
        ]),
      ),
      STOP,
    ],
  }),
  sources: (n) => ({
    frames: [
      frameOf('word '.repeat(n)),
      partsFrame([], 'STOP', {
        groundingMetadata: {
          webSearchQueries: range(n, (i) => `q${i}`),
          groundingChunks: range(n, (i) => ({
            web: { uri: `https://a.test/${i}`, title: `t${i}` },
          })),
          groundingSupports: range(n, (i) => ({
            segment: { startIndex: i * 5, endIndex: i * 5 + 4, text: 'word' },
            groundingChunkIndices: [i],
          })),
        },
      }),
    ],
    rest: { tools: 'search' },
  }),
  'sources in every frame': (n) => ({
    frames: [
      ...range(n, (i) =>
        partsFrame([{ text: 'word ' }], undefined, {
          groundingMetadata: {
            webSearchQueries: [`q${i}`],
            groundingChunks: [{ web: { uri: `https://a.test/${i}`, title: `t${i}` } }],
            groundingSupports: [
              {
                segment: { startIndex: i * 5, endIndex: i * 5 + 4, text: 'word' },
                groundingChunkIndices: [0],
              },
            ],
          },
        }),
      ),
      STOP,
    ],
    rest: { tools: 'search' },
  }),
  'citations in every frame': (n) => ({
    frames: [
      ...range(n, (i) =>
        partsFrame([{ text: 'word ' }], undefined, {
          citationMetadata: {
            citationSources: [{ startIndex: i, endIndex: i + 4, uri: `https://a.test/${i}` }],
          },
        }),
      ),
      STOP,
    ],
  }),
  logprobs: (n) => ({
    frames: [
      ...range(n, () =>
        partsFrame([{ text: 'w' }], undefined, {
          logprobsResult: {
            chosenCandidates: [{ token: 'w', logProbability: -1 }],
            topCandidates: [{ candidates: [{ token: 'w', logProbability: -1 }] }],
          },
        }),
      ),
      STOP,
    ],
    rest: { logprobs: true },
  }),
  choices: (n) => ({
    frames: range(n, (i) => ({
      candidates: [
        { index: i, content: { role: 'model', parts: [{ text: 't' }] }, finishReason: 'STOP' },
      ],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
    })),
  }),
  'deltas with stops': (n) => ({
    frames: [...range(n, () => frameOf('sssssst')), STOP],
    rest: { stop: true },
  }),
  'deltas of JSON': (n) => ({
    frames: [frameOf('{"a":['), ...range(n, () => frameOf('"1",')), frameOf('"2"]}'), STOP],
    rest: { schema: true },
  }),
  'deltas of fenced JSON': (n) => ({
    frames: [
      frameOf('```json\n{"a":['),
      ...range(n, () => frameOf('1,')),
      frameOf('2]}\n```'),
      STOP,
    ],
    rest: { schema: true },
  }),
  'empty frames': (n) => ({
    frames: [...range(n, () => ({ usageMetadata: { promptTokenCount: 3 } })), frameOf('x', 'STOP')],
  }),
  'early searches': (n) => ({
    frames: [
      ...range(n, (i) =>
        partsFrame([], undefined, { groundingMetadata: { webSearchQueries: [`q${i}`] } }),
      ),
      frameOf('x', 'STOP'),
    ],
    rest: { tools: 'search' },
  }),
  'opened pages': (n) => ({
    frames: [
      ...range(n, (i) =>
        partsFrame([{ text: 'w' }], undefined, {
          urlContextMetadata: {
            urlMetadata: [
              {
                retrievedUrl: `https://a.test/${i}`,
                urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS',
              },
            ],
          },
        }),
      ),
      STOP,
    ],
    rest: { tools: 'search' },
  }),
  'wrong quotes': (n) => ({
    frames: [
      frameOf('word '.repeat(n)),
      partsFrame([], 'STOP', {
        groundingMetadata: {
          webSearchQueries: ['q'],
          groundingChunks: [{ web: { uri: 'https://a.test', title: 't' } }],
          groundingSupports: range(n, (i) => ({
            segment: { startIndex: 0, endIndex: 4, text: `none ${i}` },
            groundingChunkIndices: [0],
          })),
        },
      }),
    ],
    rest: { tools: 'search' },
  }),
  'citations of many parts': (n) => ({
    frames: [
      partsFrame(
        range(n, (i) =>
          i % 2 ? { text: 'word ' } : { executableCode: { language: 'PYTHON', code: 'x' } },
        ),
        'STOP',
        {
          groundingMetadata: {
            webSearchQueries: ['q'],
            groundingChunks: [{ web: { uri: 'https://a.test', title: 't' } }],
            groundingSupports: range(n, (i) => ({
              segment: { partIndex: i, startIndex: 0, endIndex: 4 },
              groundingChunkIndices: [0],
            })),
          },
        },
      ),
    ],
    rest: { tools: 'search' },
  }),
  'pictures and citations': (n) => ({
    frames: [
      ...range(n, () =>
        partsFrame([
          { text: 'word ' },
          { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
        ]),
      ),
      partsFrame([], 'STOP', {
        groundingMetadata: {
          webSearchQueries: ['q'],
          groundingChunks: [{ web: { uri: 'https://a.test', title: 't' } }],
          groundingSupports: range(n, (i) => ({
            segment: { startIndex: i * 5, endIndex: i * 5 + 4, text: 'word' },
            groundingChunkIndices: [0],
          })),
        },
      }),
    ],
    rest: { tools: 'search' },
  }),
  'deltas that nearly stop': (n) => ({
    frames: [...range(n, () => frameOf('s')), STOP],
    rest: { stop: 'long' },
  }),
  'unknown parts': (n) => ({
    frames: [...range(n, (i) => partsFrame([{ [`kind${i}`]: {} }])), frameOf('x', 'STOP')],
  }),
  'traces before a call': (n) => ({
    frames: [
      ...range(n, (i) =>
        partsFrame([
          {
            toolCall: { toolType: 'GOOGLE_SEARCH_WEB', id: `s${i}`, args: { queries: [`q${i}`] } },
          },
        ]),
      ),
      partsFrame([{ functionCall: { name: 'f', args: { a: 1 } } }], 'STOP'),
    ],
  }),
  'unknown members of a wide schema': (n) => ({
    frames: [
      partsFrame(
        [
          {
            functionCall: {
              name: 'wide',
              args: Object.fromEntries(range(n, (i) => [`ks${i}`, `${i}`])),
            },
          },
        ],
        'STOP',
      ),
    ],
    rest: { wide: n },
  }),
  'calls of a wide tool': (n) => ({
    frames: [
      ...range(n, (i) => partsFrame([{ functionCall: { name: 'wide', args: { p1: `${i}` } } }])),
      STOP,
    ],
    rest: { wide: n },
  }),
  'lists of the wrong form': (n) => ({
    frames: [
      partsFrame(
        [{ functionCall: { name: 'f', args: { a: JSON.stringify(range(n, (i) => `${i}`)) } } }],
        'STOP',
      ),
    ],
  }),
  'long text': (n) => ({ frames: [frameOf('word '.repeat(n * 10)), STOP] }),
};

const ANSWER_SCHEMA = objectSchema({
  a: { type: 'array', items: { anyOf: [{ type: 'integer' }, { type: 'boolean' }] } },
  b: {},
});
const wideSchema = (count: number): JsonObject =>
  objectSchema(Object.fromEntries(range(count, (i) => [`p${i}`, { type: 'integer' }])), {
    additionalProperties: false,
  });
const longStop = `${'s'.repeat(50_000)}!`;
const toolsOf = (count: number): string[] => [
  'f',
  ...range(count - 1, (i) => `mcp__srv${i}__do_thing_${i}`),
];

/** For each client wire, how it asks for what an answer may hold. */
const ASKING: Readonly<Record<string, (rest: JsonObject, stream: boolean) => Exchange>> = {
  chat: ({ stop, schema, logprobs, tools, wide }, stream) =>
    chat(hi, {
      stream,
      ...(stop
        ? { stop: stop === 'long' ? longStop : range(4, (i) => `${'s'.repeat(i + 10)}!`) }
        : {}),
      ...(wide ? { tools: [chatTool('wide', wideSchema(Number(wide)))] } : {}),
      ...(schema
        ? {
            response_format: {
              type: 'json_schema',
              json_schema: { name: 'x', schema: ANSWER_SCHEMA },
            },
          }
        : {}),
      ...(logprobs ? { logprobs: true, top_logprobs: 2 } : {}),
      ...(tools === 'search' ? { web_search_options: {} } : {}),
      ...(tools === undefined && !schema && !wide
        ? { tools: toolsOf(100).map((name) => chatTool(name)) }
        : {}),
    }),
  responses: ({ stop: _stop, schema, tools, wide }, stream) =>
    responses('Hi', {
      stream,
      ...(schema
        ? { text: { format: { type: 'json_schema', name: 'x', schema: ANSWER_SCHEMA } } }
        : {}),
      ...(tools === 'search' ? { tools: [{ type: 'web_search' }] } : {}),
      ...(wide
        ? { tools: [{ type: 'function', name: 'wide', parameters: wideSchema(Number(wide)) }] }
        : {}),
      ...(tools === undefined && !schema && !wide
        ? {
            tools: toolsOf(100).map((name) => ({
              type: 'function',
              name,
              parameters: objectSchema({ a: { type: 'integer' } }),
            })),
          }
        : {}),
    }),
  messages: ({ stop, schema, tools, wide }, stream) =>
    messages(hi, {
      stream,
      ...(stop
        ? {
            stop_sequences:
              stop === 'long' ? [longStop] : range(20, (i) => `${'s'.repeat(i + 10)}!`),
          }
        : {}),
      ...(wide ? { tools: [{ name: 'wide', input_schema: wideSchema(Number(wide)) }] } : {}),
      ...(schema
        ? { output_config: { format: { type: 'json_schema', schema: ANSWER_SCHEMA } } }
        : {}),
      ...(tools === 'search'
        ? { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }
        : {}),
      ...(tools === undefined && !schema && !wide
        ? {
            tools: toolsOf(100).map((name) => ({
              name,
              input_schema: objectSchema({ a: { type: 'integer' } }),
            })),
          }
        : {}),
    }),
  native: ({ stop, tools }, stream) => ({
    ...native([{ role: 'user', parts: [{ text: 'x' }] }], {
      ...(stop
        ? { generationConfig: { stopSequences: [stop === 'long' ? longStop : 'sssssssss!'] } }
        : {}),
      ...(tools === 'search' ? { tools: [{ googleSearch: {} }] } : {}),
    }),
    path: stream ? NATIVE_STREAM : NATIVE,
  }),
};

export const ANSWERED: Readonly<Record<string, Shape>> = Object.fromEntries(
  Object.entries(ANSWERS).flatMap(([what, make]) =>
    Object.entries(ASKING).flatMap(([protocol, ask]) =>
      [true, false].map((stream) => [
        `${protocol} ${stream ? 'stream' : 'answer'} of ${what}`,
        (n: number) => {
          const { frames, rest = {} } = make(n);
          return { ...ask(rest, stream), frames };
        },
      ]),
    ),
  ),
);
