import { expect, test } from 'vitest';
import { GatewayError } from '../../canonical/error.ts';
import type { JsonObject } from '../../lib/json.ts';
import { readLate } from '../relayed-request.ts';
import { readRequest } from './read-request.ts';
import { createRelayCall } from './relay.ts';

const CONTEXT = { model: 'm', createId: (prefix: string) => `${prefix}1`, createdAt: 0 };
const GOOD: JsonObject = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'a' }] }, index: 0 }],
};
const FAILURE = new GatewayError({
  kind: 'upstream-unavailable',
  source: 'upstream',
  message: 'The upstream broke off.',
});

function relayOf(body: JsonObject, framing: 'events' | 'array') {
  return createRelayCall(
    body,
    framing,
    readLate((receipt) => readRequest(body, receipt)),
  );
}

function writer(framing: 'events' | 'array' = 'events') {
  return relayOf({}, framing).createStreamWriter(CONTEXT);
}

function relayed(frame: JsonObject): unknown {
  const stream = writer();
  const text = stream.write(frame, JSON.stringify(frame)) + stream.end();
  expect(text).toMatch(/^data: [^\r\n]+\n\n$/);
  return JSON.parse(text.slice('data: '.length));
}

test('a frame without fault goes through as it came, big numbers and odd spacing included', () => {
  const text = '{"candidates": [{"content":{"role":"model","parts":[{"text":"a"}]},"x":1.50}]}';
  expect(writer().write(GOOD, text)).toBe(`data: ${text}\n\n`);
});

test('a frame that repeats another goes out unread only behind one that went out as it came', () => {
  const stream = writer('array');
  expect(stream.repeat?.('{}')).toBeUndefined();
  stream.write(GOOD, JSON.stringify(GOOD));
  expect(stream.repeat?.('{"a":1}')).toBe('\n,\r\n{"a":1}');
  stream.write({ ...GOOD, traceId: 't' }, '');
  expect(stream.repeat?.('{"a":1}')).toBeUndefined();
  stream.write(LAST, JSON.stringify(LAST));
  expect(stream.repeat?.('{"a":1}')).toBeUndefined();
});

test('a pretty-printed frame is put on one line', () => {
  expect(writer().write(GOOD, JSON.stringify(GOOD, null, 2))).toBe(
    `data: ${JSON.stringify(GOOD)}\n\n`,
  );
});

test.each<[string, JsonObject, JsonObject]>([
  ['without content', { finishReason: 'STOP', index: 0 }, { finishReason: 'STOP', index: 0 }],
  ['without parts', { content: { role: 'model' } }, {}],
  ['with empty parts', { content: { role: 'model', parts: [] } }, {}],
])('a candidate %s is given an empty text', (_case, candidate, rest) => {
  expect(relayed({ candidates: [candidate], responseId: 'r' })).toEqual({
    candidates: [{ ...rest, content: { role: 'model', parts: [{ text: '' }] } }],
    responseId: 'r',
  });
});

test('a missing role is filled in and the parts stay', () => {
  expect(relayed({ candidates: [{ content: { parts: [{ text: 'a' }] } }] })).toEqual({
    candidates: [{ content: { role: 'model', parts: [{ text: 'a' }] } }],
  });
});

test('a frame of figures only gets a candidate, a refused prompt does not', () => {
  expect(relayed({ usageMetadata: { promptTokenCount: 1 } })).toEqual({
    usageMetadata: { promptTokenCount: 1 },
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text: '' }] } }],
  });
  const blocked = { promptFeedback: { blockReason: 'SAFETY' } };
  expect(relayed(blocked)).toEqual(blocked);
});

test('P074 fields that are no part of an answer never reach the client', () => {
  expect(relayed({ ...GOOD, traceId: 't', project: 'p' })).toEqual(GOOD);
  const blocked = { promptFeedback: { blockReason: 'SAFETY' } };
  expect(relayed({ ...blocked, traceId: 't' })).toEqual(blocked);
});

test('an error frame keeps its kind and loses the upstream’s own words, and its JSON is behind it', () => {
  const stream = writer();
  const frame = { error: { code: 503, message: 'project p-1 is down', status: 'X' } };
  const text = stream.write(frame, JSON.stringify(frame)) + stream.end();
  const [event = '', json = ''] = text.split('\n\n');
  expect(event).toBe(`data: ${json}`);
  expect(JSON.parse(json)).toEqual({
    error: {
      code: 503,
      message: expect.not.stringContaining('p-1'),
      status: 'UNAVAILABLE',
    },
  });
});

test('P081 a late failure is an error event and its JSON, and the stream ends with it', () => {
  const stream = writer();
  const json = '{"error":{"code":502,"message":"The upstream broke off.","status":"INTERNAL"}}';
  expect(stream.error(FAILURE)).toBe(`data: ${json}\n\n${json}`);
});

const LAST: JsonObject = {
  candidates: [
    { content: { role: 'model', parts: [{ text: 'b' }] }, finishReason: 'STOP', index: 0 },
  ],
};

test('a finish reason goes out with what comes after it', () => {
  const stream = writer();
  expect(stream.write(LAST, JSON.stringify(LAST))).toBe('');
  expect(stream.write(GOOD, JSON.stringify(GOOD))).toBe(
    `data: ${JSON.stringify(LAST)}\n\ndata: ${JSON.stringify(GOOD)}\n\n`,
  );
  expect(stream.write(LAST, JSON.stringify(LAST))).toBe('');
  expect(stream.end()).toBe(`data: ${JSON.stringify(LAST)}\n\n`);
});

