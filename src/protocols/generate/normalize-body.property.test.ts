import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GatewayError } from '../../canonical/error.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../lib/json.ts';
import { normalizeBody } from './normalize-body.ts';

const MODEL = 'm';

/** Free-form JSON text with keys and numbers that careless copying would change. */
const hostileKey = fc.constantFrom('__proto__', 'constructor', 'toString', 'top_p', 'any_of', 'a');
const hostileText = fc
  .dictionary(
    fc.oneof(hostileKey, fc.string()),
    fc.oneof(
      fc.constantFrom('12345678901234567890', '1e999', '-0', '0.1', 'null', '"[undefined]"'),
      fc.jsonValue().map((value) => JSON.stringify(value)),
    ),
    { maxKeys: 5, noNullPrototype: true },
  )
  .map((members) => {
    const texts = Object.entries(members).map(([key, text]) => `${JSON.stringify(key)}:${text}`);
    return `{${texts.join(',')}}`;
  });

const partText = fc.oneof(
  fc.string({ minLength: 1 }).map((text) => JSON.stringify({ text })),
  hostileText.map((args) => `{"function_call":{"name":"f","args":${args}}}`),
  hostileText.map((args) => `{"functionResponse":{"name":"f","response":${args}}}`),
  fc.constant('{"inline_data":{"mime_type":"image/png","data":"AAAA"}}'),
  fc.constant('{"thought_signature":"QUJD"}'),
);

const bodyText = fc
  .record({
    parts: fc.array(partText, { minLength: 1, maxLength: 4 }),
    role: fc.constantFrom('user', 'model', 'function', ''),
    schema: hostileText,
    level: fc.constantFrom('none', 'LOW', 'High'),
  })
  .map(
    ({ parts, role, schema, level }) =>
      `{"contents":[{"role":"${role}","parts":[${fittingParts(parts, role)}]}],"system_instruction":"s",` +
      `"tools":[{"function_declarations":[{"name":"f","parameters_json_schema":${schema}}],"vendora_search":{}}],` +
      `"generation_config":{"thinking_config":{"thinking_level":"${level}"},"max_output_tokens":"7"}}`,
  );

/** Calls are the model's and responses the user's; anything else would be refused. */
function fittingParts(parts: readonly string[], role: string): string {
  const misplaced = role === 'model' ? 'functionResponse' : 'function_call';
  return [...parts.filter((part) => !part.startsWith(`{"${misplaced}"`)), '{"text":"x"}'].join(',');
}

function read(text: string): JsonObject {
  const value = parseJson(text);
  if (!isJsonObject(value)) throw new Error('not an object');
  return value;
}

test('normalising twice gives the same body and adds nothing to the receipt', () => {
  fc.assert(
    fc.property(bodyText, (text) => {
      const once = normalizeBody(read(text), MODEL, createReceipt());
      const receipt = createReceipt();
      const twice = normalizeBody(once, MODEL, receipt);
      expect(JSON.stringify(twice)).toBe(JSON.stringify(once));
      expect(receipt.entries).toEqual([]);
    }),
  );
});

test('free-form arguments, results and schemas come out as they came in', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const free = JSON.stringify(parseJson(text));
      const body = read(
        `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":${text}}}]},{"parts":[{"function_response":{"name":"f","response":${text}}}]}],"tools":[{"function_declarations":[{"name":"f","parameters_json_schema":${text}}]}]}`,
      );
      const output = JSON.stringify(normalizeBody(body, MODEL, createReceipt()));
      expect(output).toBe(
        `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":${free}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":${free}}}]}],"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":${free}}]}]}`,
      );
    }),
  );
});

const knownKeys = [
  'contents',
  'parts',
  'text',
  'role',
  'systemInstruction',
  'generationConfig',
  'thinkingConfig',
  'tools',
  'functionDeclarations',
  'inlineData',
  'functionCall',
  'name',
  'args',
  '__proto__',
];

const { anyBody } = fc.letrec<{ anyValue: unknown; anyBody: Record<string, unknown> }>((tie) => ({
  anyValue: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, 0, -1, 'user', '', '[undefined]'),
    fc.array(tie('anyValue'), { maxLength: 3 }),
    tie('anyBody'),
  ),
  anyBody: fc.dictionary(fc.constantFrom(...knownKeys), tie('anyValue'), { maxKeys: 5 }),
}));

test('any body at all is either read or refused with a named field', () => {
  fc.assert(
    fc.property(anyBody, (value) => {
      const body = read(JSON.stringify(value));
      try {
        normalizeBody(body, MODEL, createReceipt());
      } catch (error) {
        expect(error).toBeInstanceOf(GatewayError);
        expect(error).toMatchObject({ kind: 'invalid-request', field: expect.any(String) });
      }
      expect(Object.keys(Object.prototype)).toEqual([]);
    }),
    { numRuns: 500 },
  );
});
