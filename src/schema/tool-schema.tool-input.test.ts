// Behaviour of the tool schema cleaner, case by case.

import { describe, expect, test } from 'vitest';
import { threadMs } from '../../test/security/measure.ts';
import { createReceipt, type ReceiptEntry } from '../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../lib/json.ts';
import { violations } from './subset.test-support.ts';
import { toToolInput } from './tool-schema.ts';

const PATH = 'tools[0].input_schema';

function clean(schema: JsonObject | boolean | undefined): {
  readonly node: JsonObject | undefined;
  readonly entries: readonly ReceiptEntry[];
} {
  const receipt = createReceipt();
  const { parameters: node } = toToolInput(schema, { receipt, path: PATH });
  if (node !== undefined) expect(violations(node)).toEqual([]);
  return { node, entries: receipt.entries };
}

/** Converts a schema as the only property of a tool. */
function cleanProperty(schema: JsonValue, definitions: JsonObject = {}): JsonValue | undefined {
  const { node } = clean({ type: 'object', properties: { x: schema }, $defs: definitions });
  return isJsonObject(node?.properties) ? node.properties.x : undefined;
}

test('a legal schema stays exactly the same and leaves no receipt (V036)', () => {
  const legal = {
    type: 'object',
    description: 'd',
    properties: {
      c: { type: 'string', enum: ['a', 'b'], default: 'a' },
      n: { minimum: 1, type: 'integer', maximum: 9, format: 'int32' },
      l: { type: 'array', items: { type: 'string', nullable: true }, minItems: 1 },
      o: { anyOf: [{ type: 'string', description: 'either' }, { type: 'boolean' }] },
    },
    required: ['c'],
  };
  const { node, entries } = clean(legal);
  expect(JSON.stringify(node)).toBe(JSON.stringify(legal));
  expect(entries).toEqual([]);
});

test('types are written in the case the client used', () => {
  const upper = {
    type: 'OBJECT',
    properties: { a: { type: 'STRING' }, b: { const: 'x' }, c: { type: 'ARRAY' } },
  };
  expect(clean(upper).node).toEqual({
    type: 'OBJECT',
    properties: {
      a: { type: 'STRING' },
      b: { type: 'STRING', enum: ['x'] },
      c: { type: 'ARRAY', items: { type: 'STRING' } },
    },
  });
});

test.each([
  ['no schema', undefined],
  ['true', true],
  ['{}', {}],
  ['an object without properties', { type: 'object', properties: {} }],
  [
    'an object without properties that would take others',
    { properties: {}, additionalProperties: true },
  ],
  ['a closed object', { type: 'object', additionalProperties: false }],
  ['an object whose properties are all impossible', { properties: { a: false } }],
])('%s means no parameters (P039)', (_label, schema) => {
  expect(clean(schema).node).toBeUndefined();
});

test.each<[string, JsonObject, string]>([
  [
    'values',
    { type: 'object', description: 'Name to value.', additionalProperties: { type: 'string' } },
    'Name to value. (JSON text of an object, values: string)',
  ],
  [
    'patterns',
    { type: 'object', patternProperties: { '^a': { type: 'string' } } },
    '(properties matching ^a: string; JSON text of an object)',
  ],
  [
    'a count',
    { type: 'object', additionalProperties: true, minProperties: 1 },
    '(JSON text of an object; minProperties 1)',
  ],
  [
    'a referred schema',
    { $ref: '#/$defs/M', $defs: { M: { additionalProperties: { $ref: '#/$defs/V' }, V: {} } } },
    '(JSON text of an object, values: V)',
  ],
  ['branches', { anyOf: [{ additionalProperties: true }, { minProperties: 2 }] }, '(JSON text'],
])('a root of free names (%s) goes as the JSON text of one argument', (_label, schema, words) => {
  const { node, entries } = clean(schema);
  expect(node).toEqual({
    type: 'object',
    properties: { entries: { type: 'string', description: expect.stringContaining(words) } },
    required: ['entries'],
  });
  expect(entries).toContainEqual({
    action: 'approximated',
    path: PATH,
    reason: 'an object is sent as text',
  });
});

