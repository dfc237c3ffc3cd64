import { expect, test } from 'vitest';
import { fold } from '../../canonical/fold.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { DONE } from '../../wire/chat.ts';
import {
  blocksOf,
  chunk,
  decode,
  decoderOf,
  decodeWith,
  endOf,
  errorOf,
  FAMILY,
  piece,
  reply,
  stop,
  whole,
} from './decode.test-support.ts';

const plain = (field: string) => ({
  ...{ value: Buffer.from(field).toString('base64url'), family: FAMILY, on: 'thinking' },
});

test('a stream that ends with the whole message says it once', () => {
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
  const { choices, usage } = fold(
    decodeWith(
      { stream: true },
      chunk({ role: 'assistant', reasoning_content: 'hm' }),
      chunk({ content: 'Hello' }),
      chunk({ tool_calls: [{ index: 0, ...call }] }),
      whole({ content: 'Hello', reasoning_content: 'hm', tool_calls: [call] }, 'tool_calls', {
        usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11, cached_tokens: 8 },
      }),
    ),
  );
  const blocks = choices[0]?.blocks ?? [];
  expect(blocks.map(({ kind }) => kind)).toEqual(['thinking', 'text', 'tool-call']);
  expect(blocks[1]).toMatchObject({ text: 'Hello' });
  expect(usage).toMatchObject({ promptTokens: 9, cachedTokens: 8 });
});

test('a stream is a start, balanced blocks, usage and the end', () => {
  const events = decode(
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'Hel' }),
    chunk({ content: 'lo' }),
    stop(),
    { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
  );
  const usage = {
    promptTokens: 3,
    cachedTokens: 0,
    toolPromptTokens: 0,
    answerTokens: 2,
    thoughtTokens: 0,
  };
  expect(events).toMatchObject([
    { kind: 'start', upstreamId: 'c', modelVersion: 'm-1' },
    { kind: 'block-start', index: 0, choice: 0, block: { kind: 'text' } },
    { kind: 'block-delta', delta: { kind: 'text', text: 'Hel' } },
    { kind: 'block-delta', delta: { kind: 'text', text: 'lo' } },
    { kind: 'block-end', index: 0 },
    { kind: 'usage', usage },
    { kind: 'finish', choices: [{ choice: 0, reason: 'stop', rawReason: 'stop' }] },
  ]);
});

test.each<[string, JsonObject, string]>([
  ['reasoning_content', { reasoning_content: 'hm' }, 'reasoning_content'],
  ['reasoning', { reasoning: 'hm' }, 'reasoning'],
  ['both, once', { reasoning: 'hm', reasoning_content: 'hm' }, 'reasoning_content'],
  [
    'parts of a content list',
    { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] },
    'thinking',
  ],
])('thoughts are read from %s, and the signature tells from where', (_name, delta, field) => {
  expect(blocksOf(chunk(delta), chunk({ content: 'A' }), stop())).toEqual([
    { kind: 'thinking', text: 'hm', signature: plain(field) },
    { kind: 'text', text: 'A' },
  ]);
});

test('reasoning details are one signature, whatever pieces they came in', () => {
  const detail = { type: 'reasoning.text', index: 0, format: 'f' };
  const streamed = blocksOf(
    chunk({ reasoning: 'a', reasoning_details: [{ ...detail, text: 'a' }] }),
    chunk({ reasoning: 'b', reasoning_details: [{ ...detail, text: 'b', signature: 'S' }] }),
    chunk({ content: 'A' }),
    stop(),
  );
  const details = [{ ...detail, text: 'ab', signature: 'S' }];
  expect(streamed).toEqual(
    blocksOf(whole({ content: 'A', reasoning: 'ab', reasoning_details: details })),
  );
  const [thought] = streamed ?? [];
  const value = thought && 'signature' in thought ? (thought.signature?.value ?? '') : '';
  expect(JSON.parse(Buffer.from(value, 'base64url').toString())).toEqual(details);
});

