import { expect, test } from 'vitest';
import { type JsonValue, parseJson } from '../lib/json.ts';
import {
  ANYTHING,
  BOOLEAN,
  checkShape,
  FREE,
  listOf,
  needed,
  numberIn,
  objectOf,
  STRING,
  taggedShape,
  textOr,
  textOrListOf,
} from './body-schema.ts';

const part = taggedShape('type', {
  text: objectOf({ text: STRING }, ['type']),
  image: objectOf({ source: objectOf({ url: STRING }) }, ['type']),
});
const shape = objectOf({ parts: textOrListOf(part), on: BOOLEAN }, ['model', 'metadata']);

const unknownIn = (value: JsonValue) => checkShape(value, shape, () => new Error()).unknown;

const faultOf = (value: JsonValue | undefined, of: Parameters<typeof checkShape>[1]): string => {
  try {
    checkShape(value, of, ({ path, shape: { kind } }) => new Error(`${path}: ${kind}`));
    return 'none';
  } catch (error) {
    return String(error);
  }
};

test('unknown fields are found at any depth, in lists and in single objects', () => {
  expect(
    unknownIn({
      model: 'm',
      parts: [
        { type: 'text', text: 'a' },
        { type: 'text', tone: 'dry' },
        { type: 'image', source: { url: 'u', size: 1 }, alt: 'x' },
      ],
      mode: 'fast',
    }),
  ).toEqual(['parts[1].tone', 'parts[2].source.size', 'parts[2].alt', 'mode']);
});

test('fields that say nothing, free objects and kinds nobody knows are left alone', () => {
  expect(
    unknownIn({
      metadata: { any: { thing: 1 } },
      seen: false,
      hints: [],
      // LiteLLM puts the nulls of an answer into such an object and sends it back with the message.
      provider_specific_fields: { refusal: null, details: { images: [] } },
      parts: [
        { type: 'new', anything: 1 },
        { type: 'text', cited: null },
      ],
    }),
  ).toBeUndefined();
  expect(checkShape({ any: 1 }, ANYTHING, () => new Error()).unknown).toBeUndefined();
});

test('null means absent, also of a field that is needed', () => {
  expect(faultOf({ on: null, parts: null }, shape)).toBe('none');
  expect(faultOf({ a: null }, objectOf({ a: needed(STRING) }))).toBe('Error: a: string');
});

test('a value of another type is refused with its path', () => {
  expect(faultOf({ on: 'yes' }, shape)).toBe('Error: on: boolean');
  expect(faultOf({ parts: [{ type: 'text', text: 1 }] }, shape)).toBe(
    'Error: parts.0.text: string',
  );
  expect(faultOf({ parts: [{}] }, shape)).toBe('Error: parts.0.type: string');
  expect(faultOf({ parts: 1 }, shape)).toBe('Error: parts: list');
  expect(faultOf({ a: [] }, objectOf({ a: FREE }))).toBe('Error: a: free');
  expect(faultOf({ a: 'x' }, objectOf({ a: listOf(STRING) }))).toBe('Error: a: list');
  expect(faultOf('text', textOr(objectOf({})))).toBe('none');
  expect(faultOf(1, textOr(objectOf({})))).toBe('Error: : object');
});

test('numbers are finite, inside their range, and integers exact', () => {
  const isIn = (text: string, range: Parameters<typeof numberIn>[0]) =>
    faultOf(parseJson(text), numberIn(range)) === 'none';
  const range = { min: 1, max: 1e300, integer: true };
  expect(isIn('1', range)).toBe(true);
  for (const text of ['"1"', '1e999', '0', '1e301', '1.5', '12345678901234567890']) {
    expect(isIn(text, range)).toBe(false);
  }
  expect(isIn('1e999', {})).toBe(false);
});
