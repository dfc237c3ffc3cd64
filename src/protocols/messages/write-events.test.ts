import { expect, test } from 'vitest';
import {
  answer,
  callBlock,
  GROUNDING,
  parseFrames,
  replyContext,
  SIGNATURE,
  textBlock,
  thinkingBlock,
  USAGE,
  writeStream,
} from '../../../test/support/messages.ts';
import { foldFrames } from '../../../test/support/stream-grammar/messages.ts';
import { GatewayError } from '../../canonical/error.ts';
import type { CanonicalEvent } from '../../canonical/event.ts';
import type { Signature } from '../../canonical/request.ts';
import { objectsOf } from '../../lib/read-values.ts';
import { MessagesWriter } from './write-events.ts';

const frameTypes = (text: string) => parseFrames(text).map((frame) => frame.type);

test('a prompt nobody counted yet is estimated where the answer begins, and counted where it ends', () => {
  const usage: CanonicalEvent = { kind: 'usage', usage: USAGE };
  const write = (events: readonly CanonicalEvent[]) => {
    const context = { ...replyContext(), estimatePrompt: () => 77 };
    const writer = new MessagesWriter(context, { omitsThinking: false });
    return parseFrames(events.map((event) => writer.write(event)).join(''));
  };
  const late = write(answer([...textBlock(0, 'Hi'), usage]));
  expect(late[0]).toMatchObject({ message: { usage: { input_tokens: 77, output_tokens: 0 } } });
  expect(late.at(-2)).toMatchObject({ usage: { input_tokens: 40, cache_read_input_tokens: 60 } });
  const cacheWrites = { tokens: 30, hourTokens: 10 };
  const written = write([{ kind: 'start', usage: { ...USAGE, cacheWrites } }]);
  expect(written[0]).toMatchObject({
    message: {
      usage: {
        ...{ input_tokens: 10, cache_creation_input_tokens: 30, cache_read_input_tokens: 60 },
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
      },
    },
  });
  const early = write([{ kind: 'start', usage: USAGE }]);
  expect(early[0]).toMatchObject({ message: { usage: { input_tokens: 40, output_tokens: 0 } } });
});

test('V061 two pieces of text are one block between start and stop', () => {
  const usage: CanonicalEvent = { kind: 'usage', usage: USAGE };
  const text = writeStream(answer([...textBlock(0, 'Hel', 'lo'), usage]));
  expect(parseFrames(text)).toEqual([
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'beta-sonnet-4-6',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        usage: {
          input_tokens: 0,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          output_tokens: 0,
          service_tier: 'standard',
        },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null, stop_details: null },
      usage: {
        input_tokens: 40,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 60,
        output_tokens: 12,
        output_tokens_details: { thinking_tokens: 7 },
      },
    },
    { type: 'message_stop' },
  ]);
});

test('V062 a thought ends with one signature delta, then the text follows', () => {
  const text = writeStream(answer([...thinkingBlock(0, 'a', SIGNATURE), ...textBlock(1, 'b')]));
  expect(parseFrames(text).slice(1, 6)).toEqual([
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'thinking', thinking: '', signature: '' },
    },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'a' } },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'signature_delta', signature: 'gw1:g3:thinking:S' },
    },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  ]);
});

/** Required by the types of the official SDKs; `caller()` of the one for Java throws without it. */
const DIRECT = { type: 'direct' };

test('V063 P049 a call opens empty, takes its arguments as deltas and ends the turn', () => {
  const frames = parseFrames(writeStream(answer(callBlock(0, '{"c":1}'))));
  expect(frames.slice(1, 5)).toEqual([
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'c0', caller: DIRECT, name: 'w', input: {} },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: '{"c":1}' },
    },
    { type: 'content_block_stop', index: 0 },
    expect.objectContaining({ delta: expect.objectContaining({ stop_reason: 'tool_use' }) }),
  ]);
});

test('display omitted answers thinking with its signature only', () => {
  const text = writeStream(answer(thinkingBlock(0, 'secret', SIGNATURE)), true);
  expect(text).not.toContain('secret');
  expect(foldFrames(parseFrames(text)).content).toEqual([
    { type: 'thinking', thinking: '', signature: 'gw1:g3:thinking:S' },
  ]);
});

test('a thought the upstream never signed has no signature but the empty one of the protocol', () => {
  const text = writeStream(answer([...thinkingBlock(0, 'a'), ...callBlock(1, '{}')]));
  expect(text).not.toContain('signature_delta');
  expect(foldFrames(parseFrames(text)).content).toEqual([
    { type: 'thinking', thinking: 'a', signature: '' },
    { type: 'tool_use', id: 'c1', caller: DIRECT, name: 'w', input: {} },
  ]);
});

