import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareLines } from './difference.ts';

test('lines that stay, go and come are told apart', () => {
  expect(compareLines(['a', 'b', 'c', 'd'], ['a', 'x', 'c', 'd'])).toEqual([
    { kind: 'same', text: 'a' },
    { kind: 'removed', text: 'b' },
    { kind: 'added', text: 'x' },
    { kind: 'same', text: 'c' },
    { kind: 'same', text: 'd' },
  ]);
  expect(compareLines(['a'], ['a'])).toEqual([{ kind: 'same', text: 'a' }]);
});

test('put together they are both texts again', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''));
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const found = compareLines(before, after);
      const without = (kind: string) =>
        found.filter((one) => one.kind !== kind).map((one) => one.text);
      expect(without('added')).toEqual(before);
      expect(without('removed')).toEqual(after);
    }),
    { numRuns: 200 },
  );
});

test('texts of many thousand lines take no long time', () => {
  const lines = (word: string) => Array.from({ length: 20_000 }, (_, at) => `${word}${at}`);
  expect(compareLines(lines('a'), lines('b'))).toHaveLength(40_000);
});
