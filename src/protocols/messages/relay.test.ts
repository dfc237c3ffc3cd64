import { expect, test } from 'vitest';
import {
  MINIMAL,
  readCall,
  replyContext,
  routeAt,
  routeInput,
} from '../../../test/support/messages.ts';
import { GatewayError } from '../../canonical/error.ts';
import { type JsonObject, parseObject } from '../../lib/json.ts';
import type { RelayCall } from '../relayed-request.ts';

function relayOf(fields: JsonObject = {}): RelayCall {
  const { relay } = readCall({ ...MINIMAL, ...fields });
  if (relay === undefined) throw new Error('The call has no relay lane.');
  return relay;
}

test('the body goes along as it came, and is refused only where it has to be read', () => {
  const fields = {
    mcp_servers: [{ type: 'url' }],
    tools: [{ type: 'computer_20990101', name: 'c' }],
  };
  const call = readCall({ ...MINIMAL, ...fields });
  expect(call.relay).toMatchObject({ wire: 'messages', body: { ...MINIMAL, ...fields } });
  expect(() => call.request).toThrow('MCP servers');
});

test('a count may be relayed as well', () => {
  const body = { model: 'm', messages: MINIMAL.messages };
  const call = routeAt('count-tokens', '/v1/messages/count_tokens').readCall(routeInput(body));
  expect(call.relay).toMatchObject({ wire: 'messages', body });
});

test('what the gateway has no words for is lost only where it is translated', () => {
  expect(relayOf({ speed: 'fast' }).reading?.().losses).toMatchObject([
    { action: 'dropped', path: 'speed' },
  ]);
});

test.each<[string, JsonObject, string | undefined]>([
  [
    'texts',
    { system: 'Be kind.', messages: [{ role: 'user', content: 'A long question' }] },
    'Be kind.\nA long question',
  ],
  [
    'blocks',
    {
      system: [
        { type: 'text', text: 'Be' },
        { type: 'text', text: 'kind.' },
      ],
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'user', content: [{ type: 'text', text: 'A long question' }] },
      ],
    },
    'Be\nkind.\nA long question',
  ],
  ['short words', {}, undefined],
])('a session begins with the instructions and the first long text: %s', (_name, fields, text) => {
  expect(relayOf(fields).openingText()).toBe(text);
});

test('frames go out under their type, as they came', () => {
  const writer = relayOf().createStreamWriter(replyContext());
  const text = '{"type":"ping" }';
  expect(writer.write({ type: 'ping' }, text)).toBe(`event: ping\ndata: ${text}\n\n`);
  expect(writer.repeat?.('{}')).toBe('event: ping\ndata: {}\n\n');
  expect(writer.keepAlive()).toBe('event: ping\ndata: {"type":"ping"}\n\n');
  expect(writer.end()).toBe('');
});

test('the last event goes out at the end of an answer, and not in front of an error', () => {
  const writer = relayOf().createStreamWriter(replyContext());
  expect(writer.write({ type: 'message_stop' }, '{"type":"message_stop"}')).toBe('');
  expect(writer.end()).toBe('event: message_stop\ndata: {"type":"message_stop"}\n\n');
  const error = new GatewayError({ kind: 'overloaded', source: 'upstream', message: 'No call.' });
  expect(writer.error(error)).not.toContain('message_stop');
});

test('what an upstream leaves out in front of its words is put there', () => {
  const writer = relayOf().createStreamWriter(replyContext());
  const piece = (delta: JsonObject): JsonObject => ({
    type: 'content_block_delta',
    index: 0,
    delta,
  });
  const frames: JsonObject[] = [
    piece({ type: 'text_delta', text: 'Hi' }),
    piece({ type: 'thinking_delta', thinking: 'Hm' }),
    piece({ type: 'text_delta', text: '' }),
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { ...piece({ type: 'text_delta', text: 'there' }), index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { type: 'message_stop' },
  ];
  const written = frames.map((frame) => writer.write(frame, JSON.stringify(frame)));
  const sent = [...written, writer.end()]
    .join('')
    .split('\n\n')
    .flatMap((event) => {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      return data === undefined ? [] : [parseObject(data)];
    });
  expect(sent.map(({ type, index }) => `${type} ${index ?? ''}`.trim())).toEqual([
    ...['message_start', 'content_block_start 0', 'content_block_delta 0', 'content_block_stop 0'],
    ...['content_block_start 1', 'content_block_delta 1', 'content_block_delta 1'],
    ...['content_block_stop 1', 'content_block_start 2', 'content_block_delta 2'],
    ...['content_block_stop 2', 'message_delta', 'message_stop'],
  ]);
  expect(sent[4]).toMatchObject({ content_block: { type: 'thinking', thinking: '' } });
});

test('an answer is opened once, however often or late an upstream opens it', () => {
  const start = { type: 'message_start', message: { role: 'assistant' } };
  const block = {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'text', text: '' },
  };
  for (const frames of [
    [start, start, block],
    [block, start],
  ]) {
    const writer = relayOf().createStreamWriter(replyContext());
    const written = frames.map((frame) => writer.write(frame, JSON.stringify(frame))).join('');
    expect(written.match(/^event: .*$/gm)).toEqual([
      'event: message_start',
      'event: content_block_start',
    ]);
  }
});