test('a search source without a title is shown by its address', () => {
  const sources = [{ url: 'https://a.example/', title: '' }];
  const grounding = { ...GROUNDING, sources, citations: [] };
  const { content } = foldFrames(parseFrames(writeStream(answer([grounding]))));
  expect(content).toMatchObject([
    {},
    { content: [{ title: 'https://a.example/' }] },
    { text: expect.stringContaining('1. https://a.example/ - https://a.example/') },
  ]);
});

test('a signature stands on the call unless the thinking block before carries the same one', () => {
  const onCall: Signature = { value: 'T', family: 'g3', on: 'tool-call' };
  const content = (events: CanonicalEvent[]) =>
    foldFrames(parseFrames(writeStream(answer(events)))).content;
  expect(content(callBlock(0, '{}', onCall))).toMatchObject([{ signature: 'gw1:g3:tool-call:T' }]);
  expect(content([...thinkingBlock(0, 'a', onCall), ...callBlock(1, '{}', onCall)])).toEqual([
    { type: 'thinking', thinking: 'a', signature: 'gw1:g3:tool-call:T' },
    { type: 'tool_use', id: 'c1', caller: DIRECT, name: 'w', input: {} },
  ]);
  expect(
    content([...thinkingBlock(0, 'a', SIGNATURE), ...callBlock(1, '{}', onCall)]),
  ).toMatchObject([{}, { signature: 'gw1:g3:tool-call:T' }]);
  expect(
    content([
      ...thinkingBlock(0, 'a', onCall),
      ...textBlock(1, 'x'),
      ...callBlock(2, '{}', onCall),
    ]),
  ).toMatchObject([{}, {}, { signature: 'gw1:g3:tool-call:T' }]);
});

test('P047 parallel calls are blocks of their own', () => {
  const text = writeStream(answer([...callBlock(0, '{"a":1}'), ...callBlock(1, '{"a":2}')]));
  expect(foldFrames(parseFrames(text)).content).toMatchObject([
    { id: 'c0', input: { a: 1 } },
    { id: 'c1', input: { a: 2 } },
  ]);
});

test('P011 P062 blocks that say nothing are not written', () => {
  const text = writeStream(answer([...textBlock(0, ''), ...thinkingBlock(1, '')]));
  expect(frameTypes(text)).toEqual(['message_start', 'message_delta', 'message_stop']);
});

test('only the first alternative is written', () => {
  const second = textBlock(1, 'two').map((event) =>
    event.kind === 'block-start' ? { ...event, choice: 1 } : event,
  );
  const [start, ...rest] = textBlock(0, 'one');
  const text = writeStream(answer([...(start ? [start] : []), ...second, ...rest]));
  expect(foldFrames(parseFrames(text)).content).toEqual([{ type: 'text', text: 'one' }]);
});

test('neither calls, sources nor the end of another alternative are those of the first', () => {
  const other = [...callBlock(1, '{}'), GROUNDING].map((event) =>
    'choice' in event ? { ...event, choice: 1 } : event,
  );
  const events: CanonicalEvent[] = [
    { kind: 'start' },
    ...textBlock(0, 'one'),
    ...other,
    {
      kind: 'finish',
      choices: [
        { choice: 0, reason: 'stop' },
        { choice: 1, reason: 'max-tokens' },
      ],
    },
  ];
  const message = foldFrames(parseFrames(writeStream(events)));
  expect(message).toMatchObject({
    content: [{ type: 'text', text: 'one' }],
    stop_reason: 'end_turn',
  });
  expect(message.content).toHaveLength(1);
});

test('sources without a known query are one search; cached tokens never make the input negative', () => {
  const usage = { ...USAGE, promptTokens: 50 };
  const events = answer([
    ...textBlock(0, 'Hi'),
    {
      ...{ kind: 'grounding', choice: 0, queries: [] },
      ...{ sources: [{ url: 'u', title: 'T' }], citations: [] },
    },
    { kind: 'usage', usage },
  ]);
  expect(foldFrames(parseFrames(writeStream(events))).usage).toMatchObject({
    input_tokens: 0,
    cache_read_input_tokens: 60,
    server_tool_use: { web_search_requests: 1 },
  });
});

test('V056 images are blocks, code is fenced text, other media are named', () => {
  const whole = (
    index: number,
    block: Extract<CanonicalEvent, { kind: 'block-start' }>['block'],
  ) => [
    { kind: 'block-start' as const, index, choice: 0, block },
    { kind: 'block-end' as const, index },
  ];
  const text = writeStream(
    answer([
      ...whole(0, { kind: 'media', mediaType: 'image/png', base64: 'AA==' }),
      ...whole(1, { kind: 'code', language: 'PYTHON', code: 'print(1)' }),
      ...whole(2, { kind: 'code-result', outcome: 'failed', output: '```' }),
      ...whole(3, { kind: 'media', mediaType: 'audio/wav', base64: 'AA==' }),
    ]),
  );
  // AI SDK reads a text block's words from its deltas only.
  expect(text).not.toMatch(/"content_block":\{"type":"text","text":"[^"]/);
  expect(foldFrames(parseFrames(text)).content).toEqual([
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
    { type: 'text', text: '\n\n```python\nprint(1)\n```\n\n' },
    { type: 'text', text: '\n\nCode execution: failed\n````\n```\n````\n\n' },
    { type: 'text', text: '[audio/wav cannot be shown here]' },
  ]);
});

