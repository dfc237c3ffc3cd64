import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  eventsOf,
  messageOf,
  streamText,
  thought,
} from '../../../test/support/messages-upstream.ts';
import type { CanonicalEvent } from '../../canonical/event.ts';
import { fold, type Reply } from '../../canonical/fold.ts';
import type { JsonObject } from '../../lib/json.ts';
import { objectsOf } from '../../lib/read-values.ts';
import { FrameReader } from '../../stream/sse.ts';
import { RepeatedTexts } from '../transport/repeated-texts.ts';
import type { DecodeContext } from '../upstream.ts';
import { endingOf, findTextDelta, MessagesDecoder } from './decode.ts';

function decoderOf(change: Partial<DecodeContext> = {}): MessagesDecoder {
  let ids = 0;
  const createId = (prefix: string): string => {
    ids += 1;
    return `${prefix}${ids}`;
  };
  return new MessagesDecoder({ signatureFamily: 'own', createId, ...change }, () => 0);
}

function decode(frames: readonly JsonObject[], change?: Partial<DecodeContext>): CanonicalEvent[] {
  const decoder = decoderOf(change);
  return [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end()];
}

type Blocks = Parameters<typeof messageOf>[1];

function answerOf(blocks: readonly JsonObject[], more: Partial<Blocks> = {}): Blocks {
  return { kind: 'blocks', blocks, ...more };
}

function foldStream(answer: Blocks): Reply {
  return fold(decode(eventsOf({}, answer)));
}

const text = (words: string): JsonObject => ({ type: 'text', text: words });
const call = (id: string, input: JsonObject = { city: 'Oslo' }): JsonObject => ({
  ...{ type: 'tool_use', id, name: 'weather', input },
});
const search = [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'rain' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [
      { type: 'web_search_result', url: 'https://a.test/', title: 'A', encrypted_content: 'x' },
    ],
  },
];
const cited: JsonObject = {
  ...{ type: 'text', text: 'It rains.' },
  citations: [
    {
      ...{ type: 'web_search_result_location', url: 'https://a.test/', title: 'A' },
      ...{ encrypted_index: 'y', cited_text: 'Rain.' },
    },
  ],
};

const citationsOf = ({ citations }: JsonObject): readonly JsonObject[] => objectsOf(citations);

test('V053, P047: calls without an id, or with a repeated one, get fresh ids', () => {
  const answer = answerOf([call(''), call('x'), call('x')], { stop: 'tool_use' });
  for (const { choices } of [foldStream(answer), fold(decode([messageOf({}, answer)]))]) {
    const ids = choices[0]?.blocks.map((block) => 'id' in block && block.id);
    expect(ids).toEqual(['call_1', 'x', 'call_2']);
  }
});