test('details nobody can read are a thought without words, in front of the call they led to', () => {
  const details = [{ type: 'reasoning.encrypted', data: 'X', id: 'r1' }];
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
  const events = decode(whole({ content: null, reasoning_details: details, tool_calls: [call] }));
  expect(events.filter(({ kind }) => kind === 'block-start')).toMatchObject([
    { block: { kind: 'thinking' } },
    { block: { kind: 'tool-call', trace: { family: FAMILY, parts: [{ text: '', details }] } } },
  ]);
});

test('a think tag in the text stays text', () => {
  expect(blocksOf(chunk({ content: '<think>a</think>b' }), stop())).toEqual([
    { kind: 'text', text: '<think>a</think>b' },
  ]);
});

const call = (id: string, input: JsonObject, name = 'f') => ({
  kind: 'tool-call',
  id,
  name,
  input,
  signature: undefined,
});

test.each<[string, readonly JsonObject[], readonly object[]]>([
  [
    'pieces by index',
    [
      piece(0, { id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
      piece(0, { function: { arguments: '{"x"' } }),
      piece(0, { function: { arguments: ':1}' } }),
      piece(1, { id: 'b', function: { name: 'f', arguments: '{}' } }),
    ],
    [call('a', { x: 1 }), call('b', {})],
  ],
  [
    'pieces of two calls mixed',
    [
      piece(0, { id: 'a', function: { name: 'f', arguments: '{"x"' } }),
      piece(1, { id: 'b', function: { name: 'f', arguments: '{"y"' } }),
      piece(0, { function: { arguments: ':1}' } }),
      piece(1, { function: { arguments: ':2}' } }),
    ],
    [call('a', { x: 1 }), call('b', { y: 2 })],
  ],
  [
    'whole calls without index',
    [
      piece(undefined, { id: 'a', function: { name: 'f', arguments: '{"x":1}' } }),
      piece(undefined, { id: 'b', function: { name: 'f', arguments: '{"y":2}' } }),
    ],
    [call('a', { x: 1 }), call('b', { y: 2 })],
  ],
  [
    'several calls in one chunk, all numbered 0',
    [
      chunk({
        tool_calls: [
          { index: 0, id: 'a', function: { name: 'f', arguments: '{"x":1}' } },
          { index: 0, id: 'b', function: { name: 'f', arguments: '{}' } },
        ],
      }),
    ],
    [call('a', { x: 1 }), call('b', {})],
  ],
  [
    'no ids at all',
    [
      piece(undefined, { function: { name: 'f', arguments: '{"x":1}' } }),
      piece(undefined, { function: { name: 'f', arguments: '{"x":2}' } }),
    ],
    [call('call_1', { x: 1 }), call('call_2', { x: 2 })],
  ],
  [
    'the id and the name in every piece',
    [
      piece(0, { id: 'a', function: { name: 'f', arguments: '{"x"' } }),
      piece(0, { id: 'a', function: { name: 'f', arguments: ':1}' } }),
    ],
    [call('a', { x: 1 })],
  ],
  [
    'pieces that go on without a name and with the id "null"',
    [
      piece(0, { id: 'a', function: { name: 'f', arguments: '' } }),
      piece(0, { id: 'null', function: { name: '', arguments: '{"x"' } }),
      piece(0, { id: 'null', function: { name: '', arguments: ':1}' } }),
      piece(1, { id: 'null', function: { name: 'f', arguments: '{}' } }),
    ],
    [call('a', { x: 1 }), call('call_1', {})],
  ],
  [
    'pieces that each have an id of their own',
    [
      piece(0, { id: 'a', function: { name: 'f', arguments: '' } }),
      piece(0, { id: 'b', function: { name: '', arguments: '{"x"' } }),
      piece(0, { id: 'c', function: { arguments: ':1}' } }),
      piece(0, { id: 'd', function: { name: 'f', arguments: '{}' } }),
    ],
    [call('a', { x: 1 }), call('d', {})],
  ],
  [
    'an id that was used before',
    [
      piece(0, { id: 'a', function: { name: 'f', arguments: '{}' } }),
      piece(1, { id: 'b', function: { name: 'g', arguments: '{}' } }),
      piece(2, { id: 'a', function: { name: 'g', arguments: '{}' } }),
    ],
    [call('a', {}), call('b', {}, 'g'), call('call_1', {}, 'g')],
  ],
  [
    'arguments that are an object, or its text written as a text',
    [
      piece(0, { id: 'a', function: { name: 'f', arguments: { x: 1 } } }),
      piece(1, { id: 'b', function: { name: 'f', arguments: '"{\\"y\\":2}"' } }),
    ],
    [call('a', { x: 1 }), call('b', { y: 2 })],
  ],
  [
    'the deprecated function_call',
    [
      chunk({ function_call: { name: 'f', arguments: '{"x"' } }),
      chunk({ function_call: { arguments: ':1}' } }),
    ],
    [call('call_1', { x: 1 })],
  ],
  [
    'function_call beside the same call in tool_calls',
    ['{"x"', ':1}'].map((json) => {
      const named = { name: 'f', arguments: json };
      const tool_calls = [{ index: 0, id: 'a', type: 'function', function: named }];
      return chunk({ function_call: named, tool_calls });
    }),
    [call('a', { x: 1 })],
  ],
  [
    'a call that takes free text',
    [piece(0, { id: 'a', type: 'custom', custom: { name: 'f', input: 'ls' } })],
    [call('a', { input: 'ls' })],
  ],
  ...['a', null].map((id): [string, JsonObject[], object[]] => [
    `a whole answer whose calls all have the id ${id}`,
    [
      whole({
        tool_calls: [1, 2].map((x) => ({
          ...{ id, type: 'function', function: { name: 'f', arguments: `{"x":${x}}` } },
        })),
      }),
    ],
    [call(id ?? 'call_1', { x: 1 }), call(id === null ? 'call_2' : 'call_1', { x: 2 })],
  ]),
  [
    'either form beside an empty one of the other',
    [
      piece(0, {
        ...{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
        custom: { name: '', input: '' },
      }),
      piece(1, {
        ...{ id: 'b', type: 'custom', custom: { name: 'f', input: 'ls' } },
        function: { name: '', arguments: '' },
      }),
    ],
    [call('a', { x: 1 }), call('b', { input: 'ls' })],
  ],
])('calls are put together from %s', (_name, chunks, calls) => {
  const answer = reply(...chunks, stop('stop'));
  expect(answer.choices[0]?.blocks).toEqual(calls);
  expect(answer.choices[0]?.end.reason).toBe('tool-calls');
});

test.each<[string, readonly string[]]>([
  ['again as a whole', ['{"x"', ':1}', '{"x":1}']],
  ['behind an empty object', ['{}', '{"x"', ':1}']],
  ['three times', ['{"x":1}', '{"x":1}\n', '{"x":1}']],
  ['with all so far in each piece', ['{"x', '{"x":', '{"x":1', '{"x":1}']],
])('arguments count once that are said %s', (_name, pieces) => {
  const chunks = pieces.map((said, index) =>
    piece(0, { id: 'a', function: { ...(index === 0 && { name: 'f' }), arguments: said } }),
  );
  expect(blocksOf(...chunks, stop('tool_calls'))).toEqual([call('a', { x: 1 })]);
});

test('two objects that differ are no arguments, of which one would be lost', () => {
  const broken = piece(0, { id: 'a', function: { name: 'f', arguments: '{"x":1}{"x":2}' } });
  expect(errorOf(broken, stop('tool_calls'))?.failure?.kind).toBe('unusable-answer');
});

test('a finish reason behind each chunk ends neither a text nor a call', () => {
  const said = [
    chunk({ content: 'Good ' }),
    chunk({ content: 'day.' }),
    piece(0, { id: 'a', function: { name: 'f', arguments: '' } }),
    piece(0, { function: { arguments: '{"x"' } }),
    piece(0, { function: { arguments: ':1}' } }),
  ];
  const chunks = said.flatMap((one) => [one, stop('stop')]);
  expect(blocksOf(...chunks)).toEqual([{ kind: 'text', text: 'Good day.' }, call('a', { x: 1 })]);
});

test('arguments that are no JSON are worth another attempt', () => {
  const broken = piece(0, { id: 'a', function: { name: 'f', arguments: '{"x":' } });
  expect(errorOf(broken, stop('tool_calls'))?.failure?.kind).toBe('unusable-answer');
  expect(errorOf(piece(0, { function: { arguments: '{}' } }), stop())?.failure?.kind).toBe(
    'unusable-answer',
  );
});

test('a call that the limit cut off is left out, and the limit told', () => {
  const chunks = [
    piece(0, { id: 'a', function: { name: 'f', arguments: '{"x":1}' } }),
    piece(1, { id: 'b', function: { name: 'f', arguments: '{"x":' } }),
    stop('length'),
  ];
  expect(blocksOf(...chunks)).toEqual([call('a', { x: 1 })]);
  expect(endOf(...chunks)?.reason).toBe('max-tokens');
});

test.each([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['end_turn', 'stop'],
  ['STOP', 'stop'],
  ['length', 'max-tokens'],
  ['max_tokens', 'max-tokens'],
  ['model_length', 'max-tokens'],
  ['model_context_window_exceeded', 'max-tokens'],
  ['sensitive', 'safety'],
  ['content_filter', 'safety'],
  ['tool_calls', 'stop'],
])('finish reason %s of a text is %s', (raw, reason) => {
  expect(endOf(chunk({ content: 'A' }), stop(raw))).toMatchObject({ reason, rawReason: raw });
});

test('a reason nobody knows is odd where something was said, and a failure where nothing was', () => {
  expect(endOf(chunk({ content: 'A' }), stop('bored'))).toMatchObject({
    reason: 'stop',
    isOdd: true,
  });
  expect(errorOf(stop('bored'))?.failure).toMatchObject({
    kind: 'unusable-answer',
    finishReason: 'bored',
  });
  expect(errorOf(stop('insufficient_system_resource'))?.failure?.kind).toBe('overloaded');
  expect(errorOf(chunk({ content: 'A' }), stop('network_error'))?.message).toContain('an error');
});

test('a stop sequence that the server names is told', () => {
  const body = { stop: ['END'] };
  const chunks = [
    chunk({ content: 'A' }),
    chunk({}, { finish_reason: 'stop', stop_reason: 'END' }),
  ];
  expect(decodeWith({ body }, ...chunks).at(-1)).toMatchObject({
    choices: [{ reason: 'stop-sequence', stopSequence: 'END' }],
  });
});

test('a refusal is an answer that was held back, in the words of the model', () => {
  expect(endOf(chunk({ refusal: 'I can' }), chunk({ refusal: 'not.' }), stop())).toMatchObject({
    reason: 'safety',
    message: 'I cannot.',
  });
});

test('a stream without a finish reason was cut off; a finish without [DONE] is fine', () => {
  expect(errorOf(chunk({ content: 'A' }))?.failure?.kind).toBe('path');
  expect(errorOf()?.failure?.kind).toBe('path');
  expect(endOf(chunk({ content: 'A' }), stop())?.reason).toBe('stop');
});

test('an answer that names no reason was cut off, [DONE] or not: proxies write that behind broken streams', () => {
  const said = chunk({ content: 'A' });
  expect(errorOf(said, DONE)).toMatchObject({
    failure: { kind: 'path' },
    message: 'The upstream ended its answer without a finish reason.',
  });
  expect(errorOf(said, stop(), DONE)).toBeUndefined();
});

test('a whole body is an end, and where the upstream names no reasons, so is [DONE]', () => {
  const streamed = { namesEnds: false, stream: true };
  const end = { kind: 'finish', choices: [{ reason: 'stop', rawReason: 'none', isOdd: true }] };
  const said = chunk({ content: 'A' });
  expect(decodeWith(streamed, said, DONE).at(-1)).toMatchObject(end);
  expect(decodeWith(streamed, said).at(-1)).toMatchObject({ error: { failure: { kind: 'path' } } });
  const body = { choices: [{ index: 0, message: { content: 'A' }, finish_reason: null }] };
  expect(decodeWith({}, body).at(-1)).toMatchObject(end);
  const empty = { choices: [{ index: 0, message: { content: '' }, finish_reason: null }] };
  expect(decodeWith({}, empty).at(-1)).toMatchObject({
    error: { failure: { kind: 'unusable-answer' } },
  });
  expect(decodeWith(streamed, said, stop(), DONE).at(-1)).toMatchObject({
    choices: [{ rawReason: 'stop', isOdd: undefined }],
  });
});

test('an empty function_call beside an answer is none', () => {
  const message = { content: 'A', function_call: { name: '', arguments: '' } };
  expect(decodeWith({}, whole(message)).at(-1)).toMatchObject({ choices: [{ reason: 'stop' }] });
  expect(decodeWith({}, whole(message, '')).at(-1)).toMatchObject({
    choices: [{ reason: 'stop', rawReason: 'none' }],
  });
});

test('a call that is cut is no answer there either', () => {
  const cut = chunk({ tool_calls: [{ index: 0, function: { name: 'f', arguments: '{"a' } }] });
  expect(decodeWith({ namesEnds: false, stream: true }, cut, DONE).at(-1)).toMatchObject({
    error: { failure: { kind: 'unusable-answer' } },
  });
});

test('an empty answer is worth another attempt, unless it may have begun with a stop sequence', () => {
  expect(errorOf(stop())?.failure?.kind).toBe('unusable-answer');
  expect(decodeWith({ body: { stop: 'x' } }, stop()).at(-1)?.kind).toBe('finish');
});

test.each<[string, JsonObject, string]>([
  ['an object', { error: { message: 'slow down', code: 429 } }, 'rate-limited'],
  ['a text', { error: 'it broke' }, 'path'],
  ['words', { error: { message: 'x', type: 'insufficient_quota' } }, 'quota-exhausted'],
  [
    'llama.cpp',
    { error: { code: 400, message: 'too long', type: 'invalid_request_error' } },
    'rejected',
  ],
  ['GPUStack', { error: { detail: 'failed to decode', error: { message: 'x' } } }, 'path'],
  [
    'a filter of Azure',
    { error: { message: 'filtered', code: 'content_filter', type: null } },
    'rejected',
  ],
  ['older vLLM', { object: 'error', message: 'no', code: 400 }, 'rejected'],
])('an error within a stream ends it: %s', (_name, frame, kind) => {
  const events = decode(chunk({ content: 'A' }), frame, chunk({ content: 'B' }));
  expect(events.map((event) => event.kind)).toEqual([
    ...['start', 'block-start', 'block-delta', 'block-end', 'error'],
  ]);
  expect(errorOf(frame)?.failure?.kind).toBe(kind);
});

test.each<[string, JsonObject, string]>([
  ['SiliconFlow', { code: 500, message: 'It broke.', data: null }, 'path'],
  ['Z.ai', { code: 404, msg: 'Not here.', success: false }, 'model-not-found'],
  ['DashScope', { code: 'Throttling', message: 'Requests rate limit exceeded.' }, 'rate-limited'],
  ['FastAPI', { detail: 'Too many requests' }, 'rate-limited'],
  [
    'MiniMax',
    { choices: null, base_resp: { status_code: 1008, status_msg: 'insufficient balance' } },
    'quota-exhausted',
  ],
])('what %s says in place of an answer is why there is none', (_name, frame, kind) => {
  expect(errorOf(frame)?.failure?.kind).toBe(kind);
  expect(errorOf(frame)?.failure?.detail).toMatch(/\w/);
  expect(errorOf(chunk({ content: 'A' }), frame)?.failure?.kind).toBe(kind);
  expect(endOf(chunk({ content: 'A' }), frame, stop())?.reason).toBe('stop');
});

test('an answer without a word of why it is missing just closed', () => {
  const fine = { choices: null, base_resp: { status_code: 0, status_msg: 'success' } };
  expect(errorOf(fine)?.message).toContain('closed');
  expect(errorOf({ type: 'ping' })?.message).toContain('closed');
});

test('what a provider says of a choice that broke off is why, unless it ended well', () => {
  const error = { code: 429, message: 'Slow down.' };
  const broken = chunk({ content: 'A' }, { finish_reason: 'error', error });
  expect(errorOf(broken)?.failure?.kind).toBe('rate-limited');
  expect(errorOf(chunk({ content: 'A' }, { error }))?.failure?.kind).toBe('rate-limited');
  expect(endOf(chunk({ content: 'A' }, { error }), stop())?.reason).toBe('stop');
});

test('a prompt that LM Studio has no room for, which it says within a stream, is too long', () => {
  const message =
    'The number of tokens to keep from the initial prompt is greater than the context length.';
  expect(errorOf({ error: { message } })).toMatchObject({ reason: 'context-length' });
});

test.each<[string, JsonObject]>([
  ['beside the last choice', { ...stop(), usage: { prompt_tokens: 4, completion_tokens: 9 } }],
  ['in x_groq', { ...stop(), x_groq: { usage: { prompt_tokens: 4, completion_tokens: 9 } } }],
  [
    'within the choice',
    chunk({}, { finish_reason: 'stop', usage: { prompt_tokens: 4, completion_tokens: 9 } }),
  ],
])('usage is read %s', (_name, last) => {
  expect(reply(chunk({ content: 'A' }), last).usage).toMatchObject({
    promptTokens: 4,
    answerTokens: 9,
  });
});

test('thoughts are part of the completion, or beside it where the total says so', () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 30,
    prompt_tokens_details: { cached_tokens: 8 },
    completion_tokens_details: { reasoning_tokens: 20 },
  };
  const read = (total_tokens: number) =>
    reply(whole({ content: 'A' }, 'stop', { usage: { ...usage, total_tokens } })).usage;
  expect(read(40)).toMatchObject({ cachedTokens: 8, answerTokens: 10, thoughtTokens: 20 });
  expect(read(60)).toMatchObject({ answerTokens: 30, thoughtTokens: 20 });
});

test('thoughts that the total alone counts are counted, and what a cache had is none', () => {
  const read = (usage: JsonObject) => reply(whole({ content: 'A' }, 'stop', { usage })).usage;
  const gemini = { prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 };
  expect(read(gemini)).toMatchObject({ promptTokens: 20, answerTokens: 198, thoughtTokens: 405 });
  const apart = { ...gemini, prompt_tokens_details: { cached_tokens: 405 } };
  expect(read(apart)).toMatchObject({ answerTokens: 198, thoughtTokens: 0 });
  expect(read({ total_tokens: 63 })).toMatchObject({ answerTokens: 0, thoughtTokens: 0 });
});

test.each([
  ['in the details', { prompt_tokens_details: { cached_tokens: 8, cache_write_tokens: 90 } }],
  ['as LiteLLM says it', { prompt_tokens_details: { cache_creation_tokens: 90 } }],
  ['as the Messages API says it', { cache_creation_input_tokens: 90 }],
])('tokens written to a cache are read %s, as part of the prompt', (_name, told) => {
  const usage = { prompt_tokens: 100, completion_tokens: 1, ...told };
  expect(reply(whole({ content: 'A' }, 'stop', { usage })).usage).toMatchObject({
    promptTokens: 100,
    cacheWrites: { tokens: 90 },
  });
});

test('zeros at the end take no count back that was told before', () => {
  const told = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  const chunks = [{ ...chunk({ content: 'A' }), usage: told }, stop()];
  for (const usage of [zeros, {}]) {
    expect(reply(...chunks, { choices: [], usage }).usage).toMatchObject({ promptTokens: 10 });
  }
});

test('usage of every chunk is the latest one, and never a sum', () => {
  const usage = (completion_tokens: number) => ({ usage: { prompt_tokens: 1, completion_tokens } });
  const chunks = [
    { ...chunk({ content: 'A' }), ...usage(1) },
    { ...stop(), ...usage(2) },
  ];
  expect(reply(...chunks).usage.answerTokens).toBe(2);
});

test('cited pages are sources, and their places passages of the text', () => {
  const cited = { title: 'T', url: 'https://a.example/', start_index: 0, end_index: 5 };
  const annotations = [
    { type: 'url_citation', url_citation: cited },
    { type: 'url_citation', url: 'https://b.example/', title: '' },
  ];
  expect(reply(whole({ content: 'Rainy.', annotations })).choices[0]?.grounding).toMatchObject({
    sources: [
      { url: 'https://a.example/', title: 'T' },
      { url: 'https://b.example/', title: '' },
    ],
    citations: [{ startIndex: 0, endIndex: 5, text: 'Rainy', sources: [0] }],
  });
  const pages = { citations: ['https://c.example/'] };
  expect(reply(whole({ content: 'x' }, 'stop', pages)).choices[0]?.grounding?.sources).toEqual([
    { url: 'https://c.example/', title: '' },
  ]);
  const titled = { ...pages, search_results: [{ url: 'https://c.example/', title: 'C' }] };
  expect(reply(whole({ content: 'x' }, 'stop', titled)).choices[0]?.grounding?.sources).toEqual([
    { url: 'https://c.example/', title: 'C' },
  ]);
});

test('annotations other than of pages are named with the end', () => {
  const annotations = [
    { type: 'file', file: { hash: 'h', name: 'a.pdf' } },
    { type: 'url_citation', url: 'https://b.example/' },
  ];
  for (const said of [whole({ content: 'x', annotations }), chunk({ content: 'x', annotations })]) {
    expect(endOf(said, stop())?.unsupportedKinds).toEqual(['file']);
  }
});

test('an answer with piece and message in one choice is read once', () => {
  const both = (content: string, message: JsonObject, rest: JsonObject = {}) =>
    chunk({ content }, { message, ...rest });
  const end = { finish_reason: 'stop' };
  expect(blocksOf(both('', { content: 'Hello' }, end))).toMatchObject([{ text: 'Hello' }]);
  const streamed = decodeWith(
    { stream: true },
    both('Hel', { content: 'Hel' }),
    both('lo', { content: 'Hello' }),
    both('', { content: 'Hello' }, end),
  );
  expect(fold(streamed).choices[0]?.blocks).toMatchObject([{ text: 'Hello' }]);
});

test('drawn pictures and sound are media', () => {
  const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }];
  expect(blocksOf(whole({ content: 'Here', images }))).toMatchObject([
    { kind: 'text', text: 'Here' },
    { kind: 'media', mediaType: 'image/png', base64: 'AAAA' },
  ]);
  const shown = `Here\n\n![image](data:image/png;base64,AAAA)`;
  expect(blocksOf(whole({ content: shown, images }))).toMatchObject([
    { kind: 'text', text: 'Here' },
    { kind: 'media', mediaType: 'image/png', base64: 'AAAA' },
  ]);
  const audio = (data: string, transcript: string) => chunk({ audio: { data, transcript } });
  expect(blocksOf(audio('AAA=', 'He'), audio('AQ==', 'y'), stop())).toMatchObject([
    { kind: 'text', text: 'Hey' },
    { kind: 'media', base64: 'AAAB' },
  ]);
});