test('a fence of code stands on a line of its own where a client joins the texts', () => {
  const whole = [
    {
      kind: 'block-start',
      index: 1,
      choice: 0,
      block: { kind: 'code', language: 'PYTHON', code: 'print(1)' },
    },
    { kind: 'block-end', index: 1 },
  ] as const;
  const { content } = foldFrames(
    parseFrames(
      writeStream(answer([...textBlock(0, 'Let me see.'), ...whole, ...textBlock(2, 'One.')])),
    ),
  );
  const joined = objectsOf(content)
    .map(({ text }) => text)
    .join('');
  expect(joined.split('\n')).toEqual(
    expect.arrayContaining(['Let me see.', '```python', '```', 'One.']),
  );
});

test('V055 a search is shown as call, results and a trailing text with query, title and url', () => {
  const message = foldFrames(parseFrames(writeStream(answer([...textBlock(0, 'Hi'), GROUNDING]))));
  expect(message.content).toEqual([
    { type: 'text', text: 'Hi' },
    {
      type: 'server_tool_use',
      id: 'srvtoolu_2',
      caller: { type: 'direct' },
      name: 'web_search',
      input: { query: 'q' },
    },
    {
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_2',
      caller: { type: 'direct' },
      content: [
        { type: 'web_search_result', url: 'u', title: 'T', encrypted_content: '', page_age: null },
      ],
    },
    {
      type: 'text',
      text: '\n\nSearched: q\n1. T - u',
      citations: [
        {
          type: 'web_search_result_location',
          url: 'u',
          title: 'T',
          encrypted_index: '',
          cited_text: 'Hi',
        },
      ],
    },
  ]);
  expect(message).toMatchObject({
    stop_reason: 'end_turn',
    usage: { server_tool_use: { web_search_requests: 1 } },
  });
});

type End = Parameters<typeof answer>[1];
const stops: readonly (readonly [string, CanonicalEvent[], End, object])[] = [
  ['V054 max tokens', textBlock(0, 'x'), { reason: 'max-tokens' }, { stop_reason: 'max_tokens' }],
  ['V054 a call cut', callBlock(0, '{}'), { reason: 'max-tokens' }, { stop_reason: 'tool_use' }],
  ['max tokens without content', [], { reason: 'max-tokens' }, { stop_reason: 'max_tokens' }],
  [
    'a stop sequence',
    textBlock(0, 'x'),
    { reason: 'stop-sequence', stopSequence: 'END' },
    { stop_reason: 'stop_sequence', stop_sequence: 'END' },
  ],
  [
    'a stop sequence behind a call',
    [...callBlock(0, '{}'), ...textBlock(1, 'x')],
    { reason: 'stop-sequence', stopSequence: 'END' },
    { stop_reason: 'tool_use', stop_sequence: null },
  ],
  [
    'safety',
    textBlock(0, 'x'),
    { reason: 'safety', message: 'why' },
    {
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: null, explanation: 'why' },
    },
  ],
  [
    'a blocked prompt',
    [],
    { reason: 'prompt-blocked' },
    { stop_reason: 'refusal', content: [], stop_details: { explanation: null } },
  ],
];

test.each(stops)('%s has its stop reason', (_name, events, end, expected) => {
  expect(foldFrames(parseFrames(writeStream(answer(events, end))))).toMatchObject(expected);
});

test('an error ends the stream in band, and pings are harmless at any time', () => {
  const writer = new MessagesWriter(replyContext(), { omitsThinking: false });
  const error = new GatewayError({ kind: 'overloaded', source: 'upstream', message: 'busy' });
  expect(frameTypes(writer.keepAlive())).toEqual(['ping']);
  expect(writer.contentType).toContain('text/event-stream');
  expect(parseFrames(writer.write({ kind: 'error', error }))).toEqual([
    { type: 'error', error: { type: 'overloaded_error', message: 'busy' } },
  ]);
});

test('line separators and quotes in texts keep a frame on its line', () => {
  const nasty = 'a\r\n\n"\u2028\u0000\ud800 event: x';
  const message = foldFrames(parseFrames(writeStream(answer(textBlock(0, nasty)))));
  expect(message.content).toEqual([{ type: 'text', text: nasty }]);
});