test('a client that sees calls as they come is told of free names in the description alone', () => {
  const receipt = createReceipt();
  const schema = {
    type: 'object',
    description: 'Name to value.',
    additionalProperties: { type: 'string' },
    minProperties: 1,
  };
  expect(toToolInput(schema, { receipt, path: PATH, isRelayed: true })).toEqual({
    form: 'schema',
    parameters: undefined,
    said: 'Arguments: Name to value. (an object, values: string; minProperties 1)',
    isMap: false,
  });
  expect(receipt.entries).toEqual([
    { action: 'approximated', path: PATH, reason: 'said in the description of the function' },
  ]);
});

test('a root that is no object is left out with a note', () => {
  expect(clean({ type: 'string' })).toEqual({
    node: undefined,
    entries: [{ action: 'dropped', path: PATH, reason: 'the input of a function is an object' }],
  });
});

test('a property that allows nothing is removed, also from required (V120, P030)', () => {
  const schema = {
    type: 'object',
    properties: { a: false, b: { type: 'string' } },
    required: ['a', 'b'],
  };
  const { node, entries } = clean(schema);
  expect(node).toEqual({
    type: 'object',
    properties: { b: { type: 'string' } },
    required: ['b'],
  });
  expect(entries.map((entry) => entry.path)).toEqual([
    `${PATH}.properties.a`,
    `${PATH}.required[0]`,
  ]);
});

test('a discriminator, as Pydantic writes for tagged unions, says nothing its alternatives do not', () => {
  const tagged = (kind: string) => ({
    type: 'object',
    properties: { kind: { const: kind, type: 'string' } },
    required: ['kind'],
  });
  const pet = { oneOf: [tagged('cat'), tagged('dog')], discriminator: { propertyName: 'kind' } };
  const { entries } = clean({ type: 'object', properties: { pet } });
  expect(entries).toEqual([]);
});

test('a type list with null is nullable (V121, P038)', () => {
  expect(cleanProperty({ type: ['string', 'null'], description: 'n' })).toEqual({
    type: 'string',
    description: 'n',
    nullable: true,
  });
});

test('anyOf with null collapses and keeps the properties (V122, P032)', () => {
  const object = { type: 'object', properties: { p: { type: 'string' } }, required: ['p'] };
  expect(cleanProperty({ anyOf: [object, { type: 'null' }] })).toEqual({
    ...object,
    nullable: true,
  });
});

test('constraints without a keyword upstream are said in the description (V123, P036)', () => {
  expect(cleanProperty({ type: 'string', minLength: 1, format: 'city' })).toEqual({
    type: 'string',
    minLength: 1,
    description: '(format city)',
  });
  expect(cleanProperty({ type: 'number', multipleOf: 0.5, description: 'half steps' })).toEqual({
    type: 'number',
    description: 'half steps (multiple of 0.5)',
  });
});

test('a property called pattern is kept, and the keyword inside it (V125, P031)', () => {
  const { node } = clean({
    type: 'object',
    properties: { pattern: { type: 'string', pattern: '^a' }, $ref: { type: 'string' } },
  });
  expect(node?.properties).toEqual({
    pattern: { type: 'string', pattern: '^a' },
    $ref: { type: 'string' },
  });
});

test('a multiple no double can hold is said as it was written', () => {
  const text =
    '{"type":"object","properties":{"x":{"type":"integer","multipleOf":12345678901234567890}}}';
  const schema = parseJson(text);
  if (!isJsonObject(schema)) throw new Error('not an object');
  expect(clean(schema)).toMatchObject({
    node: { properties: { x: { description: expect.stringContaining('12345678901234567890') } } },
  });
});

test('C6: what the upstream has a keyword for goes through and leaves no receipt', () => {
  const legal = {
    type: 'object',
    properties: {
      code: { type: 'string', title: 'Code', pattern: '^[a-z]{2,}$', minLength: 2, maxLength: 9 },
      count: { type: 'integer', minimum: 1, maximum: 9, default: 2, example: 3, nullable: true },
      list: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 3 },
      at: { type: 'string', format: 'date-time' },
      rest: {
        type: 'object',
        properties: { a: { type: 'string' } },
        minProperties: 1,
        maxProperties: 2,
      },
    },
  };
  expect(clean(legal)).toEqual({ node: legal, entries: [] });
});

