// What is told in words of values that nothing declares: maps, patterns, what a list contains, what must not be.

import { expect, test } from 'vitest';
import { createReceipt } from '../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { toToolInput } from './tool-schema.ts';

const DEFINITIONS: JsonObject = {
  Server: {
    type: 'object',
    properties: {
      command: { type: 'string' },
      args: { type: 'array', items: { type: 'string' } },
      env: { type: 'object', additionalProperties: { type: 'string' } },
    },
    required: ['command'],
  },
  Point: {
    allOf: [{ $ref: '#/$defs/Named' }],
    properties: { x: { type: 'number' }, y: { type: ['number', 'null'] } },
    required: ['x'],
  },
  Named: { type: 'object', properties: { name: { $ref: '#/$defs/Name' } } },
  Name: { enum: ['a', 'b'] },
  Node: {
    type: 'object',
    properties: { up: { $ref: '#/$defs/Node' }, at: { $ref: '#/$defs/Name' } },
  },
};

/** What the description of the property `x` says beside its own words. */
function wordsOf(schema: JsonValue): JsonValue | undefined {
  const { parameters } = toToolInput(
    {
      type: 'object',
      properties: { x: schema, other: { type: 'string' } },
      $defs: DEFINITIONS,
    },
    { receipt: createReceipt(), path: 'input_schema' },
  );
  const properties = isJsonObject(parameters?.properties) ? parameters.properties : {};
  return isJsonObject(properties.x) ? properties.x.description : undefined;
}

const mapOf = (values: JsonObject): JsonObject => ({
  type: 'object',
  additionalProperties: values,
});

test.each<[string, JsonObject, string]>([
  [
    'what a reference leads to',
    { $ref: '#/$defs/Server' },
    'object {command: string, args?: array of string, env?: object (values: string)}',
  ],
  [
    'all that holds together',
    { $ref: '#/$defs/Point' },
    'object {name?: one of "a", "b", x: number, y?: number or null}',
  ],
  ['alternatives', { anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string or null'],
  [
    'lists of alternatives',
    { type: 'array', items: { oneOf: [{ $ref: '#/$defs/Name' }, { type: 'integer' }] } },
    'array of (one of "a", "b" or integer)',
  ],
  [
    'tuples',
    { type: 'array', prefixItems: [{ type: 'string' }, { const: 5 }] },
    'array [string, 5]',
  ],
  [
    'alternatives beside members',
    {
      type: 'object',
      properties: { a: { type: 'string' } },
      anyOf: [{ required: ['a'] }, { properties: { b: {} } }],
    },
    'object {a?: string} and (any value or object {b?: any value})',
  ],
  [
    'name patterns',
    { type: 'object', patternProperties: { '^(.*)$': { $ref: '#/$defs/Name' } } },
    'object (matching ^(.*)$: one of "a", "b")',
  ],
  ['null of OpenAPI', { type: 'string', nullable: true }, 'string or null'],
  ['a recursion by its name', { $ref: '#/$defs/Node' }, 'object {up?: Node, at?: one of "a", "b"}'],
  ['what stands nowhere', { $ref: 'https://example.com/a/Thing' }, 'Thing'],
])('the values of a map are told with %s', (_label, values, words) => {
  expect(wordsOf(mapOf(values))).toBe(`(JSON text of an object, values: ${words})`);
});

test('members of name patterns and what a list contains are told with their members', () => {
  expect(
    wordsOf({
      type: 'object',
      properties: { a: { type: 'string' } },
      patternProperties: { '^y': { $ref: '#/$defs/Named' } },
    }),
  ).toBe('(properties matching ^y: object {name?: one of "a", "b"})');
  expect(
    wordsOf({
      type: 'array',
      items: { type: 'object', properties: { kind: { type: 'string' } } },
      contains: { properties: { kind: { const: 'main' } }, required: ['kind'] },
    }),
  ).toBe('(contains object {kind: "main"})');
});

test('what must not be is told as a condition where it is no plain value', () => {
  const object = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } };
  expect(wordsOf({ ...object, not: { required: ['a', 'b'] } })).toBe(
    '(never if a is given and b is given)',
  );
  expect(wordsOf({ type: 'string', not: { enum: ['x'] } })).toBe('(not one of "x")');
  expect(wordsOf({ type: 'string', not: { minLength: 3 } })).toBe(
    '(never if it is {"minLength":3})',
  );
});

test.each([{}, true])('not: %j allows no value, as false does', (not) => {
  expect(wordsOf({ anyOf: [{ type: 'string', description: 'A text.' }, { not }] })).toBe('A text.');
  expect(wordsOf({ not })).toBeUndefined();
  expect(wordsOf({ type: 'string', description: 'A text.', not: false })).toBe('A text.');
});

test('words stay within bounds where definitions refer to each other without end', () => {
  const definitions = Object.fromEntries(
    Array.from({ length: 40 }, (_, at): [string, JsonObject] => [
      `D${at}`,
      {
        properties: Object.fromEntries(
          Array.from({ length: 40 }, (_each, to) => [`p${to}`, { $ref: `#/$defs/D${to}` }]),
        ),
      },
    ]),
  );
  const properties = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [`m${at}`, mapOf({ $ref: `#/$defs/D${at}` })]),
  );
  const { parameters } = toToolInput(
    { type: 'object', properties, $defs: definitions },
    { receipt: createReceipt(), path: 'input_schema' },
  );
  expect(JSON.stringify(parameters).length).toBeLessThan(40 * 2200);
});
