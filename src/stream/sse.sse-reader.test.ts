import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Frame, FrameError, FrameReader } from './sse.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

interface Outcome {
  readonly frames: readonly string[];
  readonly fault: string | undefined;
}

/** All frames of a body cut at the given positions, and the fault it ended in. */
function read(body: Buffer, cuts: readonly number[] = [], maxFrameBytes = 1_048_576): Outcome {
  const reader = new FrameReader({ maxFrameBytes });
  const frames: string[] = [];
  const keep = (batch: readonly Frame[]): void => {
    for (const frame of batch) frames.push(frame.text);
  };
  const edges = [0, ...[...cuts].sort((a, b) => a - b), body.length];
  try {
    for (let at = 1; at < edges.length; at += 1) {
      keep(reader.push(body.subarray(edges[at - 1], edges[at])));
    }
    keep(reader.end());
  } catch (error) {
    return { frames, fault: error instanceof FrameError ? error.fault : String(error) };
  }
  return { frames, fault: undefined };
}

function readText(body: string): Outcome {
  return read(bytes(body));
}

test.each([
  ['LF', 'data: {"a":1}\n\ndata: {"b":2}\n\n'],
  ['CRLF', 'data: {"a":1}\r\n\r\ndata: {"b":2}\r\n\r\n'],
  ['CR', 'data: {"a":1}\r\rdata: {"b":2}\r\r'],
  ['no space after the colon', 'data:{"a":1}\n\ndata:{"b":2}\n\n'],
  ['a byte order mark', '\ufeffdata: {"a":1}\n\ndata: {"b":2}\n\n'],
  [
    'comments and other fields',
    ': hi\nid: 7\nevent: x\nretry: 3\ndata: {"a":1}\n\n:\n\ndata: {"b":2}\n\n',
  ],
  ['empty data and [DONE]', 'data:\n\ndata: {"a":1}\n\ndata\n\ndata: {"b":2}\n\ndata: [DONE]\n\n'],
  ['no line end after the last event (V066, P083)', 'data: {"a":1}\n\ndata: {"b":2}'],
  ['one line end after the last event', 'data: {"a":1}\n\ndata: {"b":2}\n'],
  ['a list in one event', 'data: [{"a":1},{"b":2}]\n\n'],
  ['one JSON document', '[{"a":1}\n,\r\n{"b":2}]\n'],
  ['an indented document', '  [\n  {\n    "a": 1\n  },\n\n  {\n    "b": 2\n  }\n]'],
  ['a document after events', 'data: {"a":1}\n\n{\n  "b": 2\n}\n'],
  ['a document right behind an event', 'data: {"a":1}\n{"b":2}'],
])('frames come through with %s', (_name, body) => {
  expect(readText(body)).toEqual({ frames: ['{"a":1}', '{"b":2}'], fault: undefined });
});

test.each(['data:[DONE]', 'data:  [DONE]', 'data: [DONE]  ', 'data:\t[DONE]\t\r'])(
  'the word for the end is one in whatever blanks it stands: %j',
  (line) => {
    const done = {};
    const reader = new FrameReader({ maxFrameBytes: 1000, done });
    const [frame, ...more] = reader.push(bytes(`${line}\n\n`));
    expect(frame?.value).toBe(done);
    expect(more).toEqual([]);
    expect(readText(`data: {"a":1}\n\n${line}\n\n`)).toEqual({
      frames: ['{"a":1}'],
      fault: undefined,
    });
  },
);

test('data lines of one event are joined and written as one line', () => {
  expect(readText('data: {"a":\ndata: "x"}\n\n').frames).toEqual(['{"a":"x"}']);
});

test('an object in a field named error is the error of a frame', () => {
  const body = 'data: {"a":1}\n\nerror: {"code":500,"message":"no room"}\n\n';
  const { frames } = readText(body);
  expect(frames).toEqual(['{"a":1}', '{"error":{"code":500,"message":"no room"}}']);
});

test.each([
  ['in one line', '{"error":{"code":503}}\n'],
  ['in many lines', '{\n  "error": {\n    "code": 503\n  }\n}\n'],
])('an error behind events is a frame once its last line ends: %s', (_how, error) => {
  for (const begun of ['data: {"a":1}\n\n', ': keep-alive\n\n']) {
    const reader = new FrameReader({ maxFrameBytes: 1000 });
    reader.push(bytes(begun));
    const frames = [...error].flatMap((byte) => reader.push(bytes(byte)));
    expect(frames.map(({ value }) => value)).toEqual([{ error: { code: 503 } }]);
    expect(reader.push(bytes('\ndata: [DONE]\n\n'))).toEqual([]);
  }
});

test.each([
  'Internal Server Error',
  'upstream connect error or disconnect/reset before headers. reset reason: overflow',
  '<html><body>502 Bad Gateway</body></html>',
  'Error: socket hang up',
  'error: overloaded',
  '{"half": \ndata: {"a":2}',
])('a line that is no field of a stream is a fault once it ends: %s', (line) => {
  const reader = new FrameReader({ maxFrameBytes: 1000 });
  expect(reader.push(bytes('data: {"a":1}\n\n'))).toHaveLength(1);
  expect(reader.push(bytes(line))).toEqual([]);
  expect(() => reader.push(bytes('\n'))).toThrow(FrameError);
});