test('C6: an optional argument that may be null keeps its null', () => {
  const { node, entries } = clean({
    type: 'object',
    properties: {
      n: { type: ['integer', 'null'] },
      o: { anyOf: [{ $ref: '#/$defs/O' }, { type: 'null' }] },
    },
    $defs: { O: { type: 'string', maxLength: 5 } },
  });
  expect(node?.properties).toEqual({
    n: { type: 'integer', nullable: true },
    o: { type: 'string', maxLength: 5, nullable: true },
  });
  expect(entries).toEqual([]);
});

test.each([
  String.raw`^(?!\.)(?!.*\.\.)[A-Za-z0-9_+.-]+@[a-z]+$`,
  String.raw`^(?=.*\S).+$`,
  '(?<=a)b|(?<!c)d',
  String.raw`^(a|b)\1$`,
  '(',
  // Reading it would take a hundred times as much memory.
  'x'.repeat(10_001),
])('a pattern that not every engine reads is said: %.60s', (pattern) => {
  const said = { type: 'string', description: `(pattern ${pattern})` };
  expect(cleanProperty({ type: 'string', pattern })).toEqual(said);
});

test.each([String.raw`^(?:a|\d{2,})\.$`, String.raw`\\1`, '^[^/?#]+$'])(
  'a plain pattern goes by its keyword: %s',
  (pattern) => {
    expect(cleanProperty({ type: 'string', pattern })).toEqual({ type: 'string', pattern });
  },
);

test('of several limits the tightest holds, and a second pattern is said', () => {
  const property = {
    type: 'string',
    allOf: [
      { minLength: 1, pattern: '^a' },
      { minLength: 3, maxLength: 9, pattern: 'b$' },
    ],
  };
  expect(cleanProperty(property)).toEqual({
    type: 'string',
    minLength: 3,
    maxLength: 9,
    pattern: '^a',
    description: '(pattern b$)',
  });
});

test('properties named like object members survive as own properties', () => {
  const text = '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}}}';
  const schema = parseJson(text);
  const { node } = clean(isJsonObject(schema) ? schema : {});
  expect(JSON.stringify(node)).toBe(
    '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}},"type":"object"}',
  );
});

test('numbers in enum become strings (V128)', () => {
  expect(cleanProperty({ enum: [1, 2] })).toEqual({ type: 'string', enum: ['1', '2'] });
  expect(cleanProperty({ type: 'integer', enum: [1, 2] })).toEqual({
    type: 'string',
    enum: ['1', '2'],
    description: '(integer as text)',
  });
});

test('const, null, empty and composite values in lists keep their meaning', () => {
  expect(cleanProperty({ const: 'a' })).toEqual({ type: 'string', enum: ['a'] });
  expect(cleanProperty({ const: true })).toEqual({ type: 'boolean', description: '(always true)' });
  expect(cleanProperty({ const: null })).toEqual({ type: 'null' });
  expect(cleanProperty({ enum: ['', 'a', null] })).toEqual({
    type: 'string',
    enum: ['a'],
    description: '(or "")',
    nullable: true,
  });
  expect(cleanProperty({ enum: [{ a: 1 }] })).toEqual({
    type: 'string',
    description: '(one of {"a":1}; JSON text of an object)',
  });
});

test('a huge list of values is described instead of declared', () => {
  const values = Array.from({ length: 5000 }, (_, index) => `v${index}`);
  expect(cleanProperty({ enum: values })).toEqual({
    type: 'string',
    description: `(one of ${values.map((value) => JSON.stringify(value)).join(', ')})`,
  });
});

test('a list too long to be read out is described by its first values and their number', () => {
  const values = Array.from({ length: 50_000 }, (_, index) => `v${index}`);
  const text = JSON.stringify(cleanProperty({ enum: values }));
  expect(text.length).toBeLessThan(100_000);
  expect(text).toMatch(/v0.*v1000.* and \d+ more\)/);
});

test('a list that many members refer to is not told to each of them in full', () => {
  const values = Array.from({ length: 1001 }, (_, index) => `v${index}-${'x'.repeat(40)}`);
  const names = Array.from({ length: 1000 }, (_, index) => `p${index}`);
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: '#/$defs/e' }]));
  const { node } = clean({ type: 'object', properties, $defs: { e: { enum: values } } });
  expect(JSON.stringify(node?.properties).length).toBeLessThan(2_500_000);
  expect(JSON.stringify(Object(node?.properties).p0)).toContain('v1000-');
  expect(JSON.stringify(Object(node?.properties).p999)).toContain(' and 981 more');
});

