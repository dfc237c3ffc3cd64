// Answers of each wire with every value replaced by every other type: what is still said in them reaches the client,
// and both lanes end alike.

import { expect, test } from 'vitest';
import type { CanonicalEvent } from '../../src/canonical/event.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/lib/json.ts';
import { ChatDecoder } from '../../src/upstreams/chat/decode.ts';
import { GenerateDecoder } from '../../src/upstreams/generate/decode.ts';
import { MessagesDecoder } from '../../src/upstreams/messages/decode.ts';
import type { DecodeContext, Decoder } from '../../src/upstreams/upstream.ts';

/** What is thought, said and called. */
const WORDS = ['deep-thought', 'plain-words', 'call-argument'] as const;
const [THOUGHT, SAID, CALLED] = WORDS;
const ARGUMENTS = { a: CALLED };

interface Wire {
  readonly name: string;
  decoder(context: DecodeContext): Decoder;
  readonly stream: readonly JsonObject[];
  readonly whole: JsonObject;
}

const chunk = (choice: JsonObject): JsonObject => ({
  ...{ id: 'c', object: 'chat.completion.chunk', model: 'm' },
  choices: [{ index: 0, finish_reason: null, ...choice }],
});
const chatCall = (): JsonObject => ({
  ...{ index: 0, id: 'call_1', type: 'function' },
  function: { name: 'f', arguments: JSON.stringify(ARGUMENTS) },
});
const piece = (index: number, delta: JsonObject): JsonObject => ({
  ...{ type: 'content_block_delta', index, delta },
});
const opening = (index: number, block: JsonObject): JsonObject => ({
  ...{ type: 'content_block_start', index, content_block: block },
});
const candidate = (parts: JsonValue[], more: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
});
const nativeCall = { functionCall: { name: 'f', args: ARGUMENTS }, thoughtSignature: 'c2ln' };

const WIRES: readonly Wire[] = [
  {
    name: 'chat',
    decoder: (context) =>
      new ChatDecoder(context, { now: () => 0, tracesThoughts: true, namesEnds: true }),
    stream: [
      chunk({ delta: { role: 'assistant', content: '', reasoning_content: THOUGHT } }),
      chunk({ delta: { content: SAID } }),
      chunk({ delta: { tool_calls: [chatCall()] } }),
      chunk({ delta: {}, finish_reason: 'tool_calls' }),
    ],
    whole: {
      ...{ id: 'c', object: 'chat.completion', model: 'm' },
      choices: [
        {
          ...{ index: 0, finish_reason: 'tool_calls' },
          message: { content: SAID, reasoning_content: THOUGHT, tool_calls: [chatCall()] },
        },
      ],
    },
  },
  {
    name: 'messages',
    decoder: (context) => new MessagesDecoder(context, () => 0),
    stream: [
      { type: 'message_start', message: { id: 'm', role: 'assistant', content: [] } },
      opening(0, { type: 'thinking', thinking: '' }),
      piece(0, { type: 'thinking_delta', thinking: THOUGHT }),
      { type: 'content_block_stop', index: 0 },
      opening(1, { type: 'text', text: '' }),
      piece(1, { type: 'text_delta', text: SAID }),
      { type: 'content_block_stop', index: 1 },
      opening(2, { type: 'tool_use', id: 't', name: 'f', input: {} }),
      piece(2, { type: 'input_json_delta', partial_json: JSON.stringify(ARGUMENTS) }),
      { type: 'content_block_stop', index: 2 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 7 } },
      { type: 'message_stop' },
    ],
    whole: {
      ...{ id: 'm', type: 'message', role: 'assistant', stop_reason: 'tool_use' },
      content: [
        { type: 'thinking', thinking: THOUGHT, signature: 'c2ln' },
        { type: 'text', text: SAID },
        { type: 'tool_use', id: 't', name: 'f', input: ARGUMENTS },
      ],
    },
  },
  {
    name: 'generate',
    decoder: (context) => new GenerateDecoder(context, () => 0),
    stream: [
      candidate([{ text: THOUGHT, thought: true }]),
      candidate([{ text: SAID }]),
      candidate([nativeCall]),
      candidate([{ text: '' }], { finishReason: 'STOP' }),
    ],
    whole: candidate([{ text: THOUGHT, thought: true }, { text: SAID }, nativeCall], {
      finishReason: 'STOP',
    }),
  },
];

const ODD_VALUES = [
  ...['null', 'true', '7', '-1', '1e400', '""', '"odd"', '[]', '["odd"]', '{}', '{"odd":1}'],
  ...[`${'['.repeat(150)}${']'.repeat(150)}`],
].map((text) => parseJson(text));

/** Every copy of a value in which one place holds something odd, is gone, or has a neighbour. */
function* oddCopies(value: JsonValue): Generator<JsonValue> {
  if (typeof value !== 'object' || value === null) return;
  const members = Object.entries(value);
  const rebuild = (entries: readonly (readonly [string, JsonValue])[]): JsonValue =>
    Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
  yield rebuild([...members, ['unknown_field', { odd: 1 }]]);
  for (const [at, [key, item]] of members.entries()) {
    yield rebuild(members.toSpliced(at, 1));
    for (const odd of ODD_VALUES) yield rebuild(members.with(at, [key, odd]));
    for (const copy of oddCopies(item)) yield rebuild(members.with(at, [key, copy]));
  }
}

function decode(wire: Wire, frames: readonly JsonObject[], change: Partial<DecodeContext>) {
  let ids = 0;
  const createId = (prefix: string): string => `${prefix}${++ids}`;
  const decoder = wire.decoder({ signatureFamily: 'own', createId, ...change });
  return [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end()];
}

/** A relayed stream shows the arguments of a call before it is known whether they are JSON. */
function isCallInPieces(last: CanonicalEvent | undefined, stream: boolean): boolean {
  return stream && last?.kind === 'error' && last.error.message.includes('tool call');
}

/** What the events say, and which kinds they name as left out. */
function toldBy(events: readonly CanonicalEvent[]): string {
  return events
    .map((event) => {
      if (event.kind === 'block-delta') {
        return event.delta.kind === 'arguments' ? event.delta.json : event.delta.text;
      }
      if (event.kind !== 'finish') return '';
      return event.choices.some(({ unsupportedKinds }) => unsupportedKinds) ? WORDS.join() : '';
    })
    .join('');
}

test.each(WIRES)('$name: an answer that ends well has lost nothing that was said', (wire) => {
  const lost: string[] = [];
  let [good, bad] = [0, 0];
  const look = (frames: readonly JsonValue[], stream: boolean): void => {
    const objects = frames.filter(isJsonObject);
    const [shown = [], relayed = []] = [false, true].map((passesParts) =>
      decode(wire, objects, { stream, passesParts }),
    );
    const last = shown.at(-1);
    if (!isCallInPieces(last, stream)) expect(relayed.at(-1)?.kind).toBe(last?.kind);
    if (last?.kind !== 'finish') {
      expect(last?.kind).toBe('error');
      bad += 1;
      return;
    }
    good += 1;
    const [text, told] = [JSON.stringify(frames), toldBy(shown)];
    for (const word of WORDS) if (text.includes(word) && !told.includes(word)) lost.push(text);
  };
  for (const copy of oddCopies([...wire.stream])) if (Array.isArray(copy)) look(copy, true);
  for (const copy of oddCopies(wire.whole)) look([copy], false);
  expect(lost.slice(0, 5)).toEqual([]);
  expect([good > 100, bad > 100]).toEqual([true, true]);
});