test('a stream is blocks in order: thoughts with their signature, text, calls with whole arguments', () => {
  const answer = answerOf([thought('Hm.'), text('Look: '), call('toolu_1')], { stop: 'tool_use' });
  const { choices, upstreamId } = foldStream(answer);
  const { signature } = thought('Hm.');
  expect(upstreamId).toBe('msg_up');
  expect(choices[0]?.blocks).toMatchObject([
    {
      kind: 'thinking',
      text: 'Hm.',
      signature: { value: signature, family: 'own', on: 'thinking' },
    },
    { kind: 'text', text: 'Look: ' },
    { kind: 'tool-call', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
  ]);
  expect(choices[0]?.end).toMatchObject({ reason: 'tool-calls', rawReason: 'tool_use' });
});

test('both cache figures are part of the prompt, and thoughts apart from the answer', () => {
  expect(foldStream(answerOf([text('Hi')])).usage).toEqual({
    promptTokens: 32,
    cachedTokens: 20,
    cacheWrites: { tokens: 5 },
    toolPromptTokens: 0,
    answerTokens: 20,
    thoughtTokens: 11,
  });
});

test('how long written caches are kept is told at the start, and holds to the end', () => {
  const decoder = decoderOf();
  const cache_creation = { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 400 };
  const usage = { input_tokens: 9, cache_creation_input_tokens: 500, output_tokens: 1 };
  decoder.push({
    type: 'message_start',
    message: { id: 'm', usage: { ...usage, cache_creation } },
  });
  decoder.push({ type: 'message_delta', delta: {}, usage: { ...usage, output_tokens: 4 } });
  expect(decoder.usage).toMatchObject({
    promptTokens: 509,
    cacheWrites: { tokens: 500, hourTokens: 400 },
  });
});

test('the count of an answer is that of its end, not of its first token', () => {
  const decoder = decoderOf();
  const usage = { input_tokens: 9, output_tokens: 1 };
  decoder.push({ type: 'message_start', message: { id: 'm', usage } });
  expect(decoder.usage).toMatchObject({ promptTokens: 9, answerTokens: 0 });
  decoder.push({ type: 'message_delta', delta: {}, usage: { output_tokens: 4 } });
  expect(decoder.usage).toMatchObject({ promptTokens: 9, answerTokens: 4 });
});

test('zeros at the end take no count back that was told at the start', () => {
  const decoder = decoderOf();
  const usage = { input_tokens: 9, output_tokens: 1 };
  decoder.push({ type: 'message_start', message: { id: 'm', usage } });
  decoder.push({ type: 'message_delta', delta: {}, usage: { input_tokens: 0, output_tokens: 4 } });
  expect(decoder.usage).toMatchObject({ promptTokens: 9, answerTokens: 4 });
});

test('what a compaction took is counted beside the answer, whose own counts replace those of the start', () => {
  const decoder = decoderOf();
  const start = { input_tokens: 100, cache_read_input_tokens: 5000, output_tokens: 7 };
  decoder.push({ type: 'message_start', message: { id: 'm', usage: start } });
  const answer = { input_tokens: 181, cache_read_input_tokens: 0, output_tokens: 8 };
  const iterations = [
    { type: 'compaction', ...start, output_tokens: 83 },
    { type: 'message', ...answer },
  ];
  decoder.push({ type: 'message_delta', delta: {}, usage: { ...answer, iterations } });
  expect(decoder.usage).toMatchObject({
    ...{ promptTokens: 5281, cachedTokens: 5000, answerTokens: 91 },
  });
});

test.each<[string, string, boolean]>([
  ['end_turn', 'stop', false],
  ['max_tokens', 'max-tokens', false],
  ['model_context_window_exceeded', 'max-tokens', false],
  ['refusal', 'safety', false],
  ['pause_turn', 'max-tokens', true],
  ['a_newer_reason', 'stop', true],
])('%s ends an answer as %s', (stop, reason, isOdd) => {
  const end = foldStream(answerOf([text('Hi')], { stop })).choices[0]?.end;
  expect(end).toMatchObject({ reason, rawReason: stop });
  expect(end?.isOdd === true).toBe(isOdd);
});

test.each([true, false])(
  'an answer that goes on with a paused one adds to it (stream=%s)',
  (stream) => {
    const usage = { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 20 };
    const answers = [
      answerOf([...search, text('So: ')], { stop: 'pause_turn', usage }),
      answerOf([cited], { usage }),
    ];
    const events = decode(
      answers.flatMap((answer) => (stream ? eventsOf({}, answer) : [messageOf({}, answer)])),
    );
    const reply = fold(events);
    expect(reply.choices[0]?.blocks.map((block) => 'text' in block && block.text)).toEqual([
      'So: ',
      'It rains.',
    ]);
    expect(reply.choices[0]).toMatchObject({
      end: { reason: 'stop', rawReason: 'end_turn' },
      grounding: { queries: ['rain'], citations: [{ startIndex: 4, endIndex: 13 }] },
    });
    expect(reply.usage).toMatchObject({ promptTokens: 30, cachedTokens: 10, answerTokens: 40 });
  },
);

test('an answer that begins anew under another id was cut off, one that repeats its start was not', () => {
  const start = (id: string): JsonObject => ({ type: 'message_start', message: { id } });
  const [, ...said] = eventsOf({}, answerOf([text('Hello')]));
  const begun = said.slice(0, 2);
  const ending = (frames: readonly JsonObject[]): unknown => decode(frames).at(-1);

  expect(ending([start('msg_1'), ...begun, start('msg_2'), ...said])).toMatchObject({
    error: { kind: 'upstream-unavailable' },
  });
  expect(ending([start('msg_1'), start('msg_2'), ...said])).toMatchObject({ kind: 'finish' });
  expect(ending([start('msg_1'), ...begun, start('msg_1'), ...said.slice(1)])).toMatchObject({
    kind: 'finish',
  });
});

test('an answer that goes on with a paused one and breaks off is cut off', () => {
  const paused = eventsOf({}, answerOf([...search], { stop: 'pause_turn' }));
  const begun = eventsOf({}, answerOf([text('It rains.')])).slice(0, -2);
  expect(decode([...paused, ...begun]).at(-1)).toMatchObject({ kind: 'error' });
});

test('a stop sequence is named', () => {
  const answer = answerOf([text('Hi')], { stop: 'stop_sequence', stopSequence: 'END' });
  expect(foldStream(answer).choices[0]?.end).toMatchObject({
    reason: 'stop-sequence',
    stopSequence: 'END',
  });
});

test('what a refusal explains is told', () => {
  const message = messageOf({}, answerOf([], { stop: 'refusal' }));
  const refused = { ...message, stop_details: { type: 'refusal', explanation: 'Not this.' } };
  expect(fold(decode([refused])).choices[0]?.end).toMatchObject({
    reason: 'safety',
    message: 'Not this.',
  });
});

test('a refusal that explains nothing is told with the category of what was asked', () => {
  const message = messageOf({}, answerOf([], { stop: 'refusal' }));
  const stop_details = { type: 'refusal', category: 'cyber', explanation: null };
  const { end } = fold(decode([{ ...message, stop_details }])).choices[0] ?? {};
  expect(end).toMatchObject({ reason: 'safety', rawReason: 'refusal, cyber' });
  expect(end?.message).toBeUndefined();
});

test('a search and what it found are told early, and with the passage it supports at the end', () => {
  const events = decode(eventsOf({}, answerOf([...search, text('So: '), cited])));
  const groundings = events.filter(({ kind }) => kind === 'grounding');
  expect(groundings).toMatchObject([
    { queries: ['rain'], sources: [], isEarly: true },
    { queries: ['rain'], sources: [{ url: 'https://a.test/', title: 'A' }], isEarly: true },
    {
      queries: ['rain'],
      sources: [{ url: 'https://a.test/', title: 'A' }],
      citations: [{ startIndex: 4, endIndex: 13, text: 'It rains.', sources: [0] }],
    },
  ]);
});

test('of a thousand searches the first hundred are told early, and all at the end', () => {
  const searches = Array.from({ length: 1000 }, (_, at) => ({
    ...{ type: 'server_tool_use', id: `srvtoolu_${at}`, name: 'web_search' },
    input: { query: `rain ${at}` },
  }));
  const events = decode(eventsOf({}, answerOf([...searches, text('So.')])));
  const groundings = events.flatMap((event) => (event.kind === 'grounding' ? [event] : []));
  expect(groundings).toHaveLength(101);
  expect(groundings.at(-1)?.queries).toHaveLength(1000);
});

test('opened pages are told by how it went', () => {
  const fetched = (id: string, url: string, content: JsonObject): JsonObject[] => [
    { type: 'server_tool_use', id, name: 'web_fetch', input: { url } },
    { type: 'web_fetch_tool_result', tool_use_id: id, content },
  ];
  const error = { type: 'web_fetch_tool_result_error', error_code: 'url_not_accessible' };
  const { choices } = foldStream(
    answerOf([
      ...fetched('srvtoolu_1', 'https://a.test/', {
        type: 'web_fetch_result',
        url: 'https://a.test/',
      }),
      ...fetched('srvtoolu_2', 'https://b.test/', error),
      text('Done.'),
    ]),
  );
  expect(choices[0]?.grounding?.pages).toEqual([
    { url: 'https://a.test/', outcome: 'read' },
    { url: 'https://b.test/', outcome: 'unreachable' },
  ]);
});

test.each<[string, JsonObject, string, string]>([
  [
    'a good run',
    { type: 'code_execution_result', stdout: '4', stderr: '', return_code: 0 },
    'ok',
    '4',
  ],
  [
    'a bad one',
    { type: 'code_execution_result', stdout: '', stderr: 'No.', return_code: 1 },
    'failed',
    'No.',
  ],
  [
    'one that took too long',
    { type: 'code_execution_tool_result_error', error_code: 'execution_time_exceeded' },
    'timeout',
    'execution_time_exceeded',
  ],
])('code the upstream ran is shown with what came of it: %s', (_name, content, outcome, output) => {
  const { choices } = foldStream(
    answerOf([
      { type: 'server_tool_use', id: 's1', name: 'code_execution', input: { code: '2+2' } },
      { type: 'code_execution_tool_result', tool_use_id: 's1', content },
    ]),
  );
  expect(choices[0]?.blocks).toMatchObject([
    { kind: 'code', language: 'python', code: '2+2', id: 's1' },
    { kind: 'code-result', outcome, output, id: 's1' },
  ]);
});

test.each<[string, JsonObject, JsonObject, JsonObject]>([
  [
    'bash_code_execution',
    { command: 'ls' },
    { type: 'bash_code_execution_result', stdout: 'a.txt', stderr: '', return_code: 0 },
    { language: 'bash', code: 'ls', output: 'a.txt' },
  ],
  [
    'text_editor_code_execution',
    { command: 'view', path: 'a.txt' },
    { type: 'text_editor_code_execution_view_result', file_type: 'text', content: 'One.' },
    { language: 'json', code: '{"command":"view","path":"a.txt"}', output: 'One.' },
  ],
  [
    'text_editor_code_execution',
    { command: 'str_replace', path: 'a.txt', old_str: 'One', new_str: 'Two' },
    { type: 'text_editor_code_execution_str_replace_result', lines: ['-One.', '+Two.'] },
    {
      language: 'json',
      code: '{"command":"str_replace","path":"a.txt","old_str":"One","new_str":"Two"}',
      output: '-One.\n+Two.',
    },
  ],
])('commands and edits of %s %j are shown with what came of them', (name, input, content, ran) => {
  const { choices } = foldStream(
    answerOf([
      { type: 'server_tool_use', id: 's1', name, input },
      { type: `${name}_tool_result`, tool_use_id: 's1', content },
    ]),
  );
  const { language, code, output } = ran;
  expect(choices[0]?.blocks).toMatchObject([
    { kind: 'code', language, code, id: 's1' },
    { kind: 'code-result', outcome: 'ok', output, id: 's1' },
  ]);
});

test('what the model thought and did before a call goes with the call, once', () => {
  const redacted = { type: 'redacted_thinking', data: 'opaque' };
  const answer = answerOf([thought('Hm.'), redacted, ...search, call('a'), call('b')]);
  const calls = decode(eventsOf({}, answer)).flatMap((event) =>
    event.kind === 'block-start' && event.block.kind === 'tool-call' ? [event.block] : [],
  );
  expect(calls[0]?.trace).toEqual({ family: 'own', parts: [thought('Hm.'), redacted, ...search] });
  expect(calls[1]?.trace).toBeUndefined();
});

test.each<[JsonObject, string]>([
  [{ error: { type: 'overloaded_error', message: 'Busy.' } }, 'overloaded'],
  [{ type: 'failure', error: { type: 'overloaded_error', message: 'Busy.' } }, 'overloaded'],
  [{ delta: { type: 'text_delta', text: 'a' } }, 'upstream-unavailable'],
])('a frame of no known type that says what ends the answer ends it: %j', (frame, kind) => {
  const [first] = eventsOf({}, answerOf([text('Hi')]));
  const events = decode([first ?? {}, frame]);
  expect(events.at(-1)).toMatchObject({ kind: 'error', error: { kind } });
});

test('kinds of blocks nobody knows here are counted', () => {
  const { end } = foldStream(answerOf([{ type: 'hologram' }, text('Hi')])).choices[0] ?? {};
  expect(end?.unsupportedKinds).toEqual(['hologram']);
});

test.each([true, false])(
  'a passage cites results of a search by their address, and places that have none are named with the end (stream: %s)',
  (stream) => {
    const result = { type: 'search_result_location', title: 'Docs' };
    const answer = answerOf([
      { ...text('Grass. '), citations: [{ type: 'char_location', document_title: 'Mine' }] },
      { ...text('Rain. '), citations: [{ ...result, source: 'https://a.test/' }] },
      { ...text('Sun.'), citations: [{ ...result, source: 'shelf-1' }, ...citationsOf(cited)] },
    ]);
    const frames = stream ? eventsOf({}, answer) : [messageOf({}, answer)];
    expect(fold(decode(frames)).choices[0]).toMatchObject({
      end: { unsupportedKinds: ['char_location', 'search_result_location'] },
      grounding: {
        sources: [{ url: 'https://a.test/', title: 'Docs' }],
        citations: [
          { startIndex: 7, endIndex: 13, sources: [0] },
          { startIndex: 13, endIndex: 17, sources: [0] },
        ],
      },
    });
  },
);

test('files that code made are named with the end, as only their service gives them out', () => {
  const output = { type: 'bash_code_execution_output', file_id: 'file_1' };
  const content = { type: 'bash_code_execution_result', stdout: 'ok', content: [output] };
  const ran = { type: 'bash_code_execution_tool_result', tool_use_id: 'srvtoolu_1', content };
  const { end } = foldStream(answerOf([ran, text('Drawn.')])).choices[0] ?? {};
  expect(end?.unsupportedKinds).toEqual(['bash_code_execution_output']);
});

const begun = eventsOf({}, answerOf([text('Once')])).slice(0, -1);

test.each<[string, JsonObject[], string]>([
  ['without its last event', begun, 'path'],
  ['without any', [], 'path'],
  [
    'with an error event',
    [...begun, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
    'overloaded',
  ],
])('an answer %s is an error, with its blocks closed', (_name, frames, kind) => {
  const events = decode(frames);
  expect(events.at(-1)).toMatchObject({ kind: 'error', error: { failure: { kind } } });
  const starts = events.filter((event) => event.kind === 'block-start');
  expect(events.filter((event) => event.kind === 'block-end')).toHaveLength(starts.length);
});

type Told = readonly [place: number, text: string];

/** One call opened behind the other, with pieces of both mixed, and blocks that are ended when all is said. */
function mixedCalls(pieces: readonly Told[], stops: readonly number[] = [0, 1]): JsonObject[] {
  return [
    { type: 'message_start', message: {} },
    ...['a', 'b'].map((id, index) => ({
      ...{ type: 'content_block_start', index, content_block: { ...call(id), input: {} } },
    })),
    ...pieces.map(([index, partial_json]) => ({
      ...{ type: 'content_block_delta', index },
      delta: { type: 'input_json_delta', partial_json },
    })),
    ...stops.map((index) => ({ type: 'content_block_stop', index })),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
    { type: 'message_stop' },
  ];
}

test.each<[string, readonly Told[], readonly JsonObject[]]>([
  [
    'in turns',
    [
      [0, '{"n":'],
      [1, '{"n":'],
      [0, '1}'],
      [1, '2}'],
    ],
    [{ n: 1 }, { n: 2 }],
  ],
  ['of the first alone', [[0, '{"n":1}']], [{ n: 1 }, {}]],
  [
    'of the second first',
    [
      [1, '{"n":2}'],
      [0, '{"n":1}'],
    ],
    [{ n: 1 }, { n: 2 }],
  ],
])('pieces of calls that are open together go to their own call: %s', (_name, pieces, inputs) => {
  for (const stops of [[0, 1], [1, 0], []]) {
    const { blocks } = fold(decode(mixedCalls(pieces, stops))).choices[0] ?? { blocks: [] };
    const called = blocks.flatMap((block) =>
      block.kind === 'tool-call' ? [[block.id, block.input]] : [],
    );
    expect(Object.fromEntries(called)).toEqual({ a: inputs[0], b: inputs[1] });
    // As the model made them, unless the service ended them otherwise.
    if (stops[0] !== 1) expect(called.map(([id]) => id)).toEqual(['a', 'b']);
    const shown = decode(mixedCalls(pieces, stops), { passesParts: true });
    expect(shown.at(-1)).toMatchObject({ kind: 'finish', choices: [{ reason: 'tool-calls' }] });
  }
});

test.each<[string, readonly Told[], string, boolean]>([
  ['cut off, though the model says it called', [[0, '{"a":"x}']], 'tool_use', false],
  [
    'cut off beside one that is whole',
    [
      [0, '{"a":['],
      [1, '{}'],
    ],
    'end_turn',
    false,
  ],
  ['cut off by a limit', [[0, '{"a":"x']], 'max_tokens', true],
  [
    'mixed, and whole',
    [
      [0, '{"a'],
      [1, '{"b":'],
      [0, '":"{"}'],
      [1, '[]}'],
    ],
    'tool_use',
    true,
  ],
  ['no object at all', [[0, '"x"']], 'tool_use', true],
])('arguments that are shown as they come: %s', (_name, pieces, stop_reason, isWhole) => {
  const frames = mixedCalls(pieces).map(
    (frame): JsonObject =>
      frame.type === 'message_delta' ? { ...frame, delta: { stop_reason } } : frame,
  );
  const decoder = decoderOf({ passesParts: true });
  const told = frames.map((frame) => decoder.push(frame).at(-1)?.kind ?? frame.type);
  expect(told.at(-2)).toBe(isWhole ? 'message_delta' : 'error');
  expect(decoder.end().at(-1)?.kind).toBe(isWhole ? 'finish' : undefined);
});

test('a text within a call leaves the call whole, and of calls that are open together the held bytes are counted', () => {
  const decoder = decoderOf();
  const [start, first, second] = mixedCalls([]);
  const piece = (index: number, delta: JsonObject): CanonicalEvent[] =>
    decoder.push({ type: 'content_block_delta', index, delta });
  for (const frame of [start, first, second]) decoder.push(frame ?? {});
  piece(0, { type: 'input_json_delta', partial_json: '{"n":' });
  piece(1, { type: 'input_json_delta', partial_json: '{"n":2' });
  expect(decoder.heldBytes).toBe('{"n":{"n":2'.length);
  expect(piece(2, { type: 'text_delta', text: 'Hi' })).toMatchObject([
    { kind: 'block-start', block: { kind: 'text' } },
    { kind: 'block-delta' },
  ]);
  piece(0, { type: 'input_json_delta', partial_json: '1}' });
  expect(decoder.push({ type: 'content_block_stop', index: 0 })).toMatchObject([
    { kind: 'block-end', index: 0 },
    { kind: 'block-start', block: { id: 'a' } },
    { delta: { json: '{"n":1}' } },
    { kind: 'block-end' },
  ]);
});

function cutCall(stop: string): CanonicalEvent[] {
  const start = {
    type: 'content_block_start',
    index: 0,
    content_block: { ...call('a'), input: {} },
  };
  const delta = { type: 'input_json_delta', partial_json: '{"city":"Os' };
  return decode([
    { type: 'message_start', message: {} },
    start,
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: stop } },
    { type: 'message_stop' },
  ]);
}

