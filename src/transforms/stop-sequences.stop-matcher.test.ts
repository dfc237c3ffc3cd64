import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CanonicalEvent } from '../canonical/event.ts';
import { StopCutter } from './stop-sequences.ts';

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

const textIn = (events: readonly CanonicalEvent[]): string =>
  events
    .map((event) => (event.kind === 'block-delta' && 'text' in event.delta ? event.delta.text : ''))
    .join('');

/** What is shown of one text while more may come, and of all of it. */
function cut(text: string, stops: readonly string[]) {
  const cutter = new StopCutter(stops);
  const first = textIn(
    cutter.cut([
      { kind: 'block-start', index: 0, choice: 0, block: { kind: 'text' } },
      { kind: 'block-delta', index: 0, delta: { kind: 'text', text } },
    ]),
  );
  const isCut = cutter.isDone;
  const end = cutter.cut([
    { kind: 'block-end', index: 0 },
    { kind: 'finish', choices: [{ choice: 0, reason: 'stop' }] },
  ]);
  const last = end.at(-1);
  const stop = last?.kind === 'finish' ? last.choices[0]?.stopSequence : undefined;
  return { first, all: first + textIn(end), isCut, stop };
}

test('it finds what a plain search finds', () => {
  fc.assert(
    fc.property(texts, stopLists, (text, stops) => {
      const found = searchPlainly(text, stops);
      const { all, isCut, stop } = cut(text, stops);
      expect([isCut, stop]).toEqual([found !== undefined, found?.stop]);
      expect(all).toBe(found === undefined ? text : text.slice(0, found.end - found.stop.length));
    }),
    { numRuns: 1000 },
  );
});

test('what is held back is the longest end of the text that begins a stop', () => {
  fc.assert(
    fc.property(texts, stopLists, (text, stops) => {
      const { first, isCut } = cut(text, stops);
      fc.pre(!isCut);
      const longest = stops.flatMap((stop) =>
        Array.from({ length: stop.length }, (_, length) => stop.slice(0, length)),
      );
      const lengths = longest.filter((part) => text.endsWith(part)).map((part) => part.length);
      expect(text.length - first.length).toBe(Math.max(0, ...lengths));
    }),
    { numRuns: 1000 },
  );
});