test('log-probabilities are added up over the chunks', () => {
  const rated = (token: string) => ({
    content: [{ token, logprob: -0.5, bytes: null, top_logprobs: [{ token, logprob: -0.5 }] }],
  });
  const end = endOf(
    chunk({ content: 'A' }, { logprobs: rated('A') }),
    chunk({ content: 'B' }, { logprobs: rated('B') }),
    stop(),
  );
  expect(end?.logprobs?.tokens.map(({ token }) => token)).toEqual(['A', 'B']);
});

test('several choices are told apart, and numbered without gaps', () => {
  const of = (index: number, delta: JsonObject, finish_reason: string | null = null) => ({
    choices: [{ index, delta, finish_reason }],
  });
  const answer = reply(
    of(0, { content: 'a' }),
    of(2, { content: 'b' }),
    of(0, {}, 'stop'),
    of(2, {}, 'length'),
  );
  expect(answer.choices.map(({ end, blocks }) => [end.choice, end.reason, blocks])).toMatchObject([
    [0, 'stop', [{ text: 'a' }]],
    [1, 'max-tokens', [{ text: 'b' }]],
  ]);
});

test.each<[string, JsonObject]>([
  ['a text in place of the choices', { choices: 'a' }],
  ['a choice that is none', { choices: ['a'] }],
  ['a text in place of a piece', { choices: [{ delta: 'a' }] }],
  ['a content that is none', { choices: [{ delta: { content: 7 } }] }],
  ['a part that is none', { choices: [{ delta: { content: ['a'] } }] }],
  ['calls that are none', { choices: [{ delta: { tool_calls: { id: 'a' } } }] }],
])('what cannot be read is an error and no answer: %s', (_name, frame) => {
  expect(errorOf(chunk({ content: 'A' }), frame, stop())?.failure?.kind).toBe('path');
});

