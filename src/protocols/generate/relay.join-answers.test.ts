import { expect, test } from 'vitest';
import type { JsonObject } from '../../lib/json.ts';
import { joinAnswers } from './relay.ts';

const piece = (parts: JsonObject[], rest: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...rest }],
});

test('a single answer is the upstream’s own object', () => {
  const answer = piece([{ text: 'a' }], { finishReason: 'STOP' });
  expect(joinAnswers([answer])).toBe(answer);
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
  expect(joinAnswers(pieces)).toEqual({
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
  expect(joinAnswers(pieces)).toEqual(
    piece([
      { text: 'one two ', thoughtSignature: 'S' },
      { text: 'three', thoughtSignature: 'T' },
    ]),
  );
});

test('several candidates are put together each for itself', () => {
  const at = (index: number, text: string) => piece([{ text }], { index });
  expect(joinAnswers([at(1, 'b'), at(0, 'a'), at(1, 'B')]).candidates).toEqual([
    { content: { role: 'model', parts: [{ text: 'a' }] }, index: 0 },
    { content: { role: 'model', parts: [{ text: 'bB' }] }, index: 1 },
  ]);
});