test('a list that thousands of members refer to is not listed at each of them', () => {
  const values = Array.from({ length: 1000 }, (_, index) => `v${index}-${'x'.repeat(40)}`);
  const names = Array.from({ length: 2000 }, (_, index) => `p${index}`);
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: '#/$defs/e' }]));
  const { node } = clean({ type: 'object', properties, $defs: { e: { enum: values } } });
  expect(JSON.stringify(node?.properties).length).toBeLessThan(8_000_000);
  expect(Object(node?.properties).p0.enum).toEqual(values);
  expect(Object(node?.properties).p1999).toMatchObject({ type: 'string' });
  expect(JSON.stringify(Object(node?.properties).p1999)).toContain(' and 980 more');
});

test('limits of lists that add up to more than the upstream takes are said in words', () => {
  const list = (maxItems: JsonValue): JsonObject => ({
    type: 'array',
    items: { type: 'string' },
    maxItems,
  });
  const properties = { a: list(1000), b: list(500), c: list(400), d: list(10) };
  const { node, entries } = clean({ type: 'object', properties });
  const said = (maxItems: number): JsonObject => ({
    type: 'array',
    items: { type: 'string' },
    description: `(maxItems ${maxItems})`,
  });
  expect(node?.properties).toEqual({ a: said(1000), b: list(500), c: list(400), d: said(10) });
  expect(entries).toMatchObject([
    { action: 'approximated', path: `${PATH}.properties.a.maxItems` },
    { action: 'approximated', path: `${PATH}.properties.d.maxItems` },
  ]);
});

test('exclusive bounds move to the next integer, or are said for fractions', () => {
  expect(cleanProperty({ type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 9.5 })).toEqual({
    type: 'integer',
    minimum: 1,
    maximum: 9,
  });
  expect(cleanProperty({ type: 'number', minimum: 0, exclusiveMinimum: true })).toEqual({
    type: 'number',
    minimum: 0,
    description: '(more than 0)',
  });
});

test('references are resolved in place, siblings win, chains and anchors included (P033)', () => {
  const definitions = {
    a: { $ref: '#/$defs/b~1c', description: 'from a' },
    'b/c': { $anchor: 'name', type: 'integer', minimum: 3 },
  };
  expect(cleanProperty({ $ref: '#/$defs/a', description: 'own' }, definitions)).toEqual({
    type: 'integer',
    minimum: 3,
    description: 'own\nfrom a',
  });
  expect(cleanProperty({ $ref: '#name' }, definitions)).toEqual({ type: 'integer', minimum: 3 });
});

test('a reference out of the schema becomes described JSON text', () => {
  expect(cleanProperty({ $ref: 'https://example.test/s.json', description: 'd' })).toEqual({
    type: 'string',
    description: 'd (JSON text of what https://example.test/s.json defines)',
  });
});

test('a recursion is unfolded once and then described (P034)', () => {
  const node = {
    type: 'object',
    properties: { v: { type: 'string' }, next: { $ref: '#/$defs/n' } },
  };
  expect(cleanProperty({ $ref: '#/$defs/n' }, { n: node })).toEqual({
    type: 'object',
    properties: {
      v: { type: 'string' },
      next: {
        type: 'string',
        description: '(JSON text of one more n: object {v, next})',
      },
    },
  });
});

test.each([
  { $ref: '#' },
  { properties: { a: { $ref: '#' } } },
  { properties: { a: { $ref: '#/properties/a' } } },
  { allOf: [{ $ref: '#/allOf/0' }] },
  { anyOf: [{ $ref: '#' }, { $ref: '#/anyOf/1' }] },
  { properties: { a: { $ref: '#/properties/a/nowhere' }, b: { $ref: '#/%E0%A4%A' } } },
])('reference loop %# ends (P034)', (schema) => {
  expect(() => clean(schema)).not.toThrow();
});

test('allOf merges properties, required and bounds (P033)', () => {
  expect(
    cleanProperty({
      allOf: [
        { type: 'object', properties: { a: { type: 'number', minimum: 1 } }, required: ['a'] },
        { properties: { a: { type: 'integer', minimum: 2 }, b: { type: 'string' } } },
      ],
    }),
  ).toEqual({
    type: 'object',
    properties: { a: { type: 'integer', minimum: 2 }, b: { type: 'string' } },
    required: ['a'],
  });
});