test('a call the limit cut is absent; a broken one otherwise makes the answer useless', () => {
  const cut = cutCall('max_tokens');
  expect(cut.at(-1)).toMatchObject({ kind: 'finish', choices: [{ reason: 'max-tokens' }] });
  expect(cut.some(({ kind }) => kind === 'block-start')).toBe(false);
  for (const stop of ['tool_use', 'end_turn']) {
    const useless = cutCall(stop).at(-1);
    expect(useless).toMatchObject({ error: { failure: { kind: 'unusable-answer' } } });
    expect(useless).not.toHaveProperty('error.failure.finishReason');
  }
  expect(cutCall('refusal').at(-1)).toMatchObject({ choices: [{ reason: 'safety' }] });
});

test.each(['max_tokens', 'model_context_window_exceeded'])(
  'of a whole answer that ends at a limit the last call is cut, whatever its arguments look like: %s',
  (stop_reason) => {
    const answer = { type: 'message', stop_reason, content: [call('a'), call('b')] };
    const { blocks, end } = fold(decode([answer])).choices[0] ?? {};
    expect(blocks).toMatchObject([{ kind: 'tool-call', id: 'a' }]);
    expect(end?.reason).toBe('max-tokens');
    const whole = { ...answer, content: [call('a'), text('Hi')] };
    expect(fold(decode([whole])).choices[0]?.end.reason).toBe('tool-calls');
  },
);