test('arguments that are no object are kept, and a call with an empty custom field is one of a function', () => {
  const called = (args: JsonValue): JsonObject => {
    const named = { name: 'f', arguments: args };
    return { tool_calls: [{ index: 0, id: 'c', function: named, custom: null }] };
  };
  const inputOf = (args: JsonValue) => blocksOf(chunk(called(args)), stop('tool_calls'))?.[0];
  expect(inputOf([1])).toMatchObject({ kind: 'tool-call', input: { value: [1] } });
  expect(inputOf('{"a":1}')).toMatchObject({ kind: 'tool-call', input: { a: 1 } });
});

test('what waits for the end of a call, of a thought or of the answer counts as held until it is given out', () => {
  const held = (...chunks: readonly JsonObject[]): number => {
    const decoder = decoderOf();
    for (const one of chunks) decoder.push(one);
    return decoder.heldBytes;
  };
  const long = 'y'.repeat(100_000);
  const call = { id: 'call_1', function: { name: 'write', arguments: '{"text":"' } };
  const calling = [piece(0, call), piece(0, { function: { arguments: long } })];
  expect(held(...calling)).toBeGreaterThanOrEqual(100_000);
  const whole = piece(0, { function: { arguments: '"}' } });
  expect(held(...calling, whole, stop('tool_calls'))).toBeLessThan(1_000);
  expect(held(chunk({ reasoning_content: long }))).toBe(100_000);
  // As they came, as JSON, and as a signature.
  expect(held(chunk({ reasoning_details: [{ type: 'x', data: long }] }))).toBeGreaterThan(300_000);
  expect(held(chunk({ refusal: long }))).toBe(100_000);
  expect(held(chunk({ audio: { data: btoa(long) } }))).toBeGreaterThan(100_000);
  expect(held(chunk({ annotations: [{ type: 'x', text: long }] }))).toBeGreaterThan(100_000);
  const rated = { content: [{ token: long, logprob: -1, top_logprobs: [] }] };
  expect(held(chunk({ content: 'a' }, { logprobs: rated }))).toBeGreaterThan(100_000);
  expect(held(...Array<JsonObject>(10).fill(chunk({ content: long })))).toBe(0);
});

test('a chunk may name hundreds of thousands of sources and tokens', () => {
  const annotations = Array<JsonObject>(200_000).fill({ type: 'x' });
  const content = Array<JsonObject>(200_000).fill({ token: 'a', logprob: -1, top_logprobs: [] });
  const { logprobs } = endOf(
    chunk({ content: 'a', annotations }, { logprobs: { content } }),
    stop(),
  ) ?? { logprobs: undefined };
  expect(logprobs?.tokens).toHaveLength(200_000);
});

test('an answer with more calls than are put together is an error, and not one with fewer', () => {
  const calls = (count: number): JsonObject[] =>
    Array.from({ length: count }, (_, index) => ({
      ...{ id: `call_${index}`, type: 'function' },
      function: { name: 'write', arguments: '{}' },
    }));
  expect(blocksOf(whole({ tool_calls: calls(1_000) }, 'tool_calls'))).toHaveLength(1_000);
  const told = { message: 'The model made a tool call that cannot be used.' };
  expect(errorOf(whole({ tool_calls: calls(1_001) }, 'tool_calls'))).toMatchObject(told);
  const pieces = calls(1_001).map((call, index) => piece(index, call));
  expect(errorOf(...pieces, stop('tool_calls'))).toMatchObject(told);
});
