// What holds in some cases only: nothing is lost, nothing is narrowed, and words say the rest.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createReceipt } from '../canonical/receipt.ts';
import type { JsonObject, JsonValue } from '../lib/json.ts';
import { violations } from './subset.test-support.ts';
import { toResponseSchema, toToolInput } from './tool-schema.ts';
import { canWrite, isDeclaredInstance } from './validate.test-support.ts';

const NAMES = ['kind', 'a', 'b', 'c'];
const name = fc.constantFrom(...NAMES);
const leaf = fc.constantFrom<JsonValue>(
  {},
  true,
  false,
  { type: 'string' },
  { type: 'number' },
  { type: 'integer', maximum: 1 },
  { type: 'boolean' },
  { type: ['string', 'null'] },
  { type: ['number', 'string'] },
  { type: 'null' },
  { const: 'x' },
  { const: 1 },
  { enum: ['x', 'y'] },
  { enum: [1, 2, 'x'] },
  { enum: ['y', null] },
  { anyOf: [{ const: 'y' }, {}] },
  { type: 'array', items: { type: 'string' } },
  { type: 'array', items: { const: 'x' } },
  { type: 'object', properties: { z: { type: 'string' } } },
  { type: 'object', properties: { z: { const: 'x' } }, required: ['z'] },
  { if: { const: 'x' }, else: { type: 'number' } },
);

