import { expect, test } from 'vitest';
import type { CanonicalEvent } from '../../canonical/event.ts';
import type { JsonObject } from '../../lib/json.ts';
import { type Frame, FrameReader } from '../../stream/sse.ts';
import { RepeatedTexts } from '../transport/repeated-texts.ts';
import { chunk, decode, FAMILY, piece, stop } from './decode.test-support.ts';
import { ChatDecoder, findTextChunk } from './decode.ts';

const say = (content: string, rest: JsonObject = {}) => chunk({ content }, rest);

function read(...chunks: readonly JsonObject[]): readonly Frame[] {
  const memory = new RepeatedTexts(findTextChunk);
  memory.learn('the first', {});
  const reader = new FrameReader({ maxFrameBytes: 1e6, memory });
  const text = chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('');
  return reader.push(Buffer.from(text));
}

const repeated = (...chunks: readonly JsonObject[]) => read(...chunks).map(({ said }) => said);

test('texts that follow each other repeat the first of them', () => {
  expect(repeated(say('a'), say('b'), say('"\\é'), say(''))).toEqual([undefined, 'b', '"\\é', '']);
});

test.each(['reasoning_content', 'reasoning'])(
  'thoughts in %s repeat each other as texts do',
  (field) => {
    const think = (text: string, rest: JsonObject = {}) =>
      chunk({ content: null, [field]: text, ...rest });
    expect(repeated(think('a'), think('b'), think(''))).toEqual([undefined, 'b', '']);
    // What begins with nothing said is no model of what says something.
    expect(repeated(think(''), think('b'), think('c'))).toEqual([undefined, undefined, 'c']);
    expect(repeated(think('a'), think('b', { content: 'x' }))).toEqual([undefined, undefined]);
    const frames = read(think('a'), think('b'), say('c'), say('d'), stop());
    const context = {
      signatureFamily: FAMILY,
      body: {},
      stream: true,
      createId: (prefix: string) => prefix,
    };
    const options = { now: () => 0, tracesThoughts: true, namesEnds: true };
    const [repeating, reading] = [
      new ChatDecoder(context, options),
      new ChatDecoder(context, options),
    ];
    const events = frames.flatMap(
      (frame) => repeating.repeat(frame) ?? repeating.push(frame.value),
    );
    expect([...events, ...repeating.end()]).toEqual([
      ...frames.flatMap(({ value }) => reading.push(value)),
      ...reading.end(),
    ]);
    expect(events).toContainEqual(
      expect.objectContaining({ delta: { kind: 'thinking', text: 'b' } }),
    );
  },
);

test.each<[string, JsonObject]>([
  ['an end', say('b', { finish_reason: 'stop' })],
  ['usage', { ...say('b'), usage: { total_tokens: 3 } }],
  ['usage of the choice', say('b', { usage: { total_tokens: 3 } })],
  ['an error', { ...say('b'), error: { message: 'Busy.' } }],
  ['logprobs', say('b', { logprobs: { content: [] } })],
  ['thoughts', chunk({ content: 'b', reasoning_content: 'Hm' })],
  ['a call', chunk({ content: 'b', tool_calls: [{ index: 0, function: { name: 'f' } }] })],
  ['another choice', { ...say('b'), choices: [{ index: 1, delta: { content: 'b' } }] }],
  ['a second content', { ...say('b'), x: { content: 'b' } }],
])('a chunk with %s is read, and what is like it as well', (_name, other) => {
  expect(repeated(say('a'), other)).toEqual([undefined, undefined]);
  const isOther = _name === 'another choice';
  expect(repeated(other, other)).toEqual([undefined, isOther ? 'b' : undefined]);
});

test('fields that say nothing do not make a chunk another one', () => {
  const silent = { logprobs: null, stop_reason: null };
  const one = (text: string) => ({ ...say(text, silent), usage: null, system_fingerprint: 'f' });
  const frames = read(one('a'), one('b'));
  expect(frames[1]?.repeats).toBe(frames[0]?.value);
  expect(frames[1]?.value).toEqual(one('b'));
});

test.each(['obfuscation', 'p'])(
  'chunks that differ in the padding %s repeat each other',
  (name) => {
    const padded = (text: string, padding: string) => ({ ...say(text), [name]: padding });
    const chunks = [padded('a', 'xyz'), padded(`"}],"${name}":"`, ''), padded('é', 'Ab3')];
    const frames = read(...chunks);
    expect(frames.map(({ said }) => said)).toEqual([undefined, `"}],"${name}":"`, 'é']);
    expect(frames.map(({ value }) => value)).toEqual(chunks);
    expect(frames.map(({ text }) => text)).toEqual(chunks.map((one) => JSON.stringify(one)));
  },
);

test('padding that is no text, or stands in front, is no reason to misread a chunk', () => {
  const chunks = [
    ...[
      { ...say('a'), obfuscation: 1 },
      { ...say('b'), obfuscation: 2 },
    ],
    ...[
      { ...say('a'), obfuscation: 'x' },
      { ...say('b'), obfuscation: ['x'] },
    ],
    ...[
      { obfuscation: 'x', ...say('a') },
      { obfuscation: 'yz', ...say('b') },
    ],
  ];
  const frames = read(...chunks);
  expect(frames.map(({ said }) => said)).toEqual(chunks.map(() => undefined));
  expect(frames.map(({ value }) => value)).toEqual(chunks);
});

test('events are the same whether or not chunks repeat each other', () => {
  const chunks = [
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning_content: 'Hm' }),
    ...['The ', 'answer', '', ' is '].map((text) => say(text)),
    piece(0, { id: 'a', function: { name: 'f', arguments: '{}' } }),
    ...['so', '.'].map((text) => say(text)),
    stop(),
    { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
  ];
  let ids = 0;
  const context = {
    signatureFamily: FAMILY,
    createId: (prefix: string) => `${prefix}${++ids}`,
  };
  const decoder = new ChatDecoder(context, { now: () => 0, tracesThoughts: true, namesEnds: true });
  const events: CanonicalEvent[] = read(...chunks).flatMap(
    (frame) => decoder.repeat(frame) ?? decoder.push(frame.value),
  );
  expect([...events, ...decoder.end()]).toEqual(decode(...chunks));
});
