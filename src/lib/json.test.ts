import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isJsonObject,
  isRawNumber,
  JSON_BUDGET,
  parseJson,
  parseSurveyed,
  readNumber,
} from './json.ts';

test.each([
  '{"id":12345678901234567890}',
  '[1e999,-0,0.1234567890123456789]',
  '{"__proto__":{"x":1},"constructor":1}',
  '[1.5,2,-3,0,1e5]',
])('%s is written back with the same values', (text) => {
  const again = JSON.stringify(parseJson(text));
  expect(again.replaceAll('100000', '1e5')).toBe(text);
});

test('a number that a double holds is plain, however others write it', () => {
  const numbers = ['3.319999933242798', '-1.1920928955078125e-07', '-3.6954811548704295e-05'];
  const others = ['1.7976931348623157E+308', '0.30000000000000004000', '-0.1', '5'];
  const texts = [...numbers, ...others];
  expect(parseJson(`[${texts.join(', ')}]`)).toEqual(texts.map(Number));
  for (const lost of ['0.33333333333333334', '10e308', '-0', '12345678901234567890']) {
    const text = `[${[...numbers, lost, ...numbers]}]`;
    const value = parseJson(text) as unknown[];
    expect(value.map(isRawNumber)).toEqual(
      [...numbers, lost, ...numbers].map((one) => one === lost),
    );
    expect(JSON.stringify(value[numbers.length])).toBe(lost);
  }
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      fc.pre(!Object.is(number, -0));
      expect(parseJson(`{"a":${number.toExponential()}}`)).toEqual({ a: number });
    }),
  );
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

test('a key that is written with an escape is never read as one of a text before', () => {
  const padding = ' '.repeat(250);
  for (const pad of ['', padding]) {
    for (const first of ['\\\\', '\\t', 'k\\n', 'k\\\\']) {
      for (const second of ['\\"', '\\n', 'k\\t', 'k\\"', 'k\\u0041']) {
        const member = (key: string) => `{"a":1,${pad}"${key}":1}`;
        parseJson(member(first));
        const keys = ['a', JSON.parse(`"${second}"`)];
        expect(Object.keys(parseJson(member(second)) as object)).toEqual(keys);
      }
    }
  }
});

test('a document with escaped keys keeps its meaning', () => {
  const text =
    '{ "__proto__" : {"\\u005f_proto__":[1, -0,2.50 ,{}, []]},"\\"":"a\\\\","\\\\":"\\\\\\"","n":12345678901234567890,"\\u006e":1e2, "b":[true,false,null,"]"] }';
  const value = parseJson(text);
  expect(JSON.stringify(value)).toBe(
    '{"__proto__":{"__proto__":[1,-0,2.5,{},[]]},"\\"":"a\\\\","\\\\":"\\\\\\"","n":100,"b":[true,false,null,"]"]}',
  );
  fc.assert(
    fc.property(fc.json(), fc.string({ unit: 'binary-ascii', minLength: 1 }), (inner, key) => {
      const units = Array.from(
        key,
        (_, at) => `\\u${key.charCodeAt(at).toString(16).padStart(4, '0')}`,
      );
      const escaped = `{"${units.join('')}":${inner}}`;
      expect(JSON.stringify(parseJson(escaped))).toBe(
        `{${JSON.stringify(key)}:${JSON.stringify(parseJson(inner))}}`,
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
  expect(
    JSON.stringify(parseSurveyed(deep, { mayHoldRiskyNumber: true, mayHoldEscapedKey: false })),
  ).toBe(deep);
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
  const budget = { ...JSON_BUDGET };
  expect(parseJson(text, budget)).toHaveLength(300_001);
  parseJson(text, budget);
  expect(() => parseJson(text, budget)).toThrow(expect.objectContaining({ excess: 'tokens' }));
  expect(parseJson(text)).toHaveLength(300_001);
  const keyed = (from: number): string =>
    `[${Array.from({ length: 70_000 }, (_, at) => `{"k${from + at}":1}`).join(',')}]`;
  const keys = { ...JSON_BUDGET };
  for (let count = 0; count < 3; count++) parseJson(keyed(0), keys);
  expect(() => parseJson(keyed(70_000), keys)).toThrow(expect.objectContaining({ excess: 'keys' }));
});

test('digits inside of texts leave the values plain', () => {
  expect(parseJson('{"id":"12345678901234567890","n":1}')).toEqual({
    id: '12345678901234567890',
    n: 1,
  });
});

test('numbers of any length are kept among values and white space of every kind', () => {
  const number = fc.constantFrom('-0', '1e999', '12345678901234567890', '0.12345678901234567891');
  const { value } = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      number,
      fc.constantFrom('true', 'false', 'null', '1.5', '"a\\n\\"b"', '""', '[]', '{}'),
      fc.array(tie('value')).map((items) => `[${items.join(',')}]`),
      fc
        .array(tie('value'), { maxLength: 3 })
        .map((items) => `{${items.map((item, at) => `"k${at}":${item}`).join(',')}}`),
    ),
  }));
  fc.assert(
    fc.property(value, number, fc.constantFrom('', ' ', '\n\t \r'), (item, last, space) => {
      const text = `[${item},${last}]`;
      const spaced = text.replaceAll(/[[\]{},:]/g, (mark) => `${space}${mark}${space}`);
      expect(JSON.stringify(parseJson(spaced))).toBe(text);
    }),
  );
});
