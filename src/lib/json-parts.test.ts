import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from './json.ts';
import { cutLongTexts, MIN_ESCAPED_LENGTH, writeParts } from './json-parts.ts';

const write = async (body: JsonObject): Promise<string> =>
  (await writeParts(cutLongTexts(body, (json) => json))).toString();

const long = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 20 })
  .map((text) => text.repeat(Math.ceil(MIN_ESCAPED_LENGTH / text.length) + 1));

const vector = fc.array(fc.double(), { minLength: 60, maxLength: 80 });

test('what is written of long texts and vectors, wherever they are, is what JSON.stringify writes', async () => {
  const value = fc.letrec((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      fc.string(),
      long,
      vector,
      fc.constant(null),
      fc.integer(),
      fc.array(tie('node'), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie('node'), { maxKeys: 4 }),
    ),
  })).node;
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), value), async (body) => {
      expect(await write(JSON.parse(JSON.stringify(body)))).toBe(JSON.stringify(body));
    }),
    { numRuns: 50 },
  );
});

test('vectors of megabytes are written whole, and others have their turn meanwhile', async () => {
  const data = Array.from({ length: 1000 }, (_, index) => Array<number>(2000).fill(index / 7));
  let turns = 0;
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  const written = await write({ data });
  clearImmediate(next);
  expect(turns).toBeGreaterThan(5);
  expect(written === JSON.stringify({ data })).toBe(true);
});

test('a text of megabytes is written whole, characters beyond the first plane too', async () => {
  const text = '"\n😀é'.repeat(2_000_000);
  expect(JSON.parse(await write({ text }))).toEqual({ text });
});

test('a long text of characters whose lower halves spell base64 is written as it is', async () => {
  const text = '啊'.repeat(2 * MIN_ESCAPED_LENGTH);
  expect(JSON.parse(await write({ text }))).toEqual({ text });
});

test('the JSON around long texts is given to be mended, and halves of characters with it', async () => {
  const half = `${'x'.repeat(MIN_ESCAPED_LENGTH)}\ud83d`;
  let seen = '';
  const parts = cutLongTexts({ a: 'y'.repeat(MIN_ESCAPED_LENGTH + 1), b: half }, (json) => {
    seen = json;
    return json;
  });
  expect(seen).not.toContain('yy');
  expect(seen).toContain('\\ud83d');
  expect(JSON.parse((await writeParts(parts)).toString()).b).toBe(half);
});
