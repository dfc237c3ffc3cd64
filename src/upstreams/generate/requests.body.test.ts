import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sharedList } from '../../../test/support/shared-list.ts';
import { createReceipt } from '../../canonical/receipt.ts';
import { type JsonObject, parseJson } from '../../lib/json.ts';
import { encodeBody } from './requests.ts';

const base64 = (length: number): string => 'Ab+/'.repeat(length / 4);

async function expectSame(body: JsonObject): Promise<void> {
  const before = JSON.stringify(body);
  expect(String(await encodeBody(body))).toBe(before);
  expect(JSON.stringify(body)).toBe(before);
}

test('a body with long media is the same bytes as its JSON', async () => {
  const media = (data: string): JsonObject => ({ inlineData: { mimeType: 'image/png', data } });
  await expectSame({
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

test('whatever stands where media do goes out as JSON would write it', async () => {
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
  await fc.assert(fc.asyncProperty(body, (value) => expectSame(value as JsonObject)));
});

test('media of many megabytes take several turns and come out whole', async () => {
  const data = `${'Ab+/'.repeat(5_000_000)}AAA=`;
  const medium = { inlineData: { data } };
  const body = { contents: [{ parts: [medium, { text: 'Größe' }, medium] }] };
  const encoded = encodeBody(body);
  expect(encoded).toBeInstanceOf(Promise);
  expect((await encoded).equals(Buffer.from(JSON.stringify(body)))).toBe(true);
});

test.each([
  ['one byte', 'Hello "there"\n'],
  ['characters of two halves', 'a😀'],
  ['many scripts', '日本 \\ é\t'],
])('a text of many megabytes with %s takes several turns and comes out whole', async (_, unit) => {
  const text = `x${unit.repeat(Math.ceil(9_000_000 / unit.length))}`;
  const medium = { inlineData: { data: base64(40_000) } };
  const body = {
    contents: [{ parts: [{ text }, medium, { text: 'short' }, { text, thought: true }] }],
  };
  const encoded = encodeBody(body);
  expect(encoded).toBeInstanceOf(Promise);
  expect((await encoded).equals(Buffer.from(JSON.stringify(body)))).toBe(true);
});

test('many texts of some length take several turns and come out whole', async () => {
  const text = 'Hello "there" é\n'.repeat(5_000);
  const parts = Array.from({ length: 100 }, (_, index) => ({ text: `${index} ${text}` }));
  const body = { contents: [{ role: 'user', parts: [...parts, { text: 'short' }] }] };
  const encoded = encodeBody(body);
  expect(encoded).toBeInstanceOf(Promise);
  expect((await encoded).equals(Buffer.from(JSON.stringify(body)))).toBe(true);
});

test('arguments, instructions and tools of a large body take several turns and come out whole', async () => {
  const text = 'Hello "there" é\n'.repeat(400_000);
  const body = {
    systemInstruction: { parts: [{ text }] },
    contents: [{ parts: [{ functionCall: { name: 'f', args: { a: [text, base64(40_000)] } } }] }],
    tools: [{ functionDeclarations: [{ name: 'f', description: text }] }],
  };
  const encoded = encodeBody(body, undefined, true);
  expect(encoded).toBeInstanceOf(Promise);
  expect((await encoded).equals(Buffer.from(JSON.stringify(body)))).toBe(true);
});

test('half a character in a text of many megabytes is mended and told at once', async () => {
  const receipt = createReceipt();
  const text = `${'Hello '.repeat(1_000_000)}${HALF}`;
  const encoded = encodeBody({ contents: [{ parts: [{ text }] }] }, receipt);
  expect(receipt.entries).toHaveLength(1);
  expect(String(await encoded)).toContain('cut \uFFFD"');
});

test('keys such as __proto__ stay what they are beside a medium', async () => {
  const text = `{"contents":[{"parts":[{"inlineData":{"data":"${base64(32_768)}","__proto__":{"a":1}},"__proto__":2}]}],"__proto__":[]}`;
  expect(String(await encodeBody(JSON.parse(text)))).toBe(text);
});

const FACE = '😀';
const HALF = `cut ${FACE.slice(0, 1)}`;

/** What is sent of a body with this part beside a long medium, and what the receipt says. */
async function sentPart(part: JsonObject) {
  const receipt = createReceipt();
  const medium = { inlineData: { data: base64(32_768) } };
  const sent = String(await encodeBody({ contents: [{ parts: [part, medium] }] }, receipt));
  const [content] = (parseJson(sent) as { contents: { parts: JsonObject[] }[] }).contents;
  expect(content?.parts[1]).toEqual(medium);
  return [content?.parts[0], receipt.entries.map(({ action, path }) => [action, path])];
}

test('halves of characters that stand alone go out as U+FFFD, and the receipt says so once', async () => {
  const note = [['repaired', 'body']];
  const call = (text: string) => ({ functionCall: { name: 'f', args: { [text]: [text, 12] } } });
  expect(await sentPart({ text: HALF })).toEqual([{ text: 'cut \uFFFD' }, note]);
  expect(await sentPart({ text: FACE.slice(1) })).toEqual([{ text: '\uFFFD' }, note]);
  expect(await sentPart(call(HALF))).toEqual([call('cut \uFFFD'), note]);
  expect(await sentPart({ text: `\\${HALF}${FACE}"` })).toEqual([
    { text: `\\cut \uFFFD${FACE}"` },
    note,
  ]);
});

test('whole characters and what only looks like the escape of a half stay as they are', async () => {
  for (const text of [FACE, `${FACE}${FACE}`, '\\ud83d', '\\\\ud83d', '\\"\\ud83d', '\u0000\n']) {
    expect(await sentPart({ text })).toEqual([{ text }, []]);
  }
});

test('a shared list of tools is the same bytes as its JSON, wherever it stands', async () => {
  const tools = sharedList([
    { functionDeclarations: [{ name: 'a', description: 'Größe "[{,}]"' }] },
  ]);
  const contents = [{ parts: [{ inlineData: { mimeType: 'image/png', data: base64(40_000) } }] }];
  for (let nth = 0; nth < 2; nth += 1) {
    await expectSame({ contents, tools, toolConfig: {} });
    await expectSame({ tools, contents });
    await expectSame({ tools });
    await expectSame({ contents: [], text: 'tools', tools });
  }
});

test('a shared list that holds half a character is mended and noted each time', async () => {
  const tools = sharedList([{ description: 'half \ud800' }]);
  for (let nth = 0; nth < 2; nth += 1) {
    const receipt = createReceipt();
    const bytes = await encodeBody({ contents: [], tools }, receipt);
    expect(String(bytes)).toBe('{"contents":[],"tools":[{"description":"half \ufffd"}]}');
    expect(receipt.entries).toHaveLength(1);
  }
});