const { conditional } = fc.letrec<{
  conditional: JsonObject;
  side: JsonValue;
  map: JsonObject;
  extra: JsonObject;
}>((tie) => ({
  map: fc.dictionary(name, leaf, { maxKeys: 3 }),
  side: fc.oneof(
    { maxDepth: 3, depthSize: 'medium' },
    fc.constantFrom<JsonValue>(true, {}, {}, false),
    fc.record({ properties: tie('map') }),
    fc.record({ required: fc.array(name, { maxLength: 1 }) }),
    tie('conditional'),
  ),
  extra: fc.oneof(
    fc.record(
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      { if: tie('side'), then: tie('side'), else: tie('side') },
      { requiredKeys: ['if'] },
    ),
    fc.record({ dependentSchemas: fc.dictionary(name, tie('side'), { maxKeys: 2 }) }),
    fc.record({ dependencies: fc.dictionary(name, tie('side'), { maxKeys: 2 }) }),
    fc.record({ allOf: fc.array(tie('side'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ anyOf: fc.array(tie('side'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(tie('side'), { minLength: 1, maxLength: 2 }) }),
  ),
  conditional: fc
    .tuple(tie('map'), fc.array(tie('extra'), { minLength: 1, maxLength: 2 }))
    .map(([properties, extras]): JsonObject => Object.assign({ properties }, ...extras)),
}));

const member = fc.constantFrom<JsonValue>('x', 1, 2.5, true, null, ['x'], { z: 'x' });
const instance = fc.dictionary(name, member, { minKeys: 1, maxKeys: 3 });

function cleanTool(schema: JsonObject) {
  return toToolInput(schema, { receipt: createReceipt(), path: 's' });
}

function cleanResponse(schema: JsonObject): JsonObject | undefined {
  return toResponseSchema(schema, { receipt: createReceipt(), path: 's' }).responseSchema;
}

test('whatever is allowed in some case can be written under the cleaned schema', () => {
  let tried = 0;
  fc.assert(
    fc.property(
      conditional,
      fc.array(instance, { minLength: 40, maxLength: 40 }),
      (own, values) => {
        const schema = { ...own, type: 'object' };
        const { parameters, isMap } = cleanTool(schema);
        const response = cleanResponse(schema);
        for (const node of [parameters, response]) {
          if (node !== undefined) expect(violations(node)).toEqual([]);
        }
        for (const value of values.filter((each) => isDeclaredInstance(schema, each))) {
          tried += 1;
          const seen = JSON.stringify({ value, parameters, response });
          expect(isMap || canWrite(parameters, value), seen).toBe(true);
          expect(response === undefined || canWrite(response, value), seen).toBe(true);
        }
      },
    ),
    { numRuns: 400 },
  );
  expect(tried).toBeGreaterThan(200);
});

/** A tool of the properties a, b and kind beside `more`, as it goes upstream: its properties and its words. */
function cleaned(more: JsonObject, own: JsonObject = {}) {
  const properties = {
    kind: { enum: ['a', 'b'] },
    a: { type: 'string' },
    b: { type: 'string' },
    ...own,
  };
  const receipt = createReceipt();
  const schema = { type: 'object', properties, ...more };
  const { parameters: node = {} } = toToolInput(schema, { receipt, path: 's' });
  const { properties: declared, required } = node;
  return { node, properties: declared, required, entries: receipt.entries };
}

const isKind = (kind: string): JsonObject => ({ properties: { kind: { const: kind } } });
const TEXT = { type: 'string' };

/** A condition without `else`. */
function when(condition: JsonValue, then: JsonValue): JsonObject {
  return Object.fromEntries([
    ['if', condition],
    ['then', then],
  ]);
}

describe('what holds in some cases only narrows nothing and is said', () => {
  test.each<[string, JsonObject, string]>([
    ['a condition', when(isKind('a'), { required: ['b'] }), '(if kind is "a": needs b)'],
    [
      'a condition of a name',
      when({ required: ['a'] }, { required: ['b'] }),
      '(if a is given: needs b)',
    ],
    [
      'a condition that forbids',
      when({ required: ['a', 'b'] }, false),
      '(never if a is given and b is given)',
    ],
    ['a dependency', { dependencies: { a: { required: ['b'] } } }, '(if a is given: needs b)'],
    ['a forbidden name', { dependentSchemas: { a: false } }, '(never if a is given)'],
    ['nonsense', { dependentSchemas: { a: { const: true } } }, '(if a is given: true)'],
    [
      'several conditions',
      {
        allOf: [
          when(isKind('a'), { required: ['a'] }),
          when(isKind('b'), { required: ['b'], minProperties: 2 }),
        ],
      },
      '(if kind is "a": needs a; if kind is "b": needs b, minProperties 2)',
    ],
    [
      'alternatives one of which needs nothing',
      { anyOf: [{ required: ['a'] }, {}] },
      '(needs a or nothing more)',
    ],
  ])('%s on the object', (_name, more, description) => {
    const { entries, node } = cleaned(more);
    expect(node).toEqual({
      type: 'object',
      properties: { kind: { type: 'string', enum: ['a', 'b'] }, a: TEXT, b: TEXT },
      description,
    });
    expect(new Set(entries.map(({ action }) => action))).toEqual(new Set(['approximated']));
  });

  test.each<[string, JsonObject, string]>([
    ['a value', when(isKind('a'), { properties: { a: { const: 'x' } } }), 'if kind is "a": "x"'],
    [
      'limits',
      when(isKind('a'), { properties: { a: { maxLength: 5, pattern: '^x' } } }),
      'if kind is "a": maxLength 5, pattern ^x',
    ],
    [
      'the values of several conditions',
      {
        allOf: [
          when(isKind('a'), { properties: { a: { enum: ['x', 'y'] } } }),
          when(isKind('b'), { properties: { a: { const: 'z' } } }),
        ],
      },
      'if kind is "a": one of "x", "y"; if kind is "b": "z"',
    ],
    [
      'the value where a condition does not hold',
      { if: { required: ['b'] }, else: { properties: { a: { const: 'x' } } } },
      'unless b is given: "x"',
    ],
    [
      'a property that is forbidden',
      { dependentSchemas: { b: { properties: { a: false } } } },
      'never if b is given',
    ],
    [
      'alternatives one of which allows anything',
      { anyOf: [{ properties: { a: { const: 'x' } } }, {}] },
      'in some cases: "x"',
    ],
    [
      'alternatives one of which is true',
      { anyOf: [{ properties: { a: { const: 'x' } } }, true] },
      'in some cases: "x"',
    ],
  ])('%s of a property', (_name, more, words) => {
    const { properties, required } = cleaned(more);
    expect(properties).toMatchObject({ a: { ...TEXT, description: `(${words})` }, b: TEXT });
    expect(required).toBeUndefined();
  });

  test('the type of a property that may be anything', () => {
    const { properties } = cleaned(
      {
        allOf: [
          when(isKind('a'), { properties: { v: { type: 'string' } } }),
          when(isKind('b'), { properties: { v: { type: 'number' } } }),
        ],
      },
      { v: {} },
    );
    expect(properties).toMatchObject({
      v: {
        type: 'string',
        description:
          '(if kind is "a": string; if kind is "b": number; any value, as JSON text: texts in quotes)',
      },
    });
  });
});

test('both sides of a condition that declare a property are its alternatives', () => {
  const { properties } = cleaned({
    ...when(isKind('a'), { properties: { v: { type: 'string' } } }),
    else: { properties: { v: { type: 'number' } } },
  });
  expect(properties).toMatchObject({
    v: {
      anyOf: [
        { type: 'string', description: '(if kind is "a")' },
        { type: 'number', description: '(unless kind is "a")' },
      ],
    },
  });
});

test('a property that only conditions declare takes what any of them allows', () => {
  const { properties } = cleaned({
    allOf: [
      when(isKind('a'), { properties: { v: { type: 'string' }, w: { type: 'number' } } }),
      when(isKind('b'), { properties: { v: { type: 'number' } } }),
    ],
  });
  expect(properties).toMatchObject({
    v: {
      anyOf: [
        { type: 'string', description: '(if kind is "a")' },
        { type: 'number', description: '(if kind is "b")' },
      ],
    },
    w: { type: 'number', description: '(if kind is "a")' },
  });
});

test('a property that conditions only ask about can be given', () => {
  const { properties } = cleaned({
    allOf: [
      when({ properties: { mode: { const: 'x' } } }, { required: ['a'] }),
      when({ properties: { count: { enum: [1, 2] } } }, { required: ['b'] }),
      when({ properties: { kind: { const: 'a' }, flag: { const: true }, other: {} } }, false),
    ],
  });
  expect(properties).toEqual({
    kind: { type: 'string', enum: ['a', 'b'] },
    a: TEXT,
    b: TEXT,
    mode: TEXT,
    count: { type: 'number' },
    flag: { type: 'boolean' },
    other: { type: 'string', description: '(any value, as JSON text: texts in quotes)' },
  });
});

test('what a condition asks about hides nothing that alternatives behind it declare', () => {
  const alternatives = { anyOf: [{ properties: { b: TEXT } }] };
  const schema = { type: 'object', ...when({ properties: { kind: TEXT } }, alternatives) };
  const { properties } = cleanResponse(schema) ?? {};
  expect(Object.keys(properties ?? {})).toEqual(['b', 'kind']);
});

test('a property that may not be given is not declared because a condition asks about it', () => {
  const { properties } = cleaned({
    ...when({ properties: { mode: { const: 'x' } } }, { required: ['a'] }),
    additionalProperties: false,
  });
  expect(properties).not.toHaveProperty('mode');
});

test('what a condition adds to an object or to items within is declared', () => {
  const zip = { properties: { zip: TEXT }, required: ['zip'] };
  const { properties } = cleaned(
    when(isKind('a'), { properties: { address: zip, list: { items: zip } } }),
    {
      address: { type: 'object', properties: { street: TEXT } },
      list: { type: 'array', items: { type: 'object', properties: { street: TEXT } } },
    },
  );
  const address = {
    type: 'object',
    properties: { street: TEXT, zip: { ...TEXT, description: '(if kind is "a")' } },
    description: '(if kind is "a": needs zip)',
  };
  expect(properties).toMatchObject({ address, list: { type: 'array', items: address } });
  expect(JSON.stringify(properties)).not.toContain('required');
});

test.each([true, {}])('a condition that always holds (%j) is none', (always) => {
  const { properties, required, entries } = cleaned(
    when(always, { properties: { a: { const: 'x' } }, required: ['a'] }),
  );
  expect(properties).toMatchObject({ a: { type: 'string', enum: ['x'] } });
  expect(required).toEqual(['a']);
  expect(entries).toEqual([]);
});