test('blocks are numbered without gaps, because readers take the number for the place', () => {
  const writer = relayOf().createStreamWriter(replyContext());
  const blockAt = (index: number) => [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index, delta: { type: 'text_delta', text: 'Hi' } },
    { type: 'content_block_stop', index },
  ];
  const start = {
    type: 'message_start',
    message: { usage: { input_tokens: 1, output_tokens: 1 } },
  };
  const frames: JsonObject[] = [start, ...blockAt(1), ...blockAt(2), ...blockAt(5)];
  const sent = frames.map((frame) => writer.write(frame, JSON.stringify(frame))).join('');
  const indexes = sent.match(/"index":\d/g)?.map((found) => Number(found.at(-1)));
  expect(indexes).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2]);
});

type Shown = readonly [type: string, index: number];

function shownBlocks(frames: readonly JsonObject[]): readonly Shown[] {
  const writer = relayOf().createStreamWriter(replyContext());
  const start = {
    type: 'message_start',
    message: { usage: { input_tokens: 1, output_tokens: 1 } },
  };
  return [start, ...frames]
    .flatMap((frame) => writer.write(frame, JSON.stringify(frame)).split('\n\n'))
    .flatMap((event) => {
      const { type, index } = parseObject(/^data: (.*)$/m.exec(event)?.[1] ?? '{}');
      return typeof index === 'number' ? [[String(type).slice(14), index] as const] : [];
    });
}

function opening(index: number, type: string): JsonObject {
  return { type: 'content_block_start', index, content_block: { type } };
}

function pieceOf(index: number, delta: JsonObject): JsonObject {
  return { type: 'content_block_delta', index, delta };
}

function jsonOf(index: number, partial_json: string): JsonObject {
  return pieceOf(index, { type: 'input_json_delta', partial_json });
}

const endings = [0, 1, 2].map((index) => ({ type: 'content_block_stop', index }));
const over = { type: 'message_delta', delta: { stop_reason: 'tool_use' } };

test('each block ends once, before the next, also of a service that ends all of them when all is said', () => {
  const words = [opening(0, 'text'), pieceOf(0, { type: 'text_delta', text: 'Hi' })];
  const calls = [1, 2].flatMap((index) => [opening(index, 'tool_use'), jsonOf(index, '{"a":1}')]);
  for (const stops of [endings, []]) {
    expect(shownBlocks([...words, ...calls, ...stops, over])).toEqual(
      [0, 1, 2].flatMap((index) => [
        ['start', index],
        ['delta', index],
        ['stop', index],
      ]),
    );
  }
});

test('a call whose pieces repeat each other ends when it is whole', () => {
  const writer = relayOf().createStreamWriter(replyContext());
  const frames = ['{"a":', '"b', '"}'].map((json) => jsonOf(0, json));
  writer.write(opening(0, 'tool_use'), '');
  const [first = {}, ...repeated] = frames;
  writer.write(first, JSON.stringify(first));
  for (const [at, frame] of repeated.entries()) {
    writer.repeat?.(JSON.stringify(frame), ['"b', '"}'][at] ?? '');
  }
  const next = opening(1, 'tool_use');
  expect(writer.write(next, JSON.stringify(next))).toMatch(
    /^event: content_block_stop\n.*event: content_block_start\n/s,
  );
});

