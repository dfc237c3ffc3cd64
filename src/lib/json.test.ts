import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJsonObject, parseJson, parseSurveyed, readNumber } from './json.ts';
import { createJsonBudget } from './json-limits.ts';

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

test('a number at risk is kept however deep it lies', () => {
  const nested = (depth: number, value: string): string =>
    '{"a":['.repeat(depth) + value + ']}'.repeat(depth);
  for (const depth of [1, 60, 100]) {
    const text = nested(depth, '12345678901234567890');
    expect(JSON.stringify(parseJson(text))).toBe(text);
  }
  const deep = nested(200, '12345678901234567890');
  expect(JSON.stringify(parseSurveyed(deep, true))).toBe(deep);
});

test.each([
  ['depth', '['.repeat(201) + ']'.repeat(201)],
  ['depth', '{"a":'.repeat(201)],
  ['tokens', `[${'{},'.repeat(700_000)}0]`],
  ['key', `{"${'k'.repeat(1025)}":1}`],
  // Across the border of two pieces that are looked over.
  ['key', `{"a":"${'\u{1F600}'.repeat(32_764)}","${'k'.repeat(1025)}":1}`],
] as const)('text that goes over a limit is refused before it is parsed: %s', (excess, text) => {
  expect(() => parseJson(text)).toThrow(expect.objectContaining({ excess }));
  expect(() => parseJson(text)).toThrow(SyntaxError);
});

test('texts of one budget count together', () => {
  const text = `[${'{},'.repeat(300_000)}0]`;
  const budget = createJsonBudget();
  expect(parseJson(text, budget)).toHaveLength(300_001);
  parseJson(text, budget);
  expect(() => parseJson(text, budget)).toThrow(expect.objectContaining({ excess: 'tokens' }));
  expect(parseJson(text)).toHaveLength(300_001);
});

test('digits inside of texts leave the values plain', () => {
  expect(parseJson('{"id":"12345678901234567890","n":1}')).toEqual({
    id: '12345678901234567890',
    n: 1,
  });
});