test('oneOf becomes anyOf, and lists of constants one enum', () => {
  expect(cleanProperty({ oneOf: [{ type: 'string' }, { type: 'array' }] })).toEqual({
    anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
  });
  expect(cleanProperty({ anyOf: [{ const: 'a' }, { const: 'b' }, { type: 'null' }] })).toEqual({
    type: 'string',
    enum: ['a', 'b'],
    nullable: true,
  });
});

test('several real types become anyOf with the limits of each', () => {
  expect(cleanProperty({ type: ['string', 'array', 'null'], minItems: 1 })).toEqual({
    anyOf: [
      { type: 'string', nullable: true },
      { type: 'array', items: { type: 'string' }, minItems: 1, nullable: true },
    ],
  });
});

test('nothing stands beside alternatives: Vertex AI takes them alone', () => {
  const either = [{ type: 'string', description: 'a name' }, { type: 'integer' }];
  expect(
    cleanProperty({ title: 't', anyOf: either, description: 'who', default: 1, example: 'x' }),
  ).toEqual({
    anyOf: [
      { type: 'string', description: 'who\na name', title: 't', example: 'x' },
      { type: 'integer', description: 'who', title: 't', default: 1 },
    ],
  });
  expect(
    cleanProperty({ anyOf: [{ description: 'in', anyOf: either }, { type: 'boolean' }] }),
  ).toEqual({
    anyOf: [
      { type: 'string', description: 'in\na name' },
      { type: 'integer', description: 'in' },
      { type: 'boolean' },
    ],
  });
  expect(
    cleanProperty({
      description: 'd',
      anyOf: [{ type: 'string', description: 'd' }, { type: 'string' }],
    }),
  ).toEqual({ type: 'string', description: 'd' });
});

test('branches at the root are folded into one object (P032)', () => {
  const branch = (kind: string, extra: string): JsonObject => ({
    type: 'object',
    properties: { kind: { const: kind }, [extra]: { type: 'string' } },
    required: ['kind', extra],
  });
  expect(clean({ oneOf: [branch('file', 'path'), branch('url', 'href')] }).node).toEqual({
    type: 'object',
    properties: {
      kind: { type: 'string', enum: ['file', 'url'] },
      path: { type: 'string' },
      href: { type: 'string' },
    },
    required: ['kind'],
    description: '(needs path or href)',
  });
});

