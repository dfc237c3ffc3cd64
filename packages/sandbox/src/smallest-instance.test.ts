import { expect, test } from 'vitest';
import type { JsonValue } from './json.ts';
import { smallestInstance } from './simulate.ts';

const CASES: readonly (readonly [schema: JsonValue, instance: JsonValue])[] = [
  [{ type: 'OBJECT', properties: { a: { type: 'STRING', enum: ['x', 'y'] } } }, { a: 'x' }],
  [{ type: 'object', properties: { a: {}, b: { type: 'integer' } }, required: ['b'] }, { b: 1 }],
  [{ type: 'integer', minimum: 3, multipleOf: 5 }, 5],
  [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.5],
  [{ type: 'INTEGER', maximum: -2 }, -2],
  [{ type: 'array', items: { type: 'boolean' }, minItems: 2 }, [true, true]],
  [{ type: 'array', prefixItems: [{ const: 1 }, { type: 'null' }], minItems: 2 }, [1, null]],
  [{ anyOf: [{ type: 'null' }, { type: 'string' }] }, null],
  [{ type: ['string', 'null'], maxLength: 3 }, 'san'],
  [{ type: 'string', minLength: 9 }, 'sandboxxx'],
  [
    { allOf: [{ properties: { a: { const: 1 } } }, { properties: { b: { const: 2 } } }] },
    { a: 1, b: 2 },
  ],
  [{ $defs: { k: { const: 'v' } }, properties: { a: { $ref: '#/$defs/k' } } }, { a: 'v' }],
];

test.each(CASES)('%j has the instance %j', (schema, instance) => {
  expect(smallestInstance(schema)).toEqual(instance);
});

test('P034 a schema that holds itself ends', () => {
  const schema = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] };
  expect(JSON.stringify(smallestInstance(schema)).length).toBeLessThan(500);
});

test('a property named __proto__ survives', () => {
  const schema: JsonValue = JSON.parse('{"properties":{"__proto__":{"const":1}}}');
  expect(JSON.stringify(smallestInstance(schema))).toBe('{"__proto__":1}');
});
