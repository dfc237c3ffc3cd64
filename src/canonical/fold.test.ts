import { expect, test } from 'vitest';
import { GatewayError } from './error.ts';
import type { CanonicalEvent } from './event.ts';
import { fold } from './fold.ts';
import { NO_USAGE } from './usage.ts';

const end: CanonicalEvent = { kind: 'finish', choices: [{ choice: 0, reason: 'stop' }] };

test('deltas are joined per block, signatures and grounding find their place', () => {
  const reply = fold([
    { kind: 'start', modelVersion: 'v' },
    { kind: 'block-start', index: 0, choice: 0, block: { kind: 'thinking' } },
    { kind: 'block-delta', index: 0, delta: { kind: 'thinking', text: 'h' } },
    { kind: 'block-delta', index: 0, delta: { kind: 'thinking', text: 'm' } },
    { kind: 'block-end', index: 0, signature: { value: 'S' } },
    { kind: 'block-start', index: 1, choice: 0, block: { kind: 'tool-call', id: 'c', name: 'n' } },
    {
      kind: 'block-delta',
      index: 1,
      delta: { kind: 'arguments', json: '{"big":12345678901234567890' },
    },
    { kind: 'block-delta', index: 1, delta: { kind: 'arguments', json: '}' } },
    { kind: 'block-end', index: 1 },
    { kind: 'usage', usage: { ...NO_USAGE, answerTokens: 2 } },
    end,
  ]);
  expect(reply.choices[0]?.blocks).toMatchObject([
    { kind: 'thinking', text: 'hm', signature: { value: 'S' } },
    { kind: 'tool-call', id: 'c', name: 'n' },
  ]);
  const call = reply.choices[0]?.blocks[1];
  expect(JSON.stringify(call?.kind === 'tool-call' && call.input)).toBe(
    '{"big":12345678901234567890}',
  );
  expect(reply.usage.answerTokens).toBe(2);
});

test('an error event is thrown, a sequence without end is a bug', () => {
  const error = new GatewayError({ kind: 'overloaded', source: 'upstream', message: 'm' });
  expect(() => fold([{ kind: 'error', error }])).toThrow(error);
  expect(() => fold([{ kind: 'start' }])).toThrow(/without finish/);
});

test('the signature of a picture stays with it', () => {
  const block = { kind: 'media', mediaType: 'image/png', base64: 'AAAA' } as const;
  const reply = fold([
    { kind: 'block-start', index: 0, choice: 0, block },
    { kind: 'block-end', index: 0, signature: { value: 'S', on: 'media' } },
    end,
  ]);
  expect(reply.choices[0]?.blocks).toEqual([{ ...block, signature: { value: 'S', on: 'media' } }]);
});
