import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CanonicalEvent } from '../../canonical/event.ts';
import type { JsonObject, JsonValue } from '../../lib/json.ts';
import { FrameReader } from '../../stream/sse.ts';
import { chunk, decode, reply, stop, whole } from './decode.test-support.ts';

// Cut behind its first quote, an object that begins with the name "{" reads like one that is said again.
const key = fc.string().filter((name) => name !== '{');
const input = fc.dictionary(key, fc.oneof(fc.string(), fc.integer(), fc.boolean()));
const calls = fc.array(fc.record({ name: fc.constantFrom('f', 'g'), input }), { maxLength: 3 });
const cuts = fc.array(fc.nat(12), { maxLength: 30 });

/** A text in pieces of these lengths, and what is left. */
function pieces(text: string, lengths: number[]): string[] {
  const cut: string[] = [];
  let rest = text;
  while (rest !== '') {
    const length = Math.max(1, lengths.shift() ?? rest.length);
    cut.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return cut;
}

test('any way of cutting an answer into chunks gives the same as the whole of it', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.string({ minLength: 1 }),
      calls,
      cuts,
      (thought, text, made, lengths) => {
        const tool_calls = made.map(({ name, input: args }, at) => ({
          id: `c${at}`,
          type: 'function',
          function: { name, arguments: JSON.stringify(args) },
        }));
        const message: JsonObject = { content: text, reasoning_content: thought };
        if (tool_calls.length > 0) message.tool_calls = tool_calls;
        const streamed = [
          ...pieces(thought, lengths).map((reasoning_content) => chunk({ reasoning_content })),
          ...pieces(text, lengths).map((content) => chunk({ content })),
          ...tool_calls.flatMap(({ id, type, function: { name, arguments: json } }, index) => [
            chunk({ tool_calls: [{ index, id, type, function: { name, arguments: '' } }] }),
            ...pieces(json, lengths).map((one) =>
              chunk({ tool_calls: [{ index, function: { arguments: one } }] }),
            ),
          ]),
          stop(),
        ];
        expect(reply(...streamed)).toEqual(reply(whole(message)));
      },
    ),
  );
});

test('any split of the bytes gives the same events', () => {
  const frames = [
    chunk({ reasoning: 'hm é😀' }),
    chunk({ content: 'A' }),
    chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":"é"}' } }] }),
    stop('tool_calls'),
    { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } },
  ];
  const bytes = Buffer.from(
    `${frames.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(': ping\n\n')}data: [DONE]\n\n`,
  );
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 20 }), (places) => {
      const reader = new FrameReader({ maxFrameBytes: 1_000_000 });
      const borders = [0, ...places.toSorted((a, b) => a - b), bytes.length];
      const read = borders.flatMap((from, at) =>
        reader.push(bytes.subarray(from, borders[at + 1])),
      );
      const values = [...read, ...reader.end()].map(({ value }) => value);
      expect(decode(...values)).toEqual(decode(...frames));
    }),
  );
});

const json = fc
  .jsonValue({ maxDepth: 2 })
  .map((value): JsonValue => JSON.parse(JSON.stringify(value)));
const fields = fc.constantFrom(
  ...['content', 'reasoning_content', 'reasoning', 'reasoning_details', 'refusal', 'images'],
  ...['tool_calls', 'function_call', 'audio', 'annotations', 'role'],
);

test('whatever a chunk holds, the decoder answers with a legal sequence', () => {
  const call = fc.record(
    {
      index: json,
      id: json,
      function: fc.record({ name: json, arguments: json }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  );
  const delta = fc.oneof(fc.dictionary(fields, json), fc.record({ tool_calls: fc.array(call) }));
  const frame = fc.record(
    {
      choices: fc.array(
        fc.record(
          {
            index: json,
            delta,
            finish_reason: fc.constantFrom<JsonValue>('stop', 'length', null, 3),
            logprobs: json,
          },
          { requiredKeys: [] },
        ),
        { maxLength: 3 },
      ),
      usage: json,
      error: fc.constantFrom<JsonValue>(null, null, null, 'x'),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 5 }), (frames) =>
      expectLegal(decode(...(frames as JsonObject[]))),
    ),
    { numRuns: 300 },
  );
});

/** Blocks balance, indices rise, one block a choice is open, and one last event ends it all. */
function expectLegal(events: readonly CanonicalEvent[]): void {
  const open = new Map<number, number>();
  let next = 0;
  for (const [at, event] of events.entries()) {
    if (event.kind === 'block-start') {
      expect(event.index).toBe(next++);
      expect([...open.values()]).not.toContain(event.choice);
      open.set(event.index, event.choice);
    }
    if (event.kind === 'block-delta') expect(open.has(event.index)).toBe(true);
    if (event.kind === 'block-end') expect(open.delete(event.index)).toBe(true);
    const isLast = event.kind === 'finish' || event.kind === 'error';
    expect(isLast).toBe(at === events.length - 1);
  }
  expect(open.size).toBe(0);
}