test('arguments that come whole in the opening are taken from there', () => {
  const start = { type: 'content_block_start', index: 0, content_block: call('a') };
  const frames = [{ type: 'message_start', message: {} }, start, { type: 'message_stop' }];
  expect(fold(decode(frames)).choices[0]?.blocks).toMatchObject([{ input: { city: 'Oslo' } }]);
});

test('where the frames are passed on, calls are told as they begin', () => {
  const decoder = decoderOf({ passesParts: true, placesCitations: false });
  const [start, ping, opening, ...rest] = eventsOf({}, answerOf([call('a')]));
  for (const frame of [start, ping]) decoder.push(frame ?? {});
  expect(decoder.push(opening ?? {})).toMatchObject([
    { kind: 'block-start', block: { kind: 'tool-call', id: 'a' } },
  ]);
  for (const frame of rest) decoder.push(frame);
  expect(decoder.end().at(-1)).toMatchObject({ kind: 'finish' });
});

test('the end of the answer is known, and where silence is usual', () => {
  expect(endingOf({ type: 'message_stop' })).toBe('over');
  expect(endingOf(messageOf({}, answerOf([text('Hi')])))).toBe('finished');
  expect(endingOf({ type: 'content_block_start', content_block: { type: 'thinking' } })).toBe(
    'thought',
  );
  expect(endingOf({ type: 'content_block_start', content_block: { type: 'tool_use' } })).toBe(
    'thought',
  );
  expect(endingOf({ type: 'ping' })).toBe('ping');
});