test('calls that are open together end when they are whole, and a text between them has its own block', () => {
  expect(
    shownBlocks([
      ...[opening(0, 'text'), opening(1, 'tool_use'), jsonOf(1, '{"a":'), opening(2, 'tool_use')],
      ...[pieceOf(0, { type: 'text_delta', text: 'Hi' }), jsonOf(2, '{}'), jsonOf(1, '1}')],
      ...endings,
    ]),
  ).toEqual([
    ...[
      ['start', 0],
      ['stop', 0],
      ['start', 1],
      ['delta', 1],
      ['start', 2],
      ['start', 3],
    ],
    ...[
      ['delta', 3],
      ['delta', 2],
      ['delta', 1],
      ['stop', 3],
      ['stop', 1],
      ['stop', 2],
    ],
  ]);
});

test('counts that an upstream leaves out are zero, because readers break off without them', () => {
  const writer = relayOf().createStreamWriter(replyContext());
  const told = (frame: JsonObject) => {
    const [, data = ''] = writer.write(frame, JSON.stringify(frame)).split('\ndata: ');
    return parseObject(data);
  };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [] };
  expect(told({ type: 'message_start', message })).toEqual({
    type: 'message_start',
    message: { ...message, usage: { input_tokens: 0, output_tokens: 0 } },
  });
  const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' } };
  expect(told(end)).toEqual({ ...end, usage: { output_tokens: 0 } });
  const known = { ...end, usage: { input_tokens: 4, output_tokens: null } };
  expect(told(known)).toEqual({ ...end, usage: { input_tokens: 4, output_tokens: 0 } });
  expect(relayOf().writeReply([{ ...message, usage: null }], replyContext())).toEqual({
    ...message,
    usage: { input_tokens: 0, output_tokens: 0 },
  });
});

test('a failure is told in the words of the protocol', () => {
  const error = new GatewayError({ kind: 'overloaded', source: 'upstream', message: 'Busy.' });
  const text = relayOf().createStreamWriter(replyContext()).error(error);
  expect(text).toContain('event: error\n');
  expect(text).toContain('"overloaded_error"');
});

test('a whole answer goes out as it came', () => {
  const usage = { input_tokens: 3, output_tokens: 2 };
  const answer = { id: 'msg_up', type: 'message', content: [], usage };
  expect(relayOf().writeReply([answer], replyContext())).toBe(answer);
});

test('P049 an answer that calls ends with its calls, also of a service that says it ended otherwise', () => {
  const call = { type: 'tool_use', id: 'a', name: 'f', input: {} };
  const reasonOf = (blocks: JsonObject[], stop_reason: string | null) => {
    const writer = relayOf().createStreamWriter(replyContext());
    const frames: JsonObject[] = [
      ...blocks.flatMap((content_block, index) => [
        { type: 'content_block_start', index, content_block },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null } },
    ];
    const sent = frames.map((frame) => writer.write(frame, JSON.stringify(frame)));
    const [, data = ''] = /^data: (.*)$/m.exec(sent.at(-1) ?? '') ?? [];
    const whole = { type: 'message', content: blocks, stop_reason };
    return [
      parseObject(data).delta,
      relayOf().writeReply([whole], replyContext()).stop_reason,
    ] as const;
  };
  const told = (stop_reason: string | null) => [{ stop_reason, stop_sequence: null }, stop_reason];
  const text = { type: 'text', text: 'Hi' };
  const searched = { ...call, type: 'server_tool_use' };
  expect(reasonOf([text, call], 'end_turn')).toEqual(told('tool_use'));
  expect(reasonOf([text, call], null)).toEqual(told('tool_use'));
  expect(reasonOf([text], null)).toEqual(told(null));
  expect(reasonOf([text, call], 'max_tokens')).toEqual(told('max_tokens'));
  expect(reasonOf([searched, text], 'end_turn')).toEqual(told('end_turn'));
});

test('calls are renamed, and nothing else is touched', () => {
  const relay = relayOf({ tools: [{ name: 'read_file', input_schema: { type: 'object' } }] });
  const rename = (): string => 'read_file';
  const opening = (name: string): JsonObject => ({
    type: 'content_block_start',
    content_block: { type: 'tool_use', id: 'a', name },
  });
  expect(relay.renameCalls(opening('readFile'), rename)).toEqual(opening('read_file'));
  const known = opening('read_file');
  expect(relay.renameCalls(known, rename)).toBe(known);
  const whole = { type: 'message', content: [{ type: 'tool_use', id: 'a', name: 'readFile' }] };
  expect(relay.renameCalls(whole, rename)).toMatchObject({ content: [{ name: 'read_file' }] });
  const text = { type: 'message', content: [{ type: 'text', text: 'readFile' }] };
  expect(relay.renameCalls(text, rename)).toBe(text);
});
