import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countTurns } from '../../test/support/turns.ts';
import {
  parseInSteps,
  type StepwiseSyntaxError,
  stringifyInSteps,
  VectorCutter,
} from './chunked-json.ts';
import { JSON_LIMITS, JsonLimitScanner, parseJson } from './json.ts';

const PIECE_BYTES = 65_536;

/** Looks over the text as it would arrive, then parses it. */
async function parse(text: string) {
  const bytes = Buffer.from(text);
  const survey = new JsonLimitScanner(JSON_LIMITS);
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    expect(survey.read(bytes.subarray(start, start + PIECE_BYTES))).toBeUndefined();
  }
  return { value: await parseInSteps(bytes, survey), longTexts: survey.longTexts };
}

const BASE64 = 'Ab+/'.repeat(300_000);

test('long media are found where they stand and come back there', async () => {
  const body = {
    größe: [BASE64, `data:image/png;base64,${BASE64}`, 'short', { data: `${BASE64}AA==` }],
    temperature: 0.7,
    other: { a: null, b: BASE64 },
  };
  const { value, longTexts } = await parse(JSON.stringify(body));
  expect(longTexts).toHaveLength(4);
  expect(value).toEqual(body);
});

test('a key such as __proto__ stays a key when its text is put back', async () => {
  const text = `{"a":{"__proto__":"${BASE64}","constructor":["${BASE64}"]}}`;
  expect(JSON.stringify((await parse(text)).value)).toBe(text);
});

test.each([
  ['an escape', `${BASE64}\\n`],
  ['an escaped quote', `${BASE64}\\"${BASE64}`],
  ['a character of two bytes', `${BASE64}é`],
  ['words', 'Hello there. '.repeat(100_000)],
  ['another kind of address', `data:text/plain,${BASE64}`],
])('a long text with %s is what the parser makes of it', async (_what, inner) => {
  const text = `{"a":["${inner}"],"b":"${BASE64}"}`;
  expect((await parse(text)).value).toEqual(JSON.parse(text));
});

test('a long text is read in pieces that cut no character and no escape', async () => {
  const MEGABYTES = 9 * 1_048_576;
  const unit = fc.constantFrom(
    'word ',
    'é',
    '日',
    '😀',
    '\\n',
    '\\"',
    '\\\\',
    '\\ud83d\\ude00',
    '\\u00e9',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(unit, { minLength: 1, maxLength: 9 }), async (units) => {
      const inner = units.join('');
      const text = `{"a":"${inner.repeat(Math.ceil(MEGABYTES / Buffer.byteLength(inner)))}"}`;
      const { value } = await parse(text);
      expect((value as { a: string }).a === JSON.parse(text).a).toBe(true);
    }),
    { numRuns: 12 },
  );
});

test('halves of characters that escapes name stay what they are', async () => {
  const long = 'word '.repeat(1_000_000);
  const text = `{"a":"${long}\\ud83d${long}\\ude00\\ud83d\\ude00é"}`;
  const { value } = await parse(text);
  expect((value as { a: string }).a === JSON.parse(text).a).toBe(true);
});

test.each([
  ['behind long texts', (long: string) => `{"a":"${long}","b":nothing}`, 'n'],
  ['in a later piece of a long text', (long: string) => `{"a":"${long}${long}\\x"}`, 'x'],
])(
  'a fault %s is told with a text in which it stands where it stood',
  async (_what, write, fault) => {
    const text = write('é\\n日😀 word '.repeat(300_000));
    const error = await parse(text).catch((thrown: unknown) => thrown);
    const told = (error as StepwiseSyntaxError).text;
    expect(told).toHaveLength(text.length);
    expect(() => JSON.parse(told)).toThrow(SyntaxError);
    expect(told.lastIndexOf(fault)).toBe(text.lastIndexOf(fault));
  },
);

test.each([
  ['a long text is', `"${'Hello there. '.repeat(2_000_000)}"`],
  [
    'many texts of some length are',
    JSON.stringify(Array(1_300).fill('Hello there. '.repeat(1_500))),
  ],
])('others get their turn while %s read', async (_what, json) => {
  const { result, turns } = await countTurns(() => parse(`{"a":${json}}`));
  expect(turns).toBeGreaterThan(6);
  expect(JSON.stringify(result.value) === `{"a":${json}}`).toBe(true);
});

