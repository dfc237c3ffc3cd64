import { expect, test } from 'vitest';
import { memberPath } from '../canonical/receipt.ts';
import { parseJson } from '../lib/json.ts';
import { createFieldReader } from './body-schema.ts';

const fields = createFieldReader({
  wrongType: (path, expected) => new Error(`${path}: ${expected}`),
  wrongNumber: (path, fault) => new Error(`${path}: ${fault}`),
});

test('null means absent in every reader', () => {
  const body = { a: null };
  for (const read of [fields.string, fields.boolean, fields.object, fields.array]) {
    expect(read(body, 'a')).toBeUndefined();
    expect(read(body, 'b')).toBeUndefined();
  }
  expect(fields.number(null, 'a', {})).toBeUndefined();
});

test('a value of another type is refused with its path', () => {
  const body = { a: 1 };
  expect(() => fields.string(body, 'a')).toThrow('a: string');
  expect(() => fields.boolean(body, 'a', 'top')).toThrow('top.a: boolean');
  expect(() => fields.object({ a: [] }, 'a')).toThrow('a: object');
  expect(() => fields.array({ a: {} }, 'a', memberPath('x[0]', 'y'))).toThrow('x[0].y.a: array');
});

test('numbers are finite, inside their range, and integers exact', () => {
  const range = { min: 1, max: 1e300, integer: true };
  const read = (text: string) => fields.number(parseJson(text), 'n', range);
  expect(read('1')).toBe(1);
  expect(() => read('"1"')).toThrow('not-a-number');
  expect(() => read('1e999')).toThrow('too-large');
  expect(() => fields.number(parseJson('1e999'), 'n', {})).toThrow('not-a-number');
  expect(() => read('0')).toThrow('too-small');
  expect(() => read('1e301')).toThrow('too-large');
  expect(() => read('1.5')).toThrow('not-an-integer');
  expect(() => read('12345678901234567890')).toThrow('not-an-integer');
});
