import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Block,
  type Chunk,
  chunksOf,
  eventsOf,
  stream,
  unary,
} from './answers.test-support.ts';

const pieces = fc.array(fc.string({ maxLength: 6 }), { maxLength: 4 });
const signatures = fc.option(fc.string({ minLength: 1, maxLength: 3 }), { nil: undefined });
const blocks: fc.Arbitrary<Block> = fc.oneof(
  fc.record({ kind: fc.constantFrom('text' as const, 'thinking' as const), pieces }),
  fc
    .tuple(
      fc.dictionary(fc.string({ maxLength: 3 }), fc.string({ maxLength: 3 })),
      fc.nat(20),
      fc.record({ signature: signatures, lateSignature: signatures }),
    )
    .map(([input, cut, signed]): Block => {
      const json = JSON.stringify(input);
      const pieces = [json.slice(0, cut), json.slice(cut)];
      return { kind: 'call', id: 'c', name: 'w', json: pieces, ...signed };
    }),
  fc.constant<Block>({ kind: 'image', base64: 'AAAA' }),
  fc.constant<Block>({ kind: 'code', code: 'print("```")\n' }),
);

interface Taken {
  content: string;
  reasoning: string;
  images: unknown[];
  calls: { id: string; json: string; extra: unknown }[];
  finish: string | null;
}

/** What compatible servers add to the official delta. */
interface Extra {
  readonly reasoning_content?: string;
  readonly images?: readonly unknown[];
}

/** What a client that appends deltas holds in the end. */
function takeTogether(text: string): Taken[] {
  const choices: Taken[] = [];
  for (const { index, delta, finish_reason } of chunksOf(text).flatMap((c) => c.choices)) {
    choices[index] ??= { content: '', reasoning: '', images: [], calls: [], finish: null };
    const taken = choices[index];
    const extra: Extra & Chunk['choices'][0]['delta'] = delta;
    taken.content += delta.content ?? '';
    taken.reasoning += extra.reasoning_content ?? '';
    taken.images.push(...(extra.images ?? []));
    taken.finish = finish_reason ?? taken.finish;
    for (const call of delta.tool_calls ?? []) {
      taken.calls[call.index] ??= { id: call.id ?? '', json: '', extra: undefined };
      const known = taken.calls[call.index];
      if (known === undefined) continue;
      known.json += call.function?.arguments ?? '';
      if ('extra_content' in call) known.extra = call.extra_content;
    }
  }
  return choices;
}

test('a stream taken together is the unary answer', () => {
  const answers = fc.array(fc.array(blocks, { maxLength: 5 }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(answers, (choices) => {
      const events = eventsOf(choices);
      const expected = unary(events).choices.map(({ message, finish_reason }) => ({
        content: message.content ?? '',
        reasoning: message.reasoning_content ?? '',
        images: message.images ?? [],
        calls: (message.tool_calls ?? []).map((call) => ({
          id: call.id,
          json: call.type === 'function' ? call.function.arguments : '',
          extra: call.extra_content,
        })),
        finish: finish_reason,
      }));
      expect(takeTogether(stream(events))).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});