test('properties of conditions are declared', () => {
  const { node } = clean({
    type: 'object',
    properties: { a: { type: 'string' } },
    if: { properties: { a: { const: 'x' } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { b: { type: 'number' } }, required: ['b'] },
    dependentSchemas: { a: { properties: { c: { type: 'boolean' } } } },
  });
  expect(node?.properties).toEqual({
    a: { type: 'string' },
    b: { type: 'number', description: '(if a is "x")' },
    c: { type: 'boolean', description: '(if a is given)' },
  });
});

test('tuples, open items and closed items keep what can be said (P035)', () => {
  expect(
    cleanProperty({ prefixItems: [{ type: 'string' }, { type: 'number' }], items: false }),
  ).toEqual({
    type: 'array',
    items: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    maxItems: 2,
    description: '(in order: string, number)',
  });
  expect(cleanProperty({ type: 'array', items: { const: 5, title: 't' } })).toEqual({
    type: 'array',
    items: { type: 'string', enum: ['5'], title: 't' },
  });
});

test('maps and empty objects travel as JSON text without invented properties (P039)', () => {
  expect(cleanProperty({ type: 'object', additionalProperties: { type: 'number' } })).toEqual({
    type: 'string',
    description: '(JSON text of an object, values: number)',
  });
  expect(cleanProperty({ type: 'object', properties: {} })).toEqual({
    type: 'string',
    description: '(JSON text of an object)',
  });
  expect(cleanProperty({ description: 'anything' })).toEqual({
    type: 'string',
    description: 'anything (any value, as JSON text: texts in quotes)',
  });
});

test('a client that sees calls as they come is not promised that quotes go', () => {
  const options = { receipt: createReceipt(), path: PATH };
  const { parameters } = toToolInput({ properties: { x: {} } }, { ...options, isRelayed: true });
  expect(parameters?.properties).toEqual({
    x: { type: 'string', description: '(any value, as plain or JSON text)' },
  });
});

test('a map with listed keys declares them', () => {
  expect(
    cleanProperty({
      type: 'object',
      propertyNames: { enum: ['a', 'b'] },
      additionalProperties: { type: 'number' },
      required: ['a', 'b'],
    }),
  ).toMatchObject({
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  });
});

test('required names without a property are dropped with their place (P037)', () => {
  const { node, entries } = clean({ properties: { a: {} }, required: ['zz', 'a'] });
  expect(node?.required).toEqual(['a']);
  expect(entries).toContainEqual({
    action: 'dropped',
    path: `${PATH}.required[0]`,
    reason: 'no such property',
  });
});

test('near misses and garbage are repaired with a note, never thrown', () => {
  const { node, entries } = clean({
    type: 'Dict',
    properties: { a: { type: 'str' }, b: 5, c: [1], d: null, e: { type: 'int', minimum: 'x' } },
    required: 'a',
    enum: 'x',
  });
  expect(node?.properties).toMatchObject({ a: { type: 'string' }, e: { type: 'integer' } });
  expect(entries.filter((entry) => entry.action === 'repaired').map((entry) => entry.path)).toEqual(
    expect.arrayContaining([
      `${PATH}.properties.b`,
      `${PATH}.properties.c`,
      `${PATH}.properties.d`,
      `${PATH}.properties.e.minimum`,
      `${PATH}.required`,
      `${PATH}.enum`,
    ]),
  );
});

/** Objects and lists within one another, itself included. */
function depthOf(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

const NESTINGS: readonly [string, (inner: JsonObject) => JsonObject][] = [
  ['objects', (inner) => ({ type: 'object', properties: { a: inner }, required: ['a'] })],
  ['lists', (inner) => ({ type: 'array', items: inner })],
  ['alternatives', (inner) => ({ anyOf: [{ type: 'integer' }, { properties: { a: inner } }] })],
  ['types', (inner) => ({ type: ['array', 'string'], items: inner })],
];

describe.each(NESTINGS)('%s within one another', (_name, nest) => {
  const nested = (levels: number): JsonObject =>
    levels === 0 ? { type: 'string', enum: ['z'] } : nest(nested(levels - 1));
  const cleaned = (levels: number) => clean({ type: 'object', properties: { x: nested(levels) } });

  test.each([70, 95, 1000])('%i of them are no more than the upstream takes', (levels) => {
    const { node, entries } = cleaned(levels);
    // What is left of 100 levels is for the request around the schema.
    expect(depthOf(node ?? null)).toBeLessThanOrEqual(90);
    expect(JSON.stringify(entries)).toMatch(/deeper than|too deep/);
    expect(JSON.stringify(node)).toContain('JSON text');
  });
  test('twenty of them are declared whole', () => {
    const { node, entries } = cleaned(20);
    expect(entries).toEqual([]);
    expect(JSON.stringify(node)).toContain('"z"');
  });
});

test('what is too deep to be declared is JSON text, with its members in words', () => {
  let schema: JsonObject = { type: 'object', properties: { b: { type: 'string' }, c: {} } };
  for (let level = 0; level < 43; level += 1)
    schema = { type: 'object', properties: { a: schema } };
  const { node, entries } = clean(schema);
  expect(JSON.stringify(node)).toContain(
    '{"a":{"type":"string","description":"(JSON text of object {b, c})"}}',
  );
  const path = `${PATH}${'.properties.a'.repeat(43)}`;
  expect(entries).toContainEqual({
    action: 'approximated',
    path,
    reason: 'deeper than the upstream takes',
  });
});

test('references that unfold without end stop at a bound', () => {
  const definitions: JsonObject = {};
  for (let level = 0; level < 30; level += 1) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    definitions[`d${level}`] = { properties: { a: next, b: next, c: next } };
  }
  definitions.d30 = { type: 'string' };
  const spentMs = threadMs(() => {
    expect(cleanProperty({ $ref: '#/$defs/d0' }, definitions)).toBeDefined();
  });
  expect(spentMs).toBeLessThan(2000);
});

test('the same content gives the same result and the same receipt at another path', () => {
  const schema = (): JsonObject => ({ properties: { a: { type: 'number', multipleOf: 2 } } });
  const first = createReceipt();
  const second = createReceipt();
  const one = toToolInput(schema(), { receipt: first, path: 'a' });
  const two = toToolInput(schema(), { receipt: second, path: 'b' });
  expect(two).toBe(one);
  expect(Object.isFrozen(two.parameters)).toBe(true);
  expect(first.entries.map((entry) => entry.path)).toEqual(['a.properties.a.multipleOf']);
  expect(second.entries.map((entry) => entry.path)).toEqual(['b.properties.a.multipleOf']);
});

test('a hard schema of a real SDK keeps every property', () => {
  const node = {
    type: 'object',
    properties: { n: { type: 'string' }, next: { $ref: '#/$defs/node' } },
  };
  const { node: cleaned } = clean({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    additionalProperties: false,
    required: ['id', 'mode'],
    $defs: { node },
    properties: {
      id: { type: 'string', format: 'uuid', minLength: 1, maxLength: 64, pattern: '^[a-z]+$' },
      when: { type: 'string', format: 'date-time' },
      mode: { const: 'fast' },
      level: { type: 'integer', enum: [1, 2, 3] },
      ratio: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1, multipleOf: 0.01 },
      maybe: { type: ['string', 'null'], default: null },
      either: { oneOf: [{ type: 'string' }, { type: 'array', uniqueItems: true }] },
      both: { allOf: [{ properties: { a: {} } }, { properties: { b: {} } }] },
      map: { type: 'object', propertyNames: { pattern: '^[a-z]+$' } },
      pair: { type: 'array', prefixItems: [{ type: 'string' }], items: false },
      tree: { $ref: '#/$defs/node' },
      anything: {},
      nothing: { type: 'object', properties: {} },
      list: { type: 'array' },
    },
  });
  expect(Object.keys(isJsonObject(cleaned?.properties) ? cleaned.properties : {})).toHaveLength(14);
});

