import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createStopMatcher } from './stop-sequences.ts';

const short = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 5 });
const stopLists = fc.array(short, { minLength: 1, maxLength: 5 });
const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 40 });

/** The plain reading: the least end of any occurrence, the longest stop of those. */
function searchPlainly(text: string, stops: readonly string[]) {
  for (let end = 1; end <= text.length; end += 1) {
    const found = stops
      .filter((stop) => text.slice(0, end).endsWith(stop))
      .sort((left, right) => right.length - left.length)[0];
    if (found !== undefined) return { stop: found, end };
  }
  return undefined;
}

test('it finds what a plain search finds', () => {
  fc.assert(
    fc.property(texts, stopLists, (text, stops) => {
      expect(createStopMatcher(stops).push(text)).toEqual(searchPlainly(text, stops));
    }),
    { numRuns: 1000 },
  );
});

test('pending is the longest end of the text that begins a stop', () => {
  fc.assert(
    fc.property(texts, stopLists, (text, stops) => {
      const matcher = createStopMatcher(stops);
      fc.pre(matcher.push(text) === undefined);
      const longest = stops.flatMap((stop) =>
        Array.from({ length: stop.length }, (_, length) => stop.slice(0, length)),
      );
      const lengths = longest.filter((part) => text.endsWith(part)).map((part) => part.length);
      expect(matcher.pending).toBe(Math.max(0, ...lengths));
    }),
    { numRuns: 1000 },
  );
});

test('after a reset the text before does not count', () => {
  const matcher = createStopMatcher(['END']);
  expect(matcher.push('EN')).toBeUndefined();
  matcher.reset();
  expect(matcher.push('D')).toBeUndefined();
});
