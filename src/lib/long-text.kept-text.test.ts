import { expect, test } from 'vitest';
import { KeptText } from './long-text.ts';

function keepInPieces(text: string, length: number, most?: number): KeptText {
  const kept = new KeptText(most);
  for (let at = 0; at < text.length; at += length) kept.add(text.slice(at, at + length));
  return kept;
}

const text = `${'plain '.repeat(10_000)}${'wörtlich 😀 '.repeat(10_000)}`;

test.each([1, 7, 16_384, 1_000_000])('gives the text it was given in pieces of %d', (length) => {
  const kept = keepInPieces(text, length);
  expect(kept.toString()).toBe(text);
  expect(kept.length).toBe(text.length);
});

test('keeps the beginning where it may not keep all, and counts the rest', () => {
  const kept = keepInPieces(text, 7, 20_000);
  expect(kept.toString()).toBe(text.slice(0, 20_000));
  expect(kept.length).toBe(text.length);
});
