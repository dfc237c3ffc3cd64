// Behaviour of the response schema cleaner where it differs from tool schemas.

import { expect, test } from 'vitest';
import { createReceipt } from '../../../canonical/receipt.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { cleanResponseSchema } from './clean-response-schema.ts';
import { violations } from './subset.test-support.ts';

function clean(schema: JsonObject | boolean): JsonObject | undefined {
  const node = cleanResponseSchema(schema, { receipt: createReceipt(), path: 'schema' });
  if (node !== undefined) expect(violations(node)).toEqual([]);
  return node;
}

test('the order of properties is written down', () => {
  expect(clean({ type: 'object', properties: { z: { type: 'string' }, a: { const: 1 } } })).toEqual(
    {
      type: 'object',
      properties: { z: { type: 'string' }, a: { type: 'string', enum: ['1'] } },
      propertyOrdering: ['z', 'a'],
    },
  );
});

test('the client own order wins, without names that do not exist', () => {
  const node = clean({
    properties: { a: { type: 'string' }, b: { type: 'string' } },
    propertyOrdering: ['b', 'x', 'a'],
  });
  expect(node?.propertyOrdering).toEqual(['b', 'a']);
});

test.each([[{ type: 'array', items: { type: 'integer' } }], [{ type: 'string', enum: ['a'] }]])(
  'a root that is no object is kept: %j',
  (schema) => {
    expect(clean(schema)).toEqual(schema);
  },
);

test('alternatives at the root stay alternatives', () => {
  const object = (name: string): JsonObject => ({
    type: 'object',
    properties: { [name]: { type: 'string' } },
  });
  expect(clean({ anyOf: [object('a'), object('b')] })).toEqual({
    anyOf: [object('a'), object('b')],
  });
});

test('a schema that allows any JSON cannot be sent', () => {
  expect(clean(true)).toBeUndefined();
  expect(clean({})).toBeUndefined();
  expect(clean({ type: 'object', additionalProperties: true })).toBeUndefined();
});
