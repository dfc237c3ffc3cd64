// Behaviour of the response schema cleaner where it differs from tool schemas.

import { expect, test } from 'vitest';
import { createReceipt } from '../canonical/receipt.ts';
import type { JsonObject } from '../lib/json.ts';
import { violations } from './subset.test-support.ts';
import { toResponseSchema } from './tool-schema.ts';

function clean(schema: JsonObject | boolean): JsonObject | undefined {
  const node = toResponseSchema(schema, {
    receipt: createReceipt(),
    path: 'schema',
  }).responseSchema;
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

test('a schema that is not sent leaves one note, and none of a text that is not sent either', () => {
  const receipt = createReceipt();
  const schema = { type: 'object', additionalProperties: { type: 'number' }, minProperties: 1 };
  expect(toResponseSchema(schema, { receipt, path: 'schema' }).responseSchema).toBeUndefined();
  expect(receipt.entries).toEqual([
    { action: 'dropped', path: 'schema', reason: 'any JSON is allowed' },
  ]);
});

test('null is said by the keyword, with nothing lost', () => {
  const receipt = createReceipt();
  const schema = {
    type: 'object',
    properties: {
      a: { type: ['string', 'null'], description: 'n' },
      b: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      c: { type: ['string', 'null'], enum: ['x', null] },
    },
  };
  const node = toResponseSchema(schema, { receipt, path: 'schema' }).responseSchema;
  expect(node?.properties).toEqual({
    a: { type: 'string', description: 'n', nullable: true },
    b: { type: 'integer', nullable: true },
    c: { type: 'string', enum: ['x'], nullable: true },
  });
  expect(receipt.entries).toEqual([]);
});

test('null beside alternatives is said in each of them', () => {
  const receipt = createReceipt();
  const either = [{ type: 'string' }, { type: 'integer' }];
  const schema = {
    type: 'object',
    properties: { a: { anyOf: [...either, { type: 'null' }], default: null, title: 'A' } },
  };
  expect(toResponseSchema(schema, { receipt, path: 'schema' }).responseSchema?.properties).toEqual({
    a: {
      anyOf: [
        { type: 'string', title: 'A', nullable: true, default: null },
        { type: 'integer', title: 'A', nullable: true },
      ],
    },
  });
  expect(receipt.entries).toEqual([]);
});

test('a closed object is no loss: the model writes only what it is told of', () => {
  const receipt = createReceipt();
  const properties = { a: { type: 'string' } };
  const schema = { type: 'object', properties, additionalProperties: false };
  toResponseSchema(schema, { receipt, path: 'schema' }).responseSchema;
  expect(receipt.entries).toEqual([]);
});