test.each([
  ['a control character', `{"a":"${BASE64}\n"}`],
  ['a control character in the head of an address', `{"a":"data:image/\tpng;base64,${BASE64}"}`],
  ['an escape of nothing in a long text', `{"a":"a b${BASE64}\\q"}`],
  ['half an escape at the end of a long text', `{"a":"a b${BASE64}\\u00"}`],
  ['no end', `{"a":"${BASE64}",`],
  ['no quote', `{"a":"${BASE64}`],
])('%s is no JSON, here as elsewhere', async (_what, text) => {
  await expect(parse(text)).rejects.toThrow(SyntaxError);
});

test('numbers a double may not hold keep their text beside a long medium', async () => {
  const text = `{"a":"${BASE64}","n":12345678901234567890,"z":-0}`;
  expect(JSON.stringify((await parse(text)).value)).toBe(text);
});

test('a byte order mark is passed over', async () => {
  expect((await parse(`\uFEFF{"a":"${BASE64}"}`)).value).toEqual({ a: BASE64 });
});

test('whatever stands around long media is parsed as ever', async () => {
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.jsonValue(),
      fc.constant(BASE64),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.string(), tie('value'), { maxKeys: 3 }),
    ),
  })).value;
  await fc.assert(
    fc.asyncProperty(value, async (body) => {
      const text = JSON.stringify(body);
      expect((await parse(text)).value).toEqual(parseJson(text));
    }),
    { numRuns: 50 },
  );
});

test('an answer with long lists is the same JSON, written in several turns', async () => {
  const rows = Array.from({ length: 4_001 }, (_, at) => ({
    at,
    'gr"oup': `é${at}`,
    left: undefined,
  }));
  const answer = { rows, none: [], one: [1], left: undefined, 'na"me': { rows: null } };
  // A list of undefined fields is no JSON by its type.
  const given = answer as object as Record<string, never>;
  const { result, turns } = await countTurns(() => stringifyInSteps(given));
  expect(String(result)).toBe(JSON.stringify(answer));
  expect(turns).toBeGreaterThanOrEqual(16);
  async function* parts() {
    yield [];
    yield rows;
    yield [{ last: 'é' }];
  }
  const read = await countTurns(() => stringifyInSteps(given, { name: 'rest', parts: parts() }));
  const all = { ...answer, rest: [...rows, { last: 'é' }] };
  expect(String(read.result)).toBe(JSON.stringify(all));
  expect(read.turns).toBeGreaterThanOrEqual(32);
  async function* none() {}
  expect(String(await stringifyInSteps({}, { name: 'rest', parts: none() }))).toBe('{"rest":[]}');
});

/** What the pieces are without their vectors, and with them again. */
function cutVectors(pieces: readonly string[]) {
  const cutter = new VectorCutter();
  const rest = pieces.map((piece) => cutter.cut(piece)).join('') + cutter.end();
  return { rest, value: cutter.restore(parseJson(rest)) };
}

const vector = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), {
  minLength: 90,
  maxLength: 120,
});

test('vectors come back where they were, whatever is around them and wherever the text is cut', () => {
  const { node } = fc.letrec((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      vector,
      vector.map((numbers) => JSON.stringify(numbers)),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('[', '"[', '\\', '\\"[1,2', null, true, 1e300),
      fc.array(fc.integer()),
      fc.array(tie('node'), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie('node'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(node, fc.integer({ min: 1, max: 700 }), fc.boolean(), (value, size, isWide) => {
      const text = JSON.stringify(value, null, isWide ? 1 : 0);
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      expect(JSON.stringify(cutVectors(pieces).value)).toBe(JSON.stringify(value));
    }),
    { numRuns: 300 },
  );
});

test('of many vectors little is left to be parsed at once', () => {
  const list = Array.from({ length: 50 }, (_, index) => Array<number>(1000).fill(index / 7));
  const { rest, value } = cutVectors([JSON.stringify({ list })]);
  expect(rest.length).toBeLessThan(3000);
  expect(value).toEqual({ list });
});

test.each([
  ['a number no double holds', `[${'1,'.repeat(200)}1e999]`],
  ['more of it than any vector has', `[${'1,'.repeat(600_000)}1]`],
])('a list with %s is left to the parser', (_what, text) => {
  const { rest, value } = cutVectors([text]);
  expect(rest).toBe(text);
  expect(JSON.stringify(value)).toBe(text);
});

test.each([`[${'1,'.repeat(200)}`, `{"a":[${'1,'.repeat(200)},]}`, `[${'1,'.repeat(200)}"`])(
  'what is no JSON stays as it is',
  (text) => {
    const cutter = new VectorCutter();
    expect(cutter.cut(text) + cutter.end()).toBe(text);
  },
);
