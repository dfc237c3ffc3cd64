import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assistant, user } from '../../../test/support/canonical.ts';
import type { Part, Signature, Turn } from '../../canonical/request.ts';
import { isJsonObject, type JsonValue, parseJson } from '../../lib/json.ts';
import { encode } from './encode.ts';
import { requestOf, sandbox, targetOf } from './requests.test-support.ts';

const text = fc.constantFrom('', 'x', 'y');
const signature: fc.Arbitrary<Signature | undefined> = fc.option(
  fc.record({
    value: fc.constantFrom('S1', 'S2'),
    on: fc.constantFrom('thinking', 'text', 'tool-call', 'media', undefined),
  }),
  { nil: undefined },
);
const assistantPart: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ kind: fc.constant('text'), text, signature }),
  fc.record({ kind: fc.constant('thinking'), text, signature }),
  fc.record({ kind: fc.constant('redacted-thinking'), payload: text }),
  fc.record({
    kind: fc.constant('tool-call'),
    id: fc.constantFrom('a', 'b'),
    name: fc.constant('get'),
    input: fc.constant({}),
    signature,
  }),
);
const turns: fc.Arbitrary<Turn[]> = fc.array(
  fc.oneof(
    fc.record({ role: fc.constant('assistant'), parts: fc.array(assistantPart) }),
    fc.record({
      role: fc.constant('user'),
      parts: fc.array(fc.record({ kind: fc.constant('text'), text })),
    }),
  ),
);
const target = fc.record({
  modelId: fc.constantFrom('alpha-3-flash', 'gemini-2.5-pro', 'gemini-3-pro', 'alpha-3-pro-image'),
  signatures: fc.constantFrom('carried', 'stripped'),
  usesPlaceholders: fc.boolean(),
});

test('an encoded conversation never holds an empty content or an empty part', () => {
  fc.assert(
    fc.property(turns, target, (conversation, { modelId, ...plan }) => {
      const request = requestOf({ turns: [user('q'), ...conversation] });
      const { contents } = encode(request, targetOf(modelId, plan), sandbox);
      for (const part of partsOf(contents)) {
        expect(Object.keys(part).length).toBeGreaterThan(0);
        if (part.text === '') expect(part.thoughtSignature).toBeDefined();
      }
    }),
  );
});

test('encoding leaves the request untouched and gives the same body again', () => {
  fc.assert(
    fc.property(turns, target, (conversation, { modelId, ...plan }) => {
      const request = requestOf({ turns: [user('q'), ...conversation] });
      const before = JSON.stringify(request);
      const once = encode(request, targetOf(modelId, plan), sandbox);
      expect(encode(request, targetOf(modelId, plan), sandbox)).toEqual(once);
      expect(JSON.stringify(request)).toBe(before);
    }),
  );
});

test('big integers and reserved keys in arguments survive to the last byte', () => {
  const args = '{"id":12345678901234567890,"__proto__":{"a":1},"constructor":-0}';
  const input = parseJson(args);
  if (!isJsonObject(input)) throw new Error('the arguments are an object');
  const call: Part = { kind: 'tool-call', id: 't1', name: 'get', input };
  const result: Part = {
    kind: 'tool-result',
    callId: 't1',
    content: [{ kind: 'json', value: input }],
    isError: false,
  };
  const request = requestOf({ turns: [user('q'), assistant(call), user(result)] });
  const body = JSON.stringify(encode(request, targetOf('alpha-3-flash'), sandbox));
  expect(body).toContain(`"args":${args}`);
  expect(body).toContain(`"response":${args}`);
});

function partsOf(contents: JsonValue | undefined) {
  if (!Array.isArray(contents)) throw new Error('contents is a list');
  return contents.flatMap((content) => {
    if (!isJsonObject(content) || !Array.isArray(content.parts)) throw new Error('no parts');
    expect(content.parts.length).toBeGreaterThan(0);
    return content.parts.filter(isJsonObject);
  });
}