test('P081 an answer that breaks off behind its finish reason ends without one', () => {
  for (const framing of ['events', 'array'] as const) {
    const stream = writer(framing);
    const output = stream.write(LAST, JSON.stringify(LAST)) + stream.error(FAILURE);
    expect(output).not.toContain('finishReason');
    expect(output).toContain('"text":"b"');
    expect(output).toContain('The upstream broke off.');
  }
});

test('P081 counts behind a finish reason do not let it out before the answer is whole', () => {
  const counts: JsonObject = { usageMetadata: { totalTokenCount: 3 } };
  const broken = writer();
  const held = broken.write(LAST, JSON.stringify(LAST)) + broken.write(counts, '');
  expect(held).toBe('');
  const output = broken.error(FAILURE);
  expect(output).not.toContain('finishReason');
  expect(output).toContain('"totalTokenCount":3');
  const whole = writer();
  whole.write(LAST, JSON.stringify(LAST));
  whole.write(counts, JSON.stringify(counts));
  expect(whole.end()).toContain(`data: ${JSON.stringify(LAST)}\n\ndata: {"usageMetadata"`);
});

test('P082 keep-alives of event streams are empty lines, never comments', () => {
  expect(writer().keepAlive()).toBe('\n\n');
  expect(writer().contentType).toBe('text/event-stream; charset=utf-8');
  expect(writer().end()).toBe('');
});

test('the array form is one JSON text, keep-alives and all', () => {
  const stream = writer('array');
  const text = JSON.stringify(GOOD);
  let output = stream.keepAlive();
  output += stream.write(GOOD, text) + stream.keepAlive();
  output += stream.write(GOOD, text) + stream.keepAlive() + stream.end();
  expect(stream.contentType).toBe('application/json; charset=utf-8');
  expect(output).toBe(`\n[${text}\n\n,\r\n${text}\n]`);
  expect(JSON.parse(output)).toEqual([GOOD, GOOD]);
});

test('the array form ends well with an error and without any element', () => {
  const stream = writer('array');
  const output = stream.write(GOOD, JSON.stringify(GOOD)) + stream.error(FAILURE);
  expect(JSON.parse(output)).toEqual([GOOD, { error: expect.objectContaining({ code: 502 }) }]);
  expect(JSON.parse(writer('array').error(FAILURE))).toEqual([
    { error: expect.objectContaining({ code: 502 }) },
  ]);
  expect(writer('array').end()).toBe('[]');
});

test('a unary answer is the upstream’s own object unless it needs repair', () => {
  const call = relayOf({}, 'array');
  expect(call.writeReply([GOOD], CONTEXT)).toBe(GOOD);
  expect(call.writeReply([{ candidates: [{ finishReason: 'MAX_TOKENS' }] }], CONTEXT)).toEqual({
    candidates: [{ finishReason: 'MAX_TOKENS', content: { role: 'model', parts: [{ text: '' }] } }],
  });
});

test('the opening text is the system text and the first long user text', () => {
  const body: JsonObject = {
    systemInstruction: { parts: [{ text: 'S' }] },
    contents: [
      { role: 'user', parts: [{ text: 'short' }, { text: 'long enough' }] },
      { role: 'user', parts: [{ text: 'another long text' }] },
    ],
  };
  expect(relayOf(body, 'events').openingText()).toBe('S\nlong enough');
  const short = { contents: [{ role: 'user', parts: [{ text: 'short' }] }] };
  expect(relayOf(short, 'events').openingText()).toBeUndefined();
});

function joined(answers: readonly JsonObject[]): JsonObject {
  return relayOf({}, 'array').writeReply(answers, CONTEXT);
}

const piece = (parts: JsonObject[], rest: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...rest }],
});

test('an answer in pieces is whole again', () => {
  const call = { functionCall: { name: 'w', args: {} }, thoughtSignature: 'S' };
  const pieces = [
    piece([{ text: 'hm', thought: true }]),
    piece([{ text: 'one ' }]),
    piece([{ text: 'two', thoughtSignature: 'T' }]),
    piece([call], { finishReason: 'STOP' }),
    { usageMetadata: { totalTokenCount: 3 }, responseId: 'r' },
  ];
  expect(joined(pieces)).toEqual({
    ...piece([{ text: 'hm', thought: true }, { text: 'one two', thoughtSignature: 'T' }, call], {
      finishReason: 'STOP',
    }),
    usageMetadata: { totalTokenCount: 3 },
    responseId: 'r',
  });
});

test('a text goes on behind the piece that is signed, and ends where another signature begins', () => {
  const pieces = [
    piece([{ text: 'one ', thoughtSignature: 'S' }]),
    piece([{ text: 'two ' }]),
    piece([{ text: 'three', thoughtSignature: 'T' }]),
    piece([{ text: '' }]),
  ];
  expect(joined(pieces)).toEqual(
    piece([
      { text: 'one two ', thoughtSignature: 'S' },
      { text: 'three', thoughtSignature: 'T' },
    ]),
  );
});

test('an answer in as many pieces as a long one may have is put together', () => {
  const pieces = new Array<JsonObject>(1_000_000).fill(piece([{ text: 'a' }]));
  expect(joined(pieces)).toEqual(piece([{ text: 'a'.repeat(1_000_000) }]));
});

test('several candidates are put together each for itself', () => {
  const at = (index: number, text: string) => piece([{ text }], { index });
  expect(joined([at(1, 'b'), at(0, 'a'), at(1, 'B')]).candidates).toEqual([
    { content: { role: 'model', parts: [{ text: 'a' }] }, index: 0 },
    { content: { role: 'model', parts: [{ text: 'bB' }] }, index: 1 },
  ]);
});