const words = fc.string({ minLength: 1, unit: 'grapheme', maxLength: 30 });
const block = fc.oneof(
  words.map(text),
  words.map(thought),
  fc.constant({ type: 'redacted_thinking', data: 'x' }),
  fc.dictionary(fc.string(), fc.string()).map((input) => call('a', input)),
  fc.constant(cited),
);
const answers = fc
  .array(block, { maxLength: 6 })
  // One of thoughts alone is none.
  .filter((blocks) => blocks.some(({ type }) => !/thinking$/.test(String(type))))
  .map((blocks) =>
    answerOf(
      blocks.map((one, index) =>
        one.type === 'tool_use' ? { ...one, id: `toolu_${index}` } : one,
      ),
    ),
  );

test('a stream says what the whole answer says', () => {
  fc.assert(
    fc.property(answers, (answer) => {
      expect(foldStream(answer)).toEqual(fold(decode([messageOf({}, answer)])));
    }),
  );
});

test('events are the same wherever the bytes are cut, and whether or not they repeat each other', () => {
  fc.assert(
    fc.property(answers, fc.array(fc.nat(4000), { maxLength: 5 }), (answer, cuts) => {
      const frames = eventsOf({}, answer);
      const bytes = Buffer.from(streamText(frames));
      const reader = new FrameReader({
        maxFrameBytes: 1e6,
        memory: new RepeatedTexts(findTextDelta),
      });
      const places = [...new Set(cuts.filter((cut) => cut < bytes.length))].sort((a, b) => a - b);
      const decoder = decoderOf();
      const events: CanonicalEvent[] = [];
      for (const [index, start] of [0, ...places].entries()) {
        for (const frame of reader.push(bytes.subarray(start, places[index]))) {
          events.push(...(decoder.repeat(frame) ?? decoder.push(frame.value)));
        }
      }
      for (const frame of reader.end()) events.push(...decoder.push(frame.value));
      events.push(...decoder.end());
      expect(JSON.stringify(events)).toBe(JSON.stringify(decode(frames)));
    }),
  );
});