test('exclusive bounds of whole numbers are the next whole number, and the tighter bound holds', () => {
  const bounds = (schema: JsonObject) => cleanProperty({ type: 'integer', ...schema });
  expect(bounds({ exclusiveMinimum: 1.5, exclusiveMaximum: 4.5 })).toMatchObject({
    minimum: 2,
    maximum: 4,
  });
  expect(
    bounds({ minimum: 9, exclusiveMinimum: 1, maximum: 20, exclusiveMaximum: 30 }),
  ).toMatchObject({ minimum: 9, maximum: 20 });
  expect(bounds({ minimum: 1, exclusiveMinimum: 5 })).toMatchObject({ minimum: 6 });
});

test('limits of another type, and a boolean with one value, are on the receipt', () => {
  const properties = { a: { type: 'string', minItems: 2 }, b: { const: true } };
  const { node, entries } = clean({ type: 'object', properties });
  expect(node?.properties).toMatchObject({
    a: { type: 'string' },
    b: { type: 'boolean', description: '(always true)' },
  });
  expect(entries.map(({ action, path }) => [action, path.replace(PATH, '')])).toEqual([
    ['dropped', '.properties.a.minItems'],
    ['approximated', '.properties.b.const'],
  ]);
});

test('values that are one text are listed once', () => {
  expect(cleanProperty({ enum: ['1', 1, 1] })).toMatchObject({ type: 'string', enum: ['1'] });
});

test('eight times the demands on one property cost not much more than eight times as much', () => {
  const demands = (count: number): JsonObject => ({
    type: 'object',
    allOf: Array.from({ length: count }, (_, least) => ({
      properties: { a: { type: 'string', minLength: least } },
    })),
  });
  const costOf = (count: number): number => {
    const costs = Array.from({ length: 5 }, (_, attempt) => {
      const schema = { ...demands(count), title: `${count} ${attempt}` };
      return threadMs(() => toToolInput(schema, { receipt: createReceipt(), path: PATH }));
    });
    return Math.min(...costs);
  };
  expect(costOf(18_000)).toBeLessThan(16 * costOf(2_250) + 100);
});

test('of an object with more members than are read of a schema none is begun', () => {
  const members = Array.from({ length: 60_000 }, (_, index) => [`m${index}`, { type: 'integer' }]);
  const { node, entries } = clean({
    type: 'object',
    properties: { wide: { type: 'object', properties: Object.fromEntries(members) }, a: {} },
  });
  expect(node?.properties).toMatchObject({
    wide: { type: 'string', description: '(JSON text of a value too deep to describe)' },
  });
  expect(entries.length).toBeLessThan(10);
});
