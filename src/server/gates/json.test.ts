import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findJsonError, JSON_LIMITS, JsonLimitScanner } from '../../lib/json.ts';
import { checkJson } from './body.ts';

/** What is said of the text, whole or in pieces of `most` bytes. */
function survey(text: string, { limits = JSON_LIMITS, most = Number.POSITIVE_INFINITY } = {}) {
  const bytes = Buffer.from(text);
  const reader = new JsonLimitScanner(limits);
  let excess: ReturnType<JsonLimitScanner['read']>;
  for (let start = 0; start < bytes.length && excess === undefined; start += most) {
    excess = reader.read(bytes.subarray(start, start + most));
  }
  return { excess, mayHoldRiskyNumber: reader.mayHoldRiskyNumber };
}

const excess = (text: string, limits = JSON_LIMITS) => survey(text, { limits }).excess;

test('T16: depth, tokens, keys and key length are limited', () => {
  expect(excess('['.repeat(200) + ']'.repeat(200))).toBeUndefined();
  expect(excess('['.repeat(201) + ']'.repeat(201))).toBe('depth');
  expect(excess('{"a":'.repeat(100_000))).toBe('depth');
  expect(excess(`[${'{},'.repeat(700_000)}{}]`)).toBe('tokens');
  expect(excess(`{"${'k'.repeat(1024)}":1}`)).toBeUndefined();
  expect(excess(`{"${'k'.repeat(1025)}":1}`)).toBe('key');
});

/** Objects whose keys are these. */
const objectsOf = (keys: readonly (readonly string[])[]): string =>
  JSON.stringify(keys.map((names) => Object.fromEntries(names.map((name) => [name, 1]))));

test('T16: keys are limited by how many are different, or come in another order', () => {
  const numbers = Array.from({ length: 150_000 }, (_, at) => `k${at}`);
  const orders = Array.from({ length: 3000 }, (_, at) => {
    const names = Array.from({ length: 50 }, (_item, place) => `n${(place * (at + 1)) % 2503}`);
    return [...new Set(names)];
  });
  const few = numbers.slice(0, 90_000);
  for (const most of [7, 65_536]) {
    expect(survey(objectsOf([numbers]), { most }).excess).toBe('keys');
    expect(survey(objectsOf(numbers.map((name) => [name])), { most }).excess).toBe('keys');
    expect(survey(objectsOf(orders), { most }).excess).toBe('keys');
    expect(survey(objectsOf([few]), { most }).excess).toBeUndefined();
    expect(
      survey(objectsOf(Array(10).fill(few.slice(0, 30_000))), { most }).excess,
    ).toBeUndefined();
  }
  expect(excess(`[${'{"role":"user","content":"hi"},'.repeat(280_000)}0]`)).toBeUndefined();
});

test.each([
  ['at the start', '{"'],
  ['behind another', '{"a":[{}],"'],
  ['of an object in a list', '[1,{"'],
])('T16: a key %s is too long before its end has come', (_where, start) => {
  const reader = new JsonLimitScanner(JSON_LIMITS);
  expect(reader.read(Buffer.from(start))).toBeUndefined();
  expect(reader.read(Buffer.alloc(1024, 'k'))).toBeUndefined();
  expect(reader.read(Buffer.from('k'))).toBe('key');
});

test.each([
  ['a value', '{"a":"'],
  ['an item', '{"a":["b","'],
  ['an item behind an object', '[{"a":1},"'],
  ['a text alone', '"'],
])('%s may be as long as it likes', (_what, start) => {
  const reader = new JsonLimitScanner(JSON_LIMITS);
  expect(reader.read(Buffer.from(start))).toBeUndefined();
  expect(reader.read(Buffer.alloc(100_000, 'v'))).toBeUndefined();
  expect(reader.read(Buffer.from('v'))).toBeUndefined();
});

test('what stands in strings does not count', () => {
  const tight = { maxDepth: 2, maxTokens: 4, maxShapes: 9, maxKeyBytes: 100 };
  const long = '[{:,}]'.repeat(50);
  expect(excess(JSON.stringify({ a: long }), tight)).toBeUndefined();
  expect(excess(JSON.stringify({ a: `${long}\\` }), tight)).toBeUndefined();
  expect(excess(JSON.stringify({ a: `"${long}"` }), tight)).toBeUndefined();
  expect(excess(`{"a":"${'\\\\'.repeat(60)}","b":[]}`, { ...tight, maxTokens: 6 })).toBe('tokens');
});