const piece = (delta: JsonObject): JsonObject => ({ type: 'content_block_delta', index: 0, delta });
const ENDS: JsonObject[] = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
  { type: 'message_stop' },
];

test.each([false, true])(
  'words without anything that opens them are not lost (relayed: %s)',
  (passesParts) => {
    const frames = [
      piece({ type: 'thinking_delta', thinking: 'Hm.' }),
      piece({ type: 'text_delta', text: 'A' }),
      piece({ type: 'text_delta', text: 'B' }),
    ];
    const { choices } = fold(decode([...frames, ...ENDS], { passesParts }));
    expect(choices[0]?.blocks).toMatchObject([
      { kind: 'thinking', text: 'Hm.' },
      { kind: 'text', text: 'AB' },
    ]);
  },
);

test.each<[string, JsonObject[]]>([
  ['arguments of no call', [piece({ type: 'input_json_delta', partial_json: '{"a":1}' })]],
  ['a piece that is no text', [piece({ type: 'text_delta', text: 7 })]],
  ['a piece that does not say what it is', [piece({ text: 'Hi' })]],
  [
    'an event that does not say what it is',
    [{ index: 0, delta: { type: 'text_delta', text: 'Hi' } }],
  ],
  ['a block that does not say what it is', [{ type: 'content_block_start', content_block: {} }]],
  ['an empty word for what it is', [piece({ type: '', text: 'Hi' })]],
  ['nothing', []],
  ['a whole answer without content', [{ type: 'message', content: null }]],
  [
    'a whole answer whose text is none',
    [{ type: 'message', content: [{ type: 'text', text: {} }] }],
  ],
  [
    'a call whose input is no object',
    [{ type: 'message', content: [{ type: 'tool_use', name: 'f', input: [1] }] }],
  ],
])('what cannot be read is an error and no answer: %s', (_name, frames) => {
  expect(decode([...frames, ...ENDS]).at(-1)?.kind).toBe('error');
});

