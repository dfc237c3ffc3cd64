import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CanonicalEvent } from '../../canonical/event.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { blocksOf, decode, frame, reply, stop } from './decode.test-support.ts';

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
