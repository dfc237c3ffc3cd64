import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareWildcards, createWildcard, foldCase } from './names.ts';

function matches(pattern: string, name: string): boolean {
  return createWildcard(pattern).matches(foldCase(name));
}

test.each([
  ['gpt*', 'gpt-4', true],
  ['gpt*', 'my-gpt', false],
  ['*', '', true],
  ['', '', true],
  ['', 'a', false],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['ab*ba', 'aba', false],
  ['*ab*ab*', 'abab', true],
  ['*ab*ab*', 'aab', false],
  ['**x**', 'x', true],
  ['GPT-4*', 'gpt-4O', true],
  ['a.c', 'abc', false],
])('%s over %s is %s', (pattern, name, expected) => {
  expect(matches(pattern, name)).toBe(expected);
});

test('agrees with a naive matcher on all small cases', () => {
  const letters = fc.array(fc.constantFrom('a', 'b', '*'), { maxLength: 6 });
  const name = fc.array(fc.constantFrom('a', 'b'), { maxLength: 8 });
  fc.assert(
    fc.property(letters, name, (pattern, text) => {
      expect(matches(pattern.join(''), text.join(''))).toBe(naive(pattern, text));
    }),
    { numRuns: 2000 },
  );
});

test('order is total and deterministic: literals, then stars, then code points', () => {
  const order = ['a*', '*a', 'ab*', 'a**', '*'].map(createWildcard).sort(compareWildcards);
  expect(order.map(({ pattern }) => pattern)).toEqual(['ab*', '*a', 'a*', 'a**', '*']);
});

test('a pattern over the length cap matches nothing', () => {
  expect(matches(`${'a'.repeat(256)}*`, 'a'.repeat(300))).toBe(false);
});

test('1,000 hostile patterns over a 256-character name stay within the budget (T18, S20)', () => {
  const name = 'a'.repeat(256);
  const patterns = Array.from({ length: 1000 }, (_, index) => {
    const part = 'a'.repeat(1 + (index % 7));
    return createWildcard(`${`${part}*`.repeat(28).slice(0, 250)}b*a`);
  });
  for (const each of patterns) each.matches(name);
  const before = process.threadCpuUsage();
  for (let turn = 0; turn < 10; turn += 1) for (const each of patterns) each.matches(name);
  const { user, system } = process.threadCpuUsage(before);
  // Microseconds of processor time for all of them once; the limit is 5 ms.
  expect((user + system) / 10).toBeLessThan(5_000);
});

function naive(pattern: readonly string[], text: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return text.length === 0;
  if (first === '*') {
    return naive(rest, text) || (text.length > 0 && naive(pattern, text.slice(1)));
  }
  return text[0] === first && naive(rest, text.slice(1));
}
