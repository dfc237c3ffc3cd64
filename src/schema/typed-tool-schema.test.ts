// Behaviour of the cleaner for upstreams that take JSON Schema as well, case by case.

import { expect, test } from 'vitest';
import { createReceipt, type ReceiptEntry } from '../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { jsonViolations } from './json-subset.test-support.ts';
import { toResponseSchema, toToolInput } from './tool-schema.ts';

const PATH = 's';

function clean(schema: JsonObject): {
  readonly form: string;
  readonly node: JsonObject | undefined;
  readonly entries: readonly ReceiptEntry[];
} {
  const receipt = createReceipt();
  const { form, parameters: node } = toToolInput(schema, {
    receipt,
    path: PATH,
    takesJsonSchema: true,
  });
  if (form === 'json-schema') expect(jsonViolations(node)).toEqual([]);
  return { form, node, entries: receipt.entries };
}

/** The schema as the only other property beside a map. */
function beside(schema: JsonValue, definitions: JsonObject = {}): JsonValue | undefined {
  const properties = { map: { type: 'object' }, x: schema };
  const { form, node } = clean({ type: 'object', properties, $defs: definitions });
  expect(form).toBe('json-schema');
  return isJsonObject(node?.properties) ? node.properties.x : undefined;
}

test.each<[string, JsonObject, JsonObject]>([
  [
    'a map',
    { type: 'object', additionalProperties: { type: 'number' } },
    { type: 'object', additionalProperties: { type: 'number' } },
  ],
  [
    'a map of names that are texts',
    { type: 'object', propertyNames: { type: 'string' }, additionalProperties: {} },
    { type: 'object', additionalProperties: true },
  ],
  ['any object', { type: 'object' }, { type: 'object', additionalProperties: true }],
  [
    'a map of maps',
    { additionalProperties: { additionalProperties: { $ref: '#/$defs/v' } } },
    {
      type: 'object',
      additionalProperties: { type: 'object', additionalProperties: { type: 'integer' } },
    },
  ],
  ['any value', { description: 'd' }, { description: 'd' }],
  [
    'a name pattern',
    { type: 'object', patternProperties: { '^a': { type: 'integer' } } },
    {
      type: 'object',
      description: '(properties matching ^a: integer)',
      additionalProperties: { type: 'integer' },
    },
  ],
  [
    'an object without members',
    { type: 'object', properties: {}, additionalProperties: false },
    { type: 'object', additionalProperties: false },
  ],
  [
    'an object with others beside its members',
    { properties: { a: { type: 'string' } }, additionalProperties: { type: 'integer' } },
    {
      type: 'object',
      properties: { a: { type: 'string' } },
      additionalProperties: { type: 'integer' },
    },
  ],
  [
    'a tuple',
    { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false },
    { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], maxItems: 2 },
  ],
])('%s is written in JSON Schema, and nothing is lost', (_label, schema, expected) => {
  const definitions = { v: { type: 'integer' } };
  const whole = { type: 'object', properties: { x: schema }, $defs: definitions };
  const { form, node, entries } = clean(whole);
  expect(form).toBe('json-schema');
  expect(node?.properties).toEqual({ x: expected });
  const lost = entries.filter(({ path }) => !path.includes('patternProperties'));
  expect(lost).toEqual([]);
});

test.each<[JsonObject]>([
  [{ type: 'integer', enum: [1, 2] }],
  [{ type: ['string', 'null'], default: 'a' }],
  [{ type: 'string', pattern: '^a' }],
  [{ propertyNames: { enum: ['a', 'b'] }, additionalProperties: { type: 'number' } }],
  [{ type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }],
  [{ type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true }],
])('a schema the other form has words for stays in it: %j', (schema) => {
  const whole = { type: 'object', properties: { x: schema } };
  const options = { receipt: createReceipt(), path: PATH };
  expect(toToolInput(whole, { ...options, takesJsonSchema: true })).toEqual(
    toToolInput(whole, options),
  );
});

test('beside a map, listed numbers are numbers and null is a type', () => {
  expect(beside({ type: 'integer', enum: [1, 2] })).toEqual({ type: 'integer', enum: [1, 2] });
  expect(beside({ const: 1.5 })).toEqual({ type: 'number', enum: [1.5] });
  expect(beside({ type: ['string', 'null'] })).toEqual({ type: ['string', 'null'] });
  expect(beside({ type: 'string', nullable: true })).toEqual({ type: ['string', 'null'] });
  expect(beside({ enum: ['a', null], description: 'd' })).toEqual({
    anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }],
    description: 'd',
  });
  expect(beside({ enum: ['a', 1, true] })).toEqual({
    anyOf: [{ type: 'string', enum: ['a'] }, { type: 'integer', enum: [1] }, { type: 'boolean' }],
  });
  expect(beside({ anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] })).toEqual({
    anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }],
  });
});

