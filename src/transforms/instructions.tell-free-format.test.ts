import { expect, test } from 'vitest';
import { capabilitiesOf, contextOf, requestOf, user } from '../../test/support/canonical.ts';
import type { JsonObject } from '../lib/json.ts';
import { applyTransforms } from './index.ts';

function tell(schema: JsonObject, takesJsonSchema = false) {
  const context = contextOf({ capabilities: capabilitiesOf({ takesJsonSchema }) });
  const request = requestOf({
    turns: [user('Hi')],
    outputFormat: { kind: 'json-schema', schema },
  });
  const { system, outputFormat } = applyTransforms(request, context);
  return { words: system.map(({ text }) => text).join('\n'), outputFormat, context };
}

test.each<[JsonObject]>([
  [{ type: 'object', additionalProperties: { type: 'number' }, description: 'scores by name' }],
  [{ patternProperties: { '^a': { type: 'string' } } }],
  [{ type: ['object', 'null'], minProperties: 1 }],
  [{ $ref: '#/$defs/M', $defs: { M: { type: 'object', additionalProperties: true } } }],
])('a format of free member names is told in words, and JSON is asked for: %j', (schema) => {
  const { words, outputFormat, context } = tell(schema);
  expect(words).toContain(JSON.stringify(schema));
  expect(outputFormat).toEqual({ kind: 'json' });
  expect(context.receipt.entries).toMatchObject([
    { action: 'approximated', path: 'response_format' },
  ]);
});

test.each<[JsonObject]>([
  [{}],
  [{ type: 'object', properties: { a: { type: 'string' } } }],
  [{ type: 'array', items: { type: 'object' } }],
  [{ anyOf: [{ type: 'object' }, { type: 'string' }] }],
  [{ minimum: 1 }],
  [{ type: 'object', propertyNames: { enum: ['a'] }, additionalProperties: { type: 'string' } }],
])('any other format is sent as it is: %j', (schema) => {
  const { words, outputFormat, context } = tell(schema);
  expect(words).toBe('');
  expect(outputFormat).toEqual({ kind: 'json-schema', schema });
  expect(context.receipt.entries).toEqual([]);
});

test('a format of free member names is sent as it is where the upstream takes JSON Schema', () => {
  const schema = { type: 'object', additionalProperties: { type: 'number' } };
  const { words, outputFormat, context } = tell(schema, true);
  expect(words).toBe('');
  expect(outputFormat).toEqual({ kind: 'json-schema', schema });
  expect(context.receipt.entries).toEqual([]);
});
