import { expect, test } from 'vitest';
import { createReceipt } from '../../canonical/receipt.ts';
import type { JsonObject } from '../../lib/json.ts';
import { isClosed, toClosedSchema, toInputSchema } from './schema.ts';

function inputOf(schema: JsonObject | boolean | undefined) {
  const receipt = createReceipt();
  const input = toInputSchema(schema, { receipt, path: 'p' });
  return { input, receipt: receipt.entries.map(({ action, path }) => `${action} ${path}`) };
}

test('a schema that is good goes as it came', () => {
  const schema = {
    ...{ type: 'object', properties: { a: { type: 'string', minLength: 1 } }, required: ['a'] },
    additionalProperties: false,
  };
  expect(inputOf(schema)).toEqual({ input: schema, receipt: [] });
});

test.each([undefined, true, false, {}])('%o takes an object', (schema) => {
  expect(inputOf(schema).input).toEqual({ type: 'object', properties: {} });
});

test('words and forms of other dialects become those of the draft: nothing is lost, no receipt', () => {
  const properties = {
    a: { type: 'STRING', nullable: true },
    b: { type: 'array', items: [{ type: 'INTEGER' }] },
    c: { type: 'number', minimum: 1, exclusiveMinimum: true },
    d: { type: 'array', minItems: '2', maxItems: 'many' },
    e: { enum: 'x', required: true, anyOf: [] },
  };
  const { input, receipt } = inputOf({ type: 'OBJECT', properties });
  expect(input).toEqual({
    type: 'object',
    properties: {
      a: { type: ['string', 'null'] },
      b: { type: 'array', prefixItems: [{ type: 'integer' }] },
      c: { type: 'number', exclusiveMinimum: 1 },
      d: { type: 'array', minItems: 2 },
      e: {},
    },
  });
  expect(receipt).toEqual([]);
});

test('alternatives of the whole input are told in words beside all their arguments', () => {
  const branch = (name: string): JsonObject => ({ properties: { [name]: { type: 'string' } } });
  const { input, receipt } = inputOf({ type: 'object', oneOf: [branch('a'), branch('b')] });
  expect(Object.keys(input.properties ?? {})).toEqual(['a', 'b']);
  expect(input.oneOf).toBeUndefined();
  expect(input.description).toContain('"oneOf"');
  expect(receipt).toEqual(['approximated p']);
});

test('arguments whose names are refused are told in words, and may come in a call', () => {
  const { input, receipt } = inputOf({
    ...{ type: 'object', properties: { $filter: { type: 'string' }, c: {} } },
    ...{ required: ['$filter', 'c'], additionalProperties: false },
  });
  const schema = '{"properties":{"$filter":{"type":"string"}},"required":["$filter"]}';
  expect(input).toEqual({
    ...{ type: 'object', properties: { c: {} }, required: ['c'] },
    description: `The input also takes what this JSON Schema says: ${schema}`,
  });
  expect(receipt).toEqual(['approximated p']);
});

test('names of members that mean something to JavaScript are names like others', () => {
  const properties: JsonObject = JSON.parse('{"__proto__":{"type":"STRING"},"constructor":{}}');
  const { input } = inputOf({ type: 'object', properties });
  expect(JSON.stringify(input.properties)).toBe('{"__proto__":{"type":"string"},"constructor":{}}');
});

test('a schema nested without end is cut', () => {
  let schema: JsonObject = { type: 'string' };
  for (let level = 0; level < 200; level += 1)
    schema = { type: 'object', properties: { a: schema } };
  expect(() => inputOf(schema)).not.toThrow();
});

test('objects are closed at every level, and a free one cannot be', () => {
  const inner = { type: 'object', properties: { b: { type: 'string' } } };
  const schema = { type: 'object', properties: { a: { type: 'array', items: inner } } };
  const closed = toClosedSchema({ ...schema, propertyOrdering: ['a'] });
  expect(closed).not.toHaveProperty('propertyOrdering');
  expect(JSON.stringify(closed).split('"additionalProperties":false')).toHaveLength(3);
  expect(closed !== undefined && isClosed(closed)).toBe(true);
  expect(isClosed(schema)).toBe(false);
  const free = { type: 'object', properties: { a: { type: 'object' } } };
  expect(toClosedSchema(free)).toBeUndefined();
});

test('an object is free where what may be added is described, or nothing else is', () => {
  const properties = { a: { type: 'string' } };
  const close = (schema: JsonObject) => toClosedSchema({ type: 'object', ...schema });
  const closed = { type: 'object', properties, additionalProperties: false };
  expect(close({ properties, additionalProperties: true })).toEqual(closed);
  expect(close({ properties, additionalProperties: {} })).toEqual(closed);
  expect(close({ additionalProperties: true })).toBeUndefined();
  expect(close({ properties, additionalProperties: { type: 'string' } })).toBeUndefined();
});
