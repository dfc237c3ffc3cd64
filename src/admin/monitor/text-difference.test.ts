import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findDifferences } from './text-difference.ts';

test('lines that stay, go and come are told apart', () => {
  expect(findDifferences('a\nb\nc\nd', 'a\nx\nc\nd')).toEqual([
    { kind: 'same', text: 'a' },
    { kind: 'removed', text: 'b' },
    { kind: 'added', text: 'x' },
    { kind: 'same', text: 'c\nd' },
  ]);
  expect(findDifferences('a', 'a')).toEqual([{ kind: 'same', text: 'a' }]);
});

test('put together they are both texts again', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1 })
    .map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const found = findDifferences(before, after);
      const without = (kind: string): string =>
        found
          .filter((one) => one.kind !== kind)
          .map((one) => one.text)
          .join('\n');
      expect(without('added')).toBe(before);
      expect(without('removed')).toBe(after);
    }),
    { numRuns: 200 },
  );
});

test('texts of many thousand lines take no long time', () => {
  const lines = (word: string): string =>
    Array.from({ length: 20_000 }, (_, at) => `${word}${at}`).join('\n');
  expect(findDifferences(lines('a'), lines('b'))).toHaveLength(2);
});