test('the guard counts exactly as a reader of the parsed value would', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      const { tokens, depth } = measure(JSON.parse(text));
      const base = {
        maxShapes: Number.MAX_SAFE_INTEGER,
        maxKeyBytes: Number.MAX_SAFE_INTEGER,
      };
      expect(excess(text, { ...base, maxDepth: depth, maxTokens: tokens })).toBeUndefined();
      if (tokens > 0) {
        expect(excess(text, { ...base, maxDepth: depth, maxTokens: tokens - 1 })).toBe('tokens');
        expect(excess(text, { ...base, maxDepth: depth - 1, maxTokens: tokens })).toBe('depth');
      }
    }),
    { numRuns: 300 },
  );
});

test('strings of any length and escaping end where the parser says', () => {
  const limits = { maxDepth: 1, maxTokens: 3, maxShapes: 9, maxKeyBytes: 10 };
  fc.assert(
    fc.property(fc.array(fc.constantFrom('\\', '"', 'a', 'ü', '\n')), (parts) => {
      const text = JSON.stringify([parts.join('')]);
      expect(excess(text, { ...limits, maxTokens: 2 })).toBeUndefined();
      expect(excess(`{${JSON.stringify(parts.join('').slice(0, 3))}:1}`, limits)).toBeUndefined();
    }),
  );
});

test.each([
  ['', 0],
  ['{', 1],
  ['{"a":1', 6],
  ['{"a" 1}', 5],
  ['{"a":1,}', 7],
  ['[1,]', 3],
  ['[1 2]', 3],
  ['{a:1}', 1],
  ["{'a':1}", 1],
  ['{"a":1}}', 7],
  ['{"a":1} x', 8],
  ['{"a":01}', 6],
  ['{"a":.5}', 5],
  ['{"a":NaN}', 5],
  ['{"a":tru}', 5],
  ['[}', 1],
  ['{]', 1],
  ['[1}', 2],
  ['\u00a0{}', 0],
])('%j stops being JSON at %i', (text, position) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(findJsonError(text)).toBe(position);
});

test('a whole JSON text has no error, a broken one always has', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(findJsonError(text)).toBe(text.length);
    }),
  );
});

test.each([
  'application/json',
  'Application/JSON',
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
  'application/vnd.api+json',
  'application/json; version=1',
])('%j is JSON', (type) => {
  expect(() => checkJson(requestOf(type))).not.toThrow();
});

test.each([
  undefined,
  '',
  'text/plain',
  'text/plain;application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/jsonp',
  'text/json',
  'application/json, text/plain',
  'application/json; charset=utf-16',
  'application/+json',
])('%j is not JSON', (type) => {
  expect(() => checkJson(requestOf(type))).toThrow('Content-Type: application/json');
});

/** A request with a body of the type it names. */
function requestOf(type: string | undefined): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.headers = { 'content-length': '2', 'content-type': type };
  return request;
}

function measure(value: unknown): { tokens: number; depth: number } {
  if (typeof value !== 'object' || value === null) return { tokens: 0, depth: 0 };
  const inner = Object.values(value).map(measure);
  const colons = Array.isArray(value) ? 0 : inner.length;
  const own = 2 + colons + Math.max(0, inner.length - 1);
  return {
    tokens: inner.reduce((sum, { tokens }) => sum + tokens, own),
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
  };
}

test('numbers a double may not hold are seen outside strings only', () => {
  const isRisky = (text: string): boolean => survey(text).mayHoldRiskyNumber;
  const risky = ['[12345678901234567890]', '{"a":1e999}', '[-0]', '[0.12345678901234567]', '1E5'];
  const safe = ['["12345678901234567890"]', '[true,false,null]', '[123456789012345]', '[1.5,-7]'];
  expect(risky.map(isRisky)).toEqual(risky.map(() => true));
  expect(safe.map(isRisky)).toEqual(safe.map(() => false));
});

test('wherever a body is cut into pieces, the same is said of it', () => {
  const word = fc.constantFrom(
    '"',
    '\\',
    '\\"',
    '-',
    '-0',
    '0',
    '1e5',
    '123456789012345',
    ',',
    ':',
  );
  const garbage = fc.array(fc.oneof(word, fc.constantFrom('[', ']', '{', '}', 'k'.repeat(60))));
  const limits = { maxDepth: 3, maxTokens: 12, maxShapes: 9, maxKeyBytes: 64 };
  const text = fc.oneof(
    garbage.map((words) => words.join('')),
    fc.json(),
    fc.json().map((json) => `["${'\\'.repeat(50)}",${json}]`),
  );
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 70 }), (json, most) => {
      expect(survey(json, { limits, most })).toEqual(survey(json, { limits }));
    }),
    { numRuns: 2000 },
  );
});
