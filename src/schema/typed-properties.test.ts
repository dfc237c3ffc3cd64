// Properties of JSON Schema as it is written for the upstream: what the client's schema allows, it allows.

import fc from 'fast-check';
import Schema from 'typebox/schema';
import { expect, test } from 'vitest';
import { createReceipt } from '../canonical/receipt.ts';
import type { JsonObject, JsonValue } from '../lib/json.ts';
import { toResponseSchema } from './tool-schema.ts';

/** A schema and a value it allows. */
interface Sample {
  readonly schema: JsonObject;
  readonly value: JsonValue;
}

const NAMES = ['a', 'b', 'items', 'type', '__proto__'];
const leaf: fc.Arbitrary<Sample> = fc.oneof(
  fc.string().map((value) => ({ schema: { type: 'string' }, value })),
  fc.integer().map((value) => ({ schema: { type: 'integer' }, value })),
  fc.constantFrom<Sample>(
    { schema: { type: 'integer', enum: [1, 2] }, value: 2 },
    { schema: { enum: ['a', 1, 2.5, true, null] }, value: 2.5 },
    { schema: { enum: ['a', 1, null] }, value: null },
    { schema: { const: 7 }, value: 7 },
    { schema: { type: ['string', 'null'], default: 'x' }, value: null },
    { schema: { type: ['string', 'null'], enum: ['x', null] }, value: null },
    { schema: {}, value: '5' },
    { schema: {}, value: [{ deep: [null] }] },
    { schema: true as unknown as JsonObject, value: 3 },
    { schema: { type: 'object' }, value: { any: { thing: 1 } } },
    { schema: { type: 'object', properties: {}, additionalProperties: false }, value: {} },
    { schema: { type: 'object', additionalProperties: true, maxProperties: 3 }, value: { a: 1 } },
    { schema: { $ref: '#' }, value: { again: { a: 'x' } } },
  ),
);

const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    leaf,
    tie('sample').map(({ schema, value }) => ({
      schema: { type: 'object', additionalProperties: schema },
      value: { one: value, __other: value },
    })),
    tie('sample').map(({ schema, value }) => ({
      schema: { type: 'object', patternProperties: { '^k': schema }, additionalProperties: false },
      value: { k1: value },
    })),
    tie('sample').map(({ schema, value }) => ({
      schema: { type: 'array', items: schema },
      value: [value, value],
    })),
    fc.tuple(tie('sample'), tie('sample')).map(([first, second]) => ({
      schema: {
        type: 'array',
        prefixItems: [first.schema, second.schema],
        items: false,
        minItems: 2,
      },
      value: [first.value, second.value],
    })),
    fc.tuple(tie('sample'), tie('sample')).map(([first, second]) => ({
      schema: { anyOf: [first.schema, second.schema, { type: 'null' }] },
      value: second.value,
    })),
    fc
      .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), tie('sample')), {
        minLength: 1,
        maxLength: 3,
        selector: ([name]) => name,
      })
      .map((members) => ({
        schema: {
          type: 'object',
          properties: Object.fromEntries(members.map(([name, { schema }]) => [name, schema])),
          required: members.map(([name]) => name),
          additionalProperties: false,
        },
        value: Object.fromEntries(members.map(([name, { value }]) => [name, value])),
      })),
  ),
}));

test('every value the client allows is allowed by what the upstream is given', () => {
  let written = 0;
  fc.assert(
    fc.property(sample, ({ schema, value }) => {
      const root = { type: 'object', properties: { x: schema, m: { type: 'object' } } };
      const { responseJsonSchema } = toResponseSchema(root, {
        receipt: createReceipt(),
        path: 's',
        takesJsonSchema: true,
      });
      if (responseJsonSchema === undefined) return;
      written += 1;
      const given = JSON.parse(JSON.stringify(responseJsonSchema));
      const errors = Schema.Errors(given, { x: value, m: { k: 1 } });
      expect({ given, errors }).toEqual({ given, errors: [true, []] });
    }),
    { numRuns: 500 },
  );
  expect(written).toBeGreaterThan(400);
});
