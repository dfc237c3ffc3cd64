// Hostile texts on their way from an upstream to clients and into the log: the same text, no frame and no line more.

import { createParser } from 'eventsource-parser';
import { expect, test } from 'vitest';
import { createLog } from '../../src/cli/log.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/lib/json.ts';
import { createRandom, type Random } from '../fuzz/random.ts';
import {
  LANES,
  type LaneName,
  readAnswer,
  readCallers,
  writeStream,
} from '../golden/answer-case.ts';
import { countOf } from '../support/counts.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const TEXTS = countOf({ slow: 10_000, everyday: 150 });
const ARGUMENTS = countOf({ slow: 10_000, everyday: 150 });

const PIECES = [
  ...['\r', '\n', '\r\n', '\n\n', '\r\r', '\u2028', '\u2029', '\u0085', '\u0000', '\u001b[2J'],
  ...['\ud800', '\udfff', '\ufeff', '\u202e', '\u2066', '\u007f', '\u000b', '\u{1f600}', 'é', '\\'],
  ...[
    '"',
    "'",
    '</script>',
    'data: {"x":1}',
    'data: [DONE]',
    'event: message_stop',
    'id: 7',
    ': ping',
  ],
  ...['retry: 1', '{"error":{"message":"x"}}', '\\u0000', '\\n', '  ', '\t', 'a', 'word', '%0d%0a'],
];
const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'a',
  '',
  '0',
  'ключ',
];

const callers = readCallers('none');

function randomText(random: Random): string {
  return Array.from({ length: 1 + random.below(12) }, () => random.pick(PIECES)).join('');
}

/** The bytes in which an upstream says it, cut anywhere. */
function upstreamBytes(parts: readonly JsonObject[]): Buffer {
  const frames = parts.map((part, at) => ({
    candidates: [
      {
        content: { role: 'model', parts: [part] },
        ...(at === parts.length - 1 ? { finishReason: 'STOP' } : {}),
      },
    ],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  }));
  return Buffer.from(frames.map((frame) => `data: ${JSON.stringify(frame)}\r\n\r\n`).join(''));
}

/** The payloads as a parser that nobody of this project wrote finds them. */
function framesOf(stream: string): readonly JsonObject[] {
  const payloads: JsonObject[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      const value = data === '[DONE]' ? undefined : parseJson(data);
      if (isJsonObject(value)) payloads.push(value);
      else if (data !== '[DONE]') throw new Error(`A frame holds no object: ${data}`);
    },
    onError: (error) => {
      throw error;
    },
  });
  parser.feed(stream);
  return payloads;
}

/** Every value of a key, in the order it stands there. */
function valuesOf(value: JsonValue, key: string): readonly JsonValue[] {
  if (Array.isArray(value)) return value.flatMap((one) => valuesOf(one, key));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === key ? [inner] : valuesOf(inner, key),
  );
}

/** The text that a client of this kind puts together. */
function textIn(lane: LaneName, frames: readonly JsonObject[]): string {
  const deltas = frames.flatMap((frame): readonly JsonValue[] => {
    switch (lane) {
      case 'chat':
        return valuesOf(frame, 'content');
      case 'responses':
        return frame.type === 'response.output_text.delta' ? valuesOf(frame, 'delta') : [];
      case 'messages':
        return frame.type === 'content_block_delta' ? valuesOf(frame, 'text') : [];
      case 'generate':
      case 'relay':
        return valuesOf(frame, 'text');
      default:
        return lane satisfies never;
    }
  });
  return deltas.filter((delta) => typeof delta === 'string').join('');
}

/** Lines of a stream that are no fields of an event; a break in a text would make some. */
function strayLines(stream: string): readonly string[] {
  return stream.split('\n').filter((line) => !/^(?:$|(?:data|event): |:)/.test(line));
}

