// Properties that hold for every schema: always legal, nothing lost, stable on its own output.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countOf } from '../../test/support/counts.ts';
import { createReceipt } from '../canonical/receipt.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { jsonViolations } from './json-subset.test-support.ts';
import { violations } from './subset.test-support.ts';
import { toResponseSchema, toToolInput } from './tool-schema.ts';

const NAMES = ['a', 'b', 'pattern', '__proto__', 'constructor', '$ref', 'type', 'items'];
const name = fc.constantFrom(...NAMES);
const typeWord = fc.constantFrom(
  'string',
  'number',
  'integer',
  'boolean',
  'array',
  'object',
  'null',
  'STRING',
  'OBJECT',
  'any',
  'nonsense',
);

function own(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  return Object.fromEntries(entries);
}

/** Schemas as bad as clients send them, with every keyword possible beside every other. */
const { wild } = fc.letrec<{ wild: JsonValue; map: JsonValue }>((tie) => ({
  map: fc.array(fc.tuple(name, tie('wild')), { maxLength: 3 }).map(own),
  wild: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom<JsonValue>(true, false, null, 7, 'x', {}),
    fc
      .record(
        {
          type: fc.oneof(typeWord, fc.array(typeWord, { maxLength: 3 })),
          description: fc.constantFrom('d', '', 5),
          enum: fc.array(fc.constantFrom<JsonValue>('a', '', 1, null, true, { a: 1 }), {
            maxLength: 3,
          }),
          const: fc.constantFrom<JsonValue>('a', 2, null, false, []),
          format: fc.constantFrom('date-time', 'uri', 'int32', 'enum', 3),
          minimum: fc.constantFrom<JsonValue>(1, '2', 'x', true),
          exclusiveMinimum: fc.constantFrom<JsonValue>(0.5, true, false),
          exclusiveMaximum: fc.constantFrom<JsonValue>(4, 'x'),
          minItems: fc.constantFrom<JsonValue>(1, -1, 1.5, '3'),
          minLength: fc.constantFrom<JsonValue>(1, 'x'),
          nullable: fc.constantFrom<JsonValue>(true, 'yes'),
          required: fc.oneof(fc.array(name, { maxLength: 2 }), fc.boolean()),
          properties: tie('map'),
          patternProperties: tie('map'),
          additionalProperties: tie('wild'),
          items: fc.oneof(tie('wild'), fc.array(tie('wild'), { maxLength: 2 })),
          prefixItems: fc.array(tie('wild'), { maxLength: 2 }),
          anyOf: fc.array(tie('wild'), { maxLength: 3 }),
          oneOf: fc.array(tie('wild'), { maxLength: 2 }),
          allOf: fc.array(tie('wild'), { maxLength: 2 }),
          not: tie('wild'),
          if: tie('wild'),
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
          then: tie('wild'),
          else: tie('wild'),
          dependentSchemas: tie('map'),
          dependencies: fc.oneof(tie('map'), fc.constant<JsonValue>({ a: ['b'] })),
          $ref: fc.constantFrom('#', '#/$defs/a', '#/$defs/b', '#/properties/a', 'http://x', '#no'),
          $defs: tie('map'),
          default: fc.constantFrom<JsonValue>(null, { a: [1] }, 'x'),
          encrypted: fc.constant(true),
        },
        { requiredKeys: [] },
      )
      .map((record) => own(Object.entries(record))),
  ),
}));

function cleanTool(schema: JsonObject): JsonObject | undefined {
  return toToolInput(schema, { receipt: createReceipt(), path: 's' }).parameters;
}

function cleanResponse(schema: JsonObject): JsonObject | undefined {
  return toResponseSchema(schema, { receipt: createReceipt(), path: 's' }).responseSchema;
}

test('whatever the client sends, the upstream takes the result', () => {
  fc.assert(
    fc.property(wild, (schema) => {
      if (!isJsonObject(schema)) return;
      const before = JSON.stringify(schema);
      for (const node of [cleanTool(schema), cleanResponse(schema)]) {
        if (node !== undefined) expect(violations(node)).toEqual([]);
      }
      const tool = cleanTool(schema);
      if (tool !== undefined) expect(String(tool.type).toUpperCase()).toBe('OBJECT');
      expect(JSON.stringify(schema)).toBe(before);
    }),
    { numRuns: countOf({ slow: 300, everyday: 50 }) },
  );
});

/** What an upstream gets that takes both forms. */
function cleanTyped(schema: JsonObject): {
  readonly own: readonly (JsonObject | undefined)[];
  readonly json: readonly JsonValue[];
} {
  const options = { receipt: createReceipt(), path: 's' };
  const { form, parameters } = toToolInput(schema, { ...options, takesJsonSchema: true });
  const { responseSchema, responseJsonSchema } = toResponseSchema(schema, {
    ...options,
    takesJsonSchema: true,
  });
  const inJson = form === 'json-schema' ? [parameters] : [];
  return {
    own: form === 'schema' ? [parameters, responseSchema] : [responseSchema],
    json: [...inJson, responseJsonSchema].filter((node) => node !== undefined),
  };
}

