import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CanonicalEvent } from '../../canonical/event.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { FrameReader } from '../../stream/sse.ts';
import { RepeatedTexts } from '../transport/repeated-texts.ts';
import { blocksOf, decode, frame, reply, stop } from './decode.test-support.ts';
import { GenerateDecoder } from './decode.ts';
import { findTextPart } from './plain-text.ts';

test('whatever a frame holds, the decoder answers with a legal sequence', () => {
  const json = fc
    .jsonValue({ maxDepth: 1 })
    .map((value): JsonValue => JSON.parse(JSON.stringify(value)));
  const keyed = fc.record(
    {
      candidates: fc.array(
        fc.record(
          {
            index: json,
            content: fc.record({ parts: fc.array(fc.dictionary(partKey, json), { maxLength: 4 }) }),
            finishReason: fc.constantFrom<JsonValue>('STOP', 'OTHER', 3, null),
            groundingMetadata: fc.dictionary(groundingKey, json),
          },
          { requiredKeys: [] },
        ),
        { maxLength: 3 },
      ),
      promptFeedback: json,
      usageMetadata: json,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(keyed, { maxLength: 4 }), (frames) =>
      expectLegal(decode(...(frames as JsonObject[]))),
    ),
    { numRuns: 100 },
  );
});

const partKey = fc.constantFrom(
  'text',
  'thought',
  'thoughtSignature',
  'functionCall',
  'inlineData',
  'executableCode',
  'codeExecutionResult',
);
const groundingKey = fc.constantFrom('webSearchQueries', 'groundingChunks', 'groundingSupports');

const anyPart = fc.oneof(
  fc.record({ text: fc.string() }),
  fc.record({ text: fc.string(), thought: fc.constant(true) }),
  fc.record({ text: fc.string(), thoughtSignature: fc.constantFrom('S', 'T') }),
  fc.record({ functionCall: fc.record({ name: fc.constantFrom('a', 'b'), id: fc.constant('c') }) }),
  fc.record({ inlineData: fc.record({ mimeType: fc.constant('image/png'), data: fc.string() }) }),
);

/** What the frames of a stream come to, with what was told of the usage meanwhile. */
function decodeStream(frames: readonly JsonObject[], passesOver: boolean) {
  let ids = 0;
  const createId = (prefix: string) => `${prefix}${++ids}`;
  const decoder = new GenerateDecoder({ signatureFamily: 'alpha', createId }, () => 0);
  const reader = new FrameReader({
    maxFrameBytes: 1_048_576,
    memory: new RepeatedTexts(findTextPart),
  });
  const events: CanonicalEvent[] = [];
  const usages: unknown[] = [];
  let passed = 0;
  const text = frames.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('');
  for (const [index, one] of reader.push(Buffer.from(text)).entries()) {
    const repeated = passesOver ? decoder.repeat?.(one) : undefined;
    if (repeated !== undefined) passed += 1;
    events.push(...(repeated ?? decoder.push(one.value)));
    if (index % 2 === 0) usages.push(decoder.usage);
  }
  return { answer: { events: JSON.stringify([...events, ...decoder.end()]), usages }, passed };
}

test('an answer is the same whether frames that repeat others are read or not', () => {
  const candidate = fc.record<JsonObject>(
    { index: fc.constantFrom(0, 1), safetyRatings: fc.constant([]), avgLogprobs: fc.constant(-1) },
    { requiredKeys: [] },
  );
  const usageMetadata = fc.record({ candidatesTokenCount: fc.nat(3), x: fc.constant(7) });
  const run = fc.record({
    parts: fc.array(fc.oneof({ weight: 3, arbitrary: fc.record({ text: fc.string() }) }, anyPart), {
      minLength: 1,
      maxLength: 3,
    }),
    candidate: fc.oneof(fc.constant({}), candidate),
    rest: fc.constantFrom({}, { modelVersion: 'm' }),
  });
  const runs = fc.array(fc.tuple(run, fc.option(usageMetadata)), { maxLength: 6 });
  let passed = 0;
  fc.assert(
    fc.property(runs, (given) => {
      const frames = given.flatMap(([{ parts, candidate, rest }, counts]) =>
        parts.map((part) => ({
          ...frame([part], candidate),
          ...(counts === null ? rest : { ...rest, usageMetadata: counts }),
        })),
      );
      frames.push(stop());
      const short = decodeStream(frames, true);
      passed += short.passed;
      expect(short.answer).toEqual(decodeStream(frames, false).answer);
    }),
  );
  expect(passed).toBeGreaterThan(50);
});

test('fold(stream) equals fold(unary), however the parts are spread over frames', () => {
  fc.assert(
    fc.property(fc.array(anyPart, { maxLength: 8 }), fc.func(fc.boolean()), (parts, cutsBefore) => {
      const frames: JsonObject[][] = [[]];
      for (const part of parts) {
        if (cutsBefore(part)) frames.push([]);
        frames.at(-1)?.push(part as JsonObject);
      }
      const closing = frame([{ text: '!' }], { finishReason: 'STOP' });
      const whole = frame([...(parts as JsonObject[]), { text: '!' }], { finishReason: 'STOP' });
      expect(reply(...frames.map((some) => frame(some)), closing)).toEqual(reply(whole));
    }),
    { numRuns: 200 },
  );
});

test('any chunking of a text gives the same answer', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1 }), (pieces) => {
      const frames = pieces.map((text) => frame([{ text }]));
      const [block] = blocksOf(...frames, stop([{ text: '.' }])) ?? [];
      expect(block).toEqual({ kind: 'text', text: `${pieces.join('')}.` });
    }),
  );
});

/** Blocks balance, indices rise, one block a choice is open, and one last event ends it all. */
function expectLegal(events: readonly CanonicalEvent[]): void {
  const openChoices = new Map<number, number>();
  let next = 0;
  events.forEach((event, at) => {
    if (event.kind === 'block-start') {
      expect(event.index).toBe(next++);
      expect([...openChoices.values()]).not.toContain(event.choice);
      openChoices.set(event.index, event.choice);
    }
    if (event.kind === 'block-delta') expect(openChoices.has(event.index)).toBe(true);
    if (event.kind === 'block-end') expect(openChoices.delete(event.index)).toBe(true);
    const isLast = event.kind === 'finish' || event.kind === 'error';
    expect(isLast).toBe(at === events.length - 1);
  });
  expect(openChoices.size).toBe(0);
}