test('a text reaches every client as it is, in as many frames as a harmless one', () => {
  const harmless = new Map(
    LANES.map((lane) => {
      const answer = readAnswer([upstreamBytes([{ text: 'a' }, { text: 'b' }])]);
      return [lane, framesOf(writeStream(lane, callers[lane], answer)).length];
    }),
  );
  for (let run = 0; run < TEXTS; run += 1) {
    const random = createRandom(run);
    const [first, second] = [`x${randomText(random)}`, `${randomText(random)}x`];
    const bytes = upstreamBytes([{ text: first }, { text: second }]);
    const cut = random.below(bytes.length);
    const answer = readAnswer([bytes.subarray(0, cut), bytes.subarray(cut)]);
    for (const lane of LANES) {
      const stream = writeStream(lane, callers[lane], answer);
      const frames = framesOf(stream);
      expect([run, lane, textIn(lane, frames)]).toEqual([run, lane, first + second]);
      expect([run, lane, frames.length]).toEqual([run, lane, harmless.get(lane)]);
      expect(strayLines(stream)).toEqual([]);
      // A client reads bytes: no half of a character may be lost in them.
      expect(Buffer.from(stream).toString()).toBe(stream);
    }
  }
}, 600_000);

function randomValue(random: Random, depth: number): JsonValue {
  const kind = random.below(depth > 3 ? 3 : 5);
  if (kind === 0) return randomText(random);
  if (kind === 1) return random.pick([0, 1, -1, 0.5, 9_007_199_254_740_991, true, false, null]);
  if (kind === 2) return random.below(1000);
  const size = random.below(4);
  if (kind === 3) return Array.from({ length: size }, () => randomValue(random, depth + 1));
  return randomObject(random, size, depth);
}

function randomObject(random: Random, size: number, depth: number): JsonObject {
  return Object.fromEntries(
    Array.from({ length: size }, () => [random.pick(KEYS), randomValue(random, depth + 1)]),
  );
}

/** The arguments of the call that a client of this kind reads. */
function argumentsIn(lane: LaneName, frames: readonly JsonObject[]): string {
  const found = frames.flatMap((frame): readonly JsonValue[] => {
    if (lane === 'messages') return valuesOf(frame, 'partial_json');
    if (lane === 'chat') return valuesOf(frame, 'arguments');
    if (lane !== 'responses') return valuesOf(frame, 'args').map((args) => JSON.stringify(args));
    return frame.type === 'response.function_call_arguments.done' ? [frame.arguments ?? ''] : [];
  });
  return found.join('');
}

test('arguments of a call reach every client as they are, whatever their keys, and nothing else changes', () => {
  const before = Reflect.ownKeys(Object.prototype).length;
  for (let run = 0; run < ARGUMENTS; run += 1) {
    const random = createRandom(run);
    const args = randomObject(random, 1 + random.below(4), 0);
    const answer = readAnswer([upstreamBytes([{ functionCall: { name: 'act', args } }])]);
    for (const lane of LANES) {
      const stream = writeStream(lane, callers[lane], answer);
      const text = argumentsIn(lane, framesOf(stream));
      expect([run, lane, text]).toEqual([run, lane, JSON.stringify(args)]);
    }
  }
  expect(Reflect.ownKeys(Object.prototype)).toHaveLength(before);
  expect(Object.getPrototypeOf({})).toBe(Object.prototype);
}, 600_000);

test('a text in the log is one line, with nothing in it that steers a terminal or turns a reader round', async () => {
  for (const isTerminal of [false, true]) {
    const clock = createFakeClock();
    let written = '';
    const write = (text: string): void => {
      written += text;
    };
    const log = createLog({ files: undefined, clock, isTerminal, output: { write } });
    for (let run = 0; run < TEXTS; run += 1) {
      const random = createRandom(run);
      const half = random.pick(HALVES);
      const detail = { detail: randomText(random), error: new Error(randomText(random)) };
      log.warn({ ...detail, half: `${half}${randomText(random)}` }, randomText(random) + half);
    }
    await clock.advance(1_000);
    const lines = written.split('\n');
    expect(lines.pop()).toBe('');
    expect(lines).toHaveLength(TEXTS);
    expect(lines.filter((line) => UNSAFE.test(line)).slice(0, 3)).toEqual([]);
    if (!isTerminal) for (const line of lines) expect(isJsonObject(parseJson(line))).toBe(true);
  }
}, 600_000);

/** Beginnings and ends of credentials: what cleans a line must not reach into the next one for the rest. */
const HALVES = [
  ...['-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----', 'Bearer ', '?key=', '&code='],
  ...['https://user:', '@proxy.example', '"password":"', 'isthmus_session=', 'sk-', 'eyJhbGciOi'],
];

/** Breaks of any kind, other control characters, marks that reverse the direction of writing. */
const UNSAFE = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
