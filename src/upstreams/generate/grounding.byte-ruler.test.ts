import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteRuler } from './grounding.ts';

test('places are those of the bytes, in any order they are asked for', () => {
  const text = fc
    .array(fc.constantFrom('a', 'é', '日', '😀'), { minLength: 1, maxLength: 60 })
    .map((characters) => characters.join('').repeat(60));
  fc.assert(
    fc.property(text, fc.array(fc.nat(8000), { maxLength: 20 }), (given, places) => {
      const ruler = new ByteRuler(given);
      for (const units of places) {
        const before = given.slice(0, units).replace(/[\ud800-\udbff]$/u, '');
        expect(ruler.unitsIn(Buffer.byteLength(before))).toBe(before.length);
      }
    }),
    { numRuns: 50 },
  );
});

test('a character that is cut counts, and nothing is behind the end', () => {
  const ruler = new ByteRuler('a日😀');
  expect([0, 1, 2, 3, 4, 5, 8, 9, -1].map((bytes) => ruler.unitsIn(bytes))).toEqual([
    0, 1, 2, 2, 2, 4, 4, 4, 0,
  ]);
});
