import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJsonObject, parseJson, readNumber } from './json.ts';

test.each([
  '{"id":12345678901234567890}',
  '[1e999,-0,0.1234567890123456789]',
  '{"__proto__":{"x":1},"constructor":1}',
  '[1.5,2,-3,0,1e5]',
])('%s is written back with the same values', (text) => {
  const again = JSON.stringify(parseJson(text));
  expect(again.replaceAll('100000', '1e5')).toBe(text);
});

test('every JSON document keeps its meaning', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const plain = JSON.parse(text);
      expect(JSON.parse(JSON.stringify(parseJson(text)))).toEqual(
        JSON.parse(JSON.stringify(plain)),
      );
    }),
  );
});

test('raw numbers are numbers, not objects', () => {
  const value = parseJson('12345678901234567890');
  expect(isJsonObject(value)).toBe(false);
  expect(readNumber(value)).toBe(12345678901234567000);
});

test('a number at risk is kept however deep it lies, and depth alone breaks nothing', () => {
  const nested = (depth: number, value: string): string =>
    '{"a":['.repeat(depth) + value + ']}'.repeat(depth);
  for (const depth of [1, 60, 200]) {
    const text = nested(depth, '12345678901234567890');
    expect(JSON.stringify(parseJson(text))).toBe(text);
  }
  expect(() => parseJson('['.repeat(100_000) + ']'.repeat(100_000))).not.toThrow();
});

test('digits inside of texts leave the values plain', () => {
  expect(parseJson('{"id":"12345678901234567890","n":1}')).toEqual({
    id: '12345678901234567890',
    n: 1,
  });
});