test('beside a map, what JSON Schema of few keywords has no word for is said', () => {
  expect(beside({ type: 'STRING', minLength: 1, default: 'a' })).toEqual({
    type: 'string',
    description: '(minLength 1; default "a")',
  });
  expect(beside({ type: 'array', items: { type: 'string' }, minItems: '2' })).toEqual({
    type: 'array',
    items: { type: 'string' },
    minItems: 2,
  });
  expect(beside({ type: 'object', minProperties: 1 })).toEqual({
    type: 'object',
    additionalProperties: true,
    description: '(minProperties 1)',
  });
});

test('names that are listed are all there are', () => {
  const schema = { propertyNames: { enum: ['a'] }, additionalProperties: { type: 'number' } };
  const properties = { a: { type: 'number' } };
  expect(beside(schema)).toEqual({ type: 'object', properties, additionalProperties: false });
  const receipt = createReceipt();
  const options = { receipt, path: PATH };
  expect(toToolInput(schema, { ...options, takesJsonSchema: true }).parameters).toEqual({
    type: 'object',
    properties,
  });
  expect(receipt.entries).toEqual([]);
});

test('a recursion is an object left open', () => {
  const node = { type: 'object', properties: { next: { $ref: '#/$defs/n' } } };
  expect(beside({ $ref: '#/$defs/n' }, { n: node })).toEqual({
    type: 'object',
    properties: {
      next: {
        type: 'object',
        additionalProperties: true,
        description: '(one more n: object {next})',
      },
    },
  });
});

test('a schema that is too deep for either form goes as texts', () => {
  let deep: JsonObject = { type: 'object', properties: { n: { type: 'integer' } } };
  for (let level = 0; level < 60; level += 1) deep = { type: 'object', properties: { a: deep } };
  const whole = { type: 'object', properties: { deep, map: { type: 'object' } } };
  expect(clean(whole).form).toBe('schema');
});

test('a schema that unfolds too far goes as it did, without being unfolded once more', () => {
  const $defs: JsonObject = { d20: { type: 'object' } };
  for (let level = 0; level < 20; level += 1) {
    const inner = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = { type: 'object', properties: { a: inner, b: inner } };
  }
  const whole = { type: 'object', properties: { d: { $ref: '#/$defs/d0' } }, $defs };
  expect(clean(whole).form).toBe('schema');
});

test('the same schema gives the same object again', () => {
  const schema = { type: 'object', additionalProperties: { type: 'integer' } };
  const { node, entries } = clean(schema);
  expect(node).toEqual(schema);
  expect(entries).toEqual([]);
  expect(clean(structuredClone(schema)).node).toBe(node);
  expect(Object.isFrozen(node?.additionalProperties)).toBe(true);
});

test('an answer of any JSON is asked for without a schema', () => {
  const clean = (schema: JsonObject) =>
    toResponseSchema(schema, { receipt: createReceipt(), path: PATH, takesJsonSchema: true });
  for (const schema of [{}, { description: 'd' }]) {
    const { responseSchema, responseJsonSchema } = clean(schema);
    expect([responseSchema, responseJsonSchema]).toEqual([undefined, undefined]);
  }
  expect(clean({ type: ['object', 'null'] })).toEqual({
    responseJsonSchema: { type: ['object', 'null'], additionalProperties: true },
  });
});

test.each<[string, JsonObject, JsonValue]>([
  [
    'a required member',
    { type: 'object', properties: { x: { type: ['integer', 'null'] } }, required: ['x'] },
    { x: { type: 'integer', nullable: true } },
  ],
  [
    'a required member of several types',
    {
      type: 'object',
      properties: { x: { anyOf: [{ type: 'integer' }, { type: 'string' }, { type: 'null' }] } },
      required: ['x'],
    },
    {
      x: {
        anyOf: [
          { type: 'integer', nullable: true },
          { type: 'string', nullable: true },
        ],
      },
    },
  ],
  [
    'an item',
    { type: 'object', properties: { x: { type: 'array', items: { type: ['string', 'null'] } } } },
    { x: { type: 'array', items: { type: 'string', nullable: true } } },
  ],
  [
    'a member that may be left out',
    { type: 'object', properties: { x: { type: ['integer', 'null'] } } },
    { x: { type: 'integer', nullable: true } },
  ],
])(
  'null in the place of %s is told by the keyword of the upstream',
  (_what, schema, properties) => {
    const { form, node, entries } = clean(schema);
    expect(form).toBe('schema');
    expect(node?.properties).toEqual(properties);
    expect(entries).toEqual([]);
  },
);