test('the input of a call may be a text of JSON', () => {
  const content = [{ type: 'tool_use', id: 'a', name: 'f', input: '{"a":1}' }];
  const { choices } = fold(decode([{ type: 'message', content }]));
  expect(choices[0]?.blocks).toMatchObject([{ kind: 'tool-call', input: { a: 1 } }]);
});

test('events and pieces of kinds unknown here are named with the end', () => {
  const frames = [
    piece({ type: 'text_delta', text: 'A' }),
    piece({ type: 'hologram_delta', hologram: 'x' }),
    { type: 'content_block_beam', delta: { light: 1 } },
  ];
  expect(decode([...frames, ...ENDS]).at(-1)).toMatchObject({
    choices: [{ unsupportedKinds: ['hologram_delta', 'content_block_beam'] }],
  });
});

test('what is said in place of an answer is why there is none', () => {
  const kinds = (frame: JsonObject) => {
    const last = decode([frame]).at(-1);
    return last?.kind === 'error' ? [last.error.failure?.kind, last.error.failure?.detail] : [];
  };
  const missing = { code: 500, msg: '404 NOT_FOUND', success: false };
  expect(kinds(missing)).toEqual(['path', '404 NOT_FOUND']);
  const spent = { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } };
  expect(kinds(spent)).toEqual(['quota-exhausted', 'insufficient balance']);
  expect(kinds({ type: 'ping' })).toEqual(['path', undefined]);
});

