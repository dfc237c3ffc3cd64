import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../lib/json.ts';
import { encodeBody } from './encode-body.ts';

const base64 = (length: number): string => 'Ab+/'.repeat(length / 4);

function expectSame(body: JsonObject): void {
  const before = JSON.stringify(body);
  expect(encodeBody(body).toString()).toBe(before);
  expect(JSON.stringify(body)).toBe(before);
}

test('a body with long media is the same bytes as its JSON', () => {
  const media = (data: string): JsonObject => ({ inlineData: { mimeType: 'image/png', data } });
  expectSame({
    contents: [
      { role: 'user', parts: [{ text: 'Größe "1"' }, media(base64(40_000)), { text: '𝄞' }] },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              name: 'look',
              response: {},
              parts: [media(base64(40_000)), media(base64(32_768)), { fileData: { fileUri: 'a' } }],
            },
          },
          media(base64(400)),
        ],
      },
      { parts: [] },
    ],
    generationConfig: { maxOutputTokens: 5 },
  });
});

test('whatever stands where media do goes out as JSON would write it', () => {
  const long = base64(32_768);
  const data = fc.oneof(
    fc.constantFrom(
      long,
      `${long}"`,
      `${long}\n`,
      `${long.slice(1)}é`,
      `${long.slice(2)}==`,
      7,
      null,
    ),
    fc.string(),
  );
  const blob = fc.record({ mimeType: fc.string(), data }, { requiredKeys: [] });
  const inner = fc.oneof(fc.record({ inlineData: blob }), fc.constantFrom(null, 'text', []));
  const part = fc.oneof(
    inner,
    fc.record({ text: fc.string() }),
    fc.record({ functionResponse: fc.record({ parts: fc.array(inner, { maxLength: 3 }) }) }),
  );
  const content = fc.oneof(fc.record({ parts: fc.array(part, { maxLength: 4 }) }), fc.constant(3));
  const body = fc.record({ contents: fc.array(content, { maxLength: 3 }), model: fc.string() });
  fc.assert(fc.property(body, (value) => expectSame(value as JsonObject)));
});

test('keys such as __proto__ stay what they are beside a medium', () => {
  const text = `{"contents":[{"parts":[{"inlineData":{"data":"${base64(32_768)}","__proto__":{"a":1}},"__proto__":2}]}],"__proto__":[]}`;
  expect(encodeBody(JSON.parse(text)).toString()).toBe(text);
});