test('a unary body is one frame', () => {
  expect(readText('{"candidates":[]}').frames).toEqual(['{"candidates":[]}']);
  expect(readText('{\n  "candidates": []\n}\n').frames).toEqual(['{"candidates":[]}']);
});

test('numbers a double cannot hold survive in text and value', () => {
  const [frame] = new FrameReader({ maxFrameBytes: 1000 }).push(
    bytes('data: {"n":\ndata: 12345678901234567890}\n\n'),
  );
  expect(frame?.text).toBe('{"n":12345678901234567890}');
});

test('a body that ends inside a frame is truncated at every cut (P081)', () => {
  const body = bytes('data: {"a":"äöü😀"}\r\n\r\ndata: {"b":[1,2]}');
  for (let end = 0; end < body.length; end += 1) {
    const outcome = read(body.subarray(0, end));
    expect(outcome.frames.length).toBeLessThan(2);
    expect([undefined, 'truncated']).toContain(outcome.fault);
  }
  expect(readText('{"a":1').fault).toBe('truncated');
});

test('garbage is a fault, after the frames before it were given out (P091)', () => {
  expect(readText('data: {"a":1}\n\ndata: {oops\n\ndata: {"b":2}\n\n')).toEqual({
    frames: ['{"a":1}'],
    fault: 'not-json',
  });
  expect(readText('data: 7\n\n').fault).toBe('not-json');
  for (const word of ['null', ': keepalive', ': OPENROUTER PROCESSING']) {
    expect(readText(`data: ${word}\n\n`)).toMatchObject({ frames: [], fault: undefined });
  }
  expect(readText('data: [1]\n\n').fault).toBe('not-json');
});

test('frames over the cap are refused, whether their line ends or not', () => {
  const cap = 100;
  const big = `data: {"a":"${'x'.repeat(200)}"}`;
  expect(read(bytes(big), [], cap).fault).toBe('too-large');
  expect(read(bytes(`${big}\n\n`), [], cap).fault).toBe('too-large');
  expect(read(bytes(`data: ${' '.repeat(60)}\n`.repeat(3)), [], cap).fault).toBe('too-large');
  expect(read(bytes(`{"a":"${'x'.repeat(200)}"}`), [], cap).fault).toBe('too-large');
  expect(readText(`{"a":${'['.repeat(300)}${']'.repeat(300)}}`).fault).toBe('too-large');
  expect(read(bytes('data: {"a":1}\n\n'.repeat(50)), [], cap).frames.length).toBe(50);
});

const value = fc.record({ text: fc.string({ unit: 'binary' }), n: fc.nat() });
const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
const piece = fc.oneof(
  { weight: 4, arbitrary: value.map((one) => `data: ${JSON.stringify(one)}`) },
  value.map((one) => `data:${JSON.stringify(one)}`),
  fc.constantFrom(': comment', 'event: ping', 'id: 1', 'unknown', 'data', 'data:', 'datax: 1', ''),
);
const stream = fc
  .array(fc.tuple(piece, lineEnd, lineEnd), { maxLength: 12 })
  .map((pieces) => pieces.map(([text, first, second]) => text + first + second).join(''));
const tail = fc.oneof(
  fc.constant(''),
  value.map((one) => `data: ${JSON.stringify(one)}`),
  value.map((one) => JSON.stringify(one, null, 2)),
  value.map((one) => `${JSON.stringify(one, null, 2)}\n\ndata: [DONE]\n\n`),
  fc.constantFrom('data: {"cut', 'dat', '{"cut', 'error: {"a":1}\n\n', 'error: {"cut'),
  fc.constantFrom('Bad Gateway', 'Bad Gateway\n', 'Error: no', '<p>\n\n', '{"a":1}\n{"b":2}\n'),
);

test('any byte split gives the same frames and the same fault (P084)', () => {
  fc.assert(
    fc.property(stream, tail, fc.array(fc.nat(2000), { maxLength: 20 }), (events, last, at) => {
      const body = bytes(events + last);
      const whole = read(body);
      expect(
        read(
          body,
          at.map((cut) => cut % (body.length + 1)),
        ),
      ).toEqual(whole);
    }),
    { numRuns: 300 },
  );
});

test('one byte at a time gives the same frames', () => {
  fc.assert(
    fc.property(stream, tail, (events, last) => {
      const body = bytes(events + last);
      expect(read(body, Array.from(body.keys()))).toEqual(read(body));
    }),
    { numRuns: 50 },
  );
});

/** What eventsource-parser makes of the same text, up to the first payload that is not JSON. */
function readWithOracle(text: string): { frames: unknown[]; fault: string | undefined } {
  const payloads: string[] = [];
  createParser({ onEvent: (event) => payloads.push(event.data) }).feed(text);
  const frames: unknown[] = [];
  try {
    for (const payload of payloads) if (payload.trim() !== '') frames.push(JSON.parse(payload));
  } catch {
    return { frames, fault: 'not-json' };
  }
  return { frames, fault: undefined };
}

test('complete events are read as eventsource-parser reads them', () => {
  fc.assert(
    fc.property(stream, (events) => {
      const body = `${events}\n\n`;
      const { frames, fault } = readText(body);
      expect({ frames: frames.map((frame) => JSON.parse(frame)), fault }).toEqual(
        readWithOracle(body),
      );
    }),
    { numRuns: 300 },
  );
});
