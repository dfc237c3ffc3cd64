import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../lib/json.ts';
import { restoreArguments } from './restore-arguments.ts';

function restore(schema: JsonValue, value: JsonValue): JsonValue | undefined {
  const root: JsonObject = { properties: { x: schema }, $defs: { n: { enum: [1, 2] } } };
  return restoreArguments(root, { x: value }).x;
}

test.each<[JsonValue, JsonValue, JsonValue]>([
  [{ enum: [1, 2] }, '2', 2],
  [{ $ref: '#/$defs/n' }, '1', 1],
  [{ enum: ['1', 1] }, '1', '1'],
  [{ const: true }, 'true', true],
  [{ type: 'integer' }, '7', 7],
  [{ type: ['number', 'null'] }, '1.5', 1.5],
  [{ type: ['number', 'null'] }, 'null', null],
  [{ type: 'boolean' }, 'Yes', true],
  [{ type: 'object' }, '{"a":1}', { a: 1 }],
  [{ additionalProperties: { type: 'integer' } }, '{"a":"1"}', { a: 1 }],
  [{ type: 'array', items: { type: 'integer' } }, '["1"]', [1]],
  [{ type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] }, ['1', '2'], ['1', 2]],
  [{ anyOf: [{ type: 'integer' }, { type: 'null' }] }, '3', 3],
])('%j turns %j into %j', (schema, value, expected) => {
  expect(restore(schema, value)).toEqual(expected);
});

test.each<[JsonValue, JsonValue]>([
  [{ type: 'number' }, '01.0'],
  [{ type: 'integer' }, '007'],
  [{ type: 'integer' }, '1.5'],
  [{ type: 'integer' }, '12345678901234567890'],
  [{ type: 'number' }, ''],
  [{ type: ['string', 'number'] }, '5'],
  [{}, '5'],
  [{ type: 'object' }, 'not json {'],
  [{ type: 'object' }, '[1]'],
  [{ type: 'string' }, '{"a":1}'],
  [{ type: 'boolean' }, '-n'],
])('%j leaves %j as it is (V058, P041)', (schema, value) => {
  expect(restore(schema, value)).toBe(value);
});

test('nothing to restore gives the same object', () => {
  const args = { x: { y: ['z'] } };
  expect(restoreArguments({ properties: { x: {} } }, args)).toBe(args);
  expect(restoreArguments(undefined, args)).toBe(args);
});

test('members named like object members survive', () => {
  const args: JsonObject = JSON.parse('{"__proto__":"1","constructor":"2"}');
  const schema: JsonObject = { additionalProperties: { type: 'integer' } };
  expect(JSON.stringify(restoreArguments(schema, args))).toBe('{"__proto__":1,"constructor":2}');
});

test('any schema and any arguments end in arguments', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.jsonValue({ maxDepth: 5 }), (schema, args) => {
      const root = { properties: { x: schema }, allOf: [schema], $ref: '#' };
      // fast-check's JSON type is ours with other names.
      const result = restoreArguments(root as JsonObject, { x: args } as JsonObject);
      expect(Object.keys(result)).toEqual(['x']);
    }),
  );
});