/** One that only JSON Schema can say. */
const TREE: JsonObject = { type: 'object', properties: { a: { $ref: '#' } } };

test('whatever the client sends, JSON Schema is written in the documented keywords', () => {
  let written = 0;
  fc.assert(
    fc.property(wild, (schema) => {
      if (!isJsonObject(schema)) return;
      const before = JSON.stringify(schema);
      const { own, json } = cleanTyped(schema);
      for (const node of own) if (node !== undefined) expect(violations(node)).toEqual([]);
      for (const node of json) expect(jsonViolations(node)).toEqual([]);
      const { form, parameters } = toToolInput(schema, {
        receipt: createReceipt(),
        path: 's',
        takesJsonSchema: true,
      });
      if (form === 'json-schema') expect(parameters?.type).toBe('object');
      expect(JSON.stringify(schema)).toBe(before);
      written += json.length;
    }),
    { numRuns: countOf({ slow: 400, everyday: 50 }), examples: [[TREE]] },
  );
  expect(written).toBeGreaterThan(0);
});

test('JSON Schema never speaks of values that are sent as texts', () => {
  fc.assert(
    fc.property(wild, (schema) => {
      if (!isJsonObject(schema)) return;
      const receipt = createReceipt();
      const { form } = toToolInput(schema, { receipt, path: 's', takesJsonSchema: true });
      if (form === 'schema') return;
      const said = receipt.entries.map(({ reason }) => reason);
      expect(said).not.toContain('an object is sent as text');
      expect(said).not.toContain('any value is sent as text');
      expect(said).not.toContain('the values are sent as texts');
    }),
    { numRuns: countOf({ slow: 300, everyday: 50 }) },
  );
});

test('a schema that one form says without texts is in that form for all upstreams', () => {
  fc.assert(
    fc.property(wild, (schema) => {
      if (!isJsonObject(schema)) return;
      const receipt = createReceipt();
      const own = toToolInput(schema, { receipt, path: 's' });
      if (receipt.entries.some(({ reason }) => / text|positions|said/.test(reason.text))) return;
      expect(toToolInput(schema, { receipt, path: 's', takesJsonSchema: true })).toEqual(own);
    }),
    { numRuns: countOf({ slow: 300, everyday: 50 }) },
  );
});

test('cleaning its own output changes nothing', () => {
  fc.assert(
    fc.property(wild, (schema) => {
      if (!isJsonObject(schema)) return;
      for (const clean of [cleanTool, cleanResponse]) {
        const once = clean(schema);
        if (once === undefined) continue;
        const twice = clean(JSON.parse(JSON.stringify(once)));
        expect(JSON.stringify(twice)).toBe(JSON.stringify(once));
      }
    }),
    { numRuns: countOf({ slow: 300, everyday: 50 }) },
  );
});

/** Well-formed schemas: every declared property can have a value. */
const { sound } = fc.letrec<{ sound: JsonObject }>((tie) => ({
  sound: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom<JsonObject>({ type: 'string', minLength: 1 }, { const: 1 }, {}),
    fc.record({ type: fc.constant('array'), items: tie('sound') }),
    fc
      .array(fc.tuple(name, tie('sound')), { minLength: 1, maxLength: 3 })
      .map((entries): JsonObject => ({ type: 'object', properties: own(entries) })),
  ),
}));

test('no declared property is lost, at any depth', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, sound), { minLength: 1, maxLength: 3 }), (entries) => {
      const properties = own(entries);
      const node = cleanTool({ type: 'object', properties });
      expect(declaredNames(node)).toEqual(declaredNames({ properties }));
    }),
  );
});

test('no property is lost when it is declared in branches', () => {
  const branch = fc.array(fc.tuple(name, sound), { minLength: 1, maxLength: 3 }).map(own);
  const keyword = fc.constantFrom('allOf', 'anyOf', 'oneOf');
  fc.assert(
    fc.property(keyword, fc.array(branch, { minLength: 1, maxLength: 3 }), (key, branches) => {
      const node = cleanTool({ [key]: branches.map((properties) => ({ properties })) });
      const names = new Set(branches.flatMap((properties) => Object.keys(properties)));
      expect(new Set(Object.keys(node?.properties ?? {}))).toEqual(names);
    }),
  );
});

function declaredNames(node: JsonValue | undefined, at = ''): string[] {
  if (!isJsonObject(node)) return [];
  const found = declaredNames(node.items, `${at}[]`);
  if (!isJsonObject(node.properties)) return found;
  for (const [key, child] of Object.entries(node.properties)) {
    found.push(`${at}.${key}`, ...declaredNames(child, `${at}.${key}`));
  }
  return found;
}
