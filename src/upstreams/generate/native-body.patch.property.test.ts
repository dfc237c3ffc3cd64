import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../lib/json.ts';
import { patch } from './native-body.ts';
import { sandbox, targetOf } from './requests.test-support.ts';

const part: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({ text: fc.constantFrom('', 'x') }),
  fc.record({
    text: fc.constantFrom('', 'x'),
    thoughtSignature: fc.constantFrom('U0lH', 'skip_thought_signature_validator', ''),
  }),
  fc.record({ functionCall: fc.constant({ name: 'w', args: {} }) }),
  fc.record({
    functionCall: fc.constant({ name: 'w', args: {} }),
    thoughtSignature: fc.constantFrom('U0lH', 'gw1:alpha:tool-call:U0lH', 'gw1:beta::U0lH'),
  }),
  fc.record({ functionResponse: fc.constant({ name: 'w', response: {} }) }),
);
const thinkingConfig = fc.record(
  {
    includeThoughts: fc.boolean(),
    thinkingBudget: fc.integer({ min: -1, max: 99_999 }),
    thinkingLevel: fc.constantFrom('NONE', 'MINIMAL', 'low', 'MEDIUM', 'HIGH', 'UNKNOWN'),
  },
  { requiredKeys: [] },
);
const generationConfig = fc.record(
  { maxOutputTokens: fc.integer({ min: 1, max: 200_000 }), thinkingConfig },
  { requiredKeys: [] },
);
const tool: fc.Arbitrary<JsonObject> = fc.record(
  {
    functionDeclarations: fc.constant([
      { name: 'w', parameters: { type: 'object', properties: { a: { const: 1 } } } },
    ]),
    googleSearch: fc.constant({}),
    urlContext: fc.constant({}),
  },
  { requiredKeys: [] },
);
const body = fc.record({
  contents: fc
    .array(
      fc.record({
        role: fc.constantFrom('user', 'model'),
        parts: fc.array(part, { minLength: 1 }),
      }),
    )
    // Contents of which nothing can be sent are refused, and responses to no call before them.
    .map((contents) => [
      { role: 'model', parts: [{ functionCall: { name: 'w', args: {} } }] },
      ...contents,
      { role: 'user', parts: [{ text: 'x' }] },
    ]),
  generationConfig,
  tools: fc.array(tool, { maxLength: 2 }),
});
const target = fc.record({
  modelId: fc.constantFrom(
    'alpha-3-flash',
    'alpha-3-pro-image',
    'gemini-2.5-pro',
    'gemini-3-pro',
    'gemini-3.8-flash',
  ),
  signatures: fc.constantFrom('carried', 'stripped'),
  usesPlaceholders: fc.boolean(),
});

test('patching a patched body changes nothing', () => {
  fc.assert(
    fc.property(body, target, (given, { modelId, ...plan }) => {
      const once = patch(given, targetOf(modelId, plan), sandbox);
      expect(patch(once, targetOf(modelId, plan), sandbox)).toEqual(once);
    }),
  );
});

test('patching leaves the body it was given untouched', () => {
  fc.assert(
    fc.property(body, target, (given, { modelId, ...plan }) => {
      const before = JSON.stringify(given);
      patch(given, targetOf(modelId, plan), sandbox);
      expect(JSON.stringify(given)).toBe(before);
    }),
  );
});