test('what waits for the rest of a block, or for the next call, counts as held until it is given out', () => {
  const decoder = decoderOf();
  const delta = (piece: JsonObject) => decoder.push({ type: 'content_block_delta', delta: piece });
  const open = (block: JsonObject) =>
    decoder.push({ type: 'content_block_start', content_block: block });
  const json = `{"text":"${'y'.repeat(100_000)}"}`;
  open({ type: 'tool_use', id: 'toolu_1', name: 'write', input: {} });
  delta({ type: 'input_json_delta', partial_json: json });
  expect(decoder.heldBytes).toBe(json.length);
  decoder.push({ type: 'content_block_stop' });
  const perCall = decoder.heldBytes;
  expect(perCall).toBeLessThan(200);
  open({ type: 'thinking', thinking: '', signature: '' });
  for (let n = 0; n < 10; n += 1) {
    delta({ type: 'thinking_delta', thinking: 't'.repeat(10_000) });
  }
  expect(decoder.heldBytes).toBe(100_000 + perCall);
  delta({ type: 'signature_delta', signature: 's' });
  decoder.push({ type: 'content_block_stop' });
  expect(decoder.heldBytes).toBeGreaterThan(100_000);
  for (const block of search) open(block);
  open({ type: 'tool_use', id: 'toolu_2', name: 'write', input: {} });
  decoder.push({ type: 'content_block_stop' });
  expect(decoder.heldBytes).toBe(2 * perCall);
});

test('a long text is not kept for the sources it may come to cite, nor anything that is shown as it comes', () => {
  const pieces = Array.from({ length: 30 }, () => ({
    type: 'content_block_delta',
    delta: { type: 'text_delta', text: 't'.repeat(100_000) },
  }));
  const decoder = decoderOf();
  for (const piece of pieces) decoder.push(piece);
  expect(decoder.heldBytes).toBeLessThan(600_000);
  const shown = decoderOf({ passesParts: true });
  shown.push({ type: 'content_block_start', content_block: call('toolu_1') });
  for (let n = 0; n < 10; n += 1) {
    const delta = { type: 'input_json_delta', partial_json: 'y'.repeat(100_000) };
    shown.push({ type: 'content_block_delta', delta });
  }
  expect(shown.heldBytes).toBeLessThan(200_000);
});

test('an answer that names no reason for its end is told as one that ended in an odd way', () => {
  const message: JsonObject = { type: 'message', id: 'msg_1', content: [text('Hi')] };
  const start: JsonObject = { type: 'message_start', message: { id: 'msg_1', content: [] } };
  const streamed: readonly JsonObject[] = [
    start,
    { type: 'content_block_start', index: 0, content_block: text('Hi') },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: null } },
    { type: 'message_stop' },
  ];
  const none = { reason: 'stop', rawReason: 'none', isOdd: true };
  for (const frames of [[message], [{ ...message, stop_reason: null }], streamed]) {
    expect(decode(frames).at(-1)).toMatchObject({ kind: 'finish', choices: [none] });
  }
});

test('an empty answer is worth another attempt, unless it stands behind results or may have begun with a stop sequence', () => {
  const empty = [[], [text('')], [thought('Hm.')]].map((blocks) => answerOf(blocks));
  const asked: JsonObject = { messages: [{ role: 'user', content: 'Hi' }] };
  const results = [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'Rain.' }];
  const answered: JsonObject = { messages: [{ role: 'user', content: results }] };
  for (const answer of empty) {
    for (const frames of [eventsOf({}, answer), [messageOf({}, answer)]]) {
      const failure = { kind: 'unusable-answer', finishReason: 'end_turn' };
      const ending = { kind: 'error', error: { failure } };
      expect(decode(frames, { body: asked }).at(-1)).toMatchObject(ending);
      for (const body of [answered, { ...asked, stop_sequences: ['.'] }]) {
        expect(decode(frames, { body }).at(-1)).toMatchObject({ kind: 'finish' });
      }
    }
  }
  for (const stop of ['max_tokens', 'refusal', 'stop_sequence']) {
    const frames = eventsOf({}, answerOf([], { stop }));
    expect(decode(frames, { body: asked }).at(-1)).toMatchObject({ kind: 'finish' });
  }
});
