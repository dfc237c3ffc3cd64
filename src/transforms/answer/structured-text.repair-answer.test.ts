import { expect, test } from 'vitest';
import { createReceipt, type Receipt } from '../../canonical/receipt.ts';
import type { JsonObject } from '../../lib/json.ts';
import { answerRule, TextRewriter } from './structured-text.ts';

const NODE: JsonObject = {
  type: 'object',
  properties: {
    value: { enum: [1, 2] },
    children: { type: 'array', items: { $ref: '#/$defs/Node' } },
  },
  required: ['value', 'children'],
};
const TREE: JsonObject = { $ref: '#/$defs/Node', $defs: { Node: NODE } };
const MIXED: JsonObject = {
  type: 'object',
  properties: {
    level: { enum: [1, 2, null] },
    version: { const: 3 },
    by: { anyOf: [{ const: 7 }, { type: 'null' }] },
    counts: { type: 'object', additionalProperties: { type: 'integer' } },
    code: { type: 'string' },
  },
  required: ['level', 'version', 'by', 'counts', 'code'],
};

function untyped(): { receipt: Receipt; isTyped: boolean } {
  return { receipt: createReceipt(), isTyped: false };
}

function shown(schema: JsonObject, text: string, receipt: Receipt = createReceipt()): string {
  const rule = answerRule({ kind: 'json-schema', schema }, { receipt, isTyped: false });
  return rule?.rewrite(text)?.text ?? text;
}

test.each([
  [
    MIXED,
    '{"level":"2","version":"3","by":"7","counts":"{\\"a\\":1}","code":"007"}',
    '{"level":2,"version":3,"by":7,"counts":{"a":1},"code":"007"}',
  ],
  [
    TREE,
    '{"value":"1","children":["{\\"value\\":\\"2\\",\\"children\\":[]}"]}',
    '{"value":1,"children":[{"value":2,"children":[]}]}',
  ],
  [
    { type: 'object', properties: { any: {}, list: { type: 'array', items: {} } } },
    '{"any":"{\\"z\\":1}","list":["5","a","\\"5\\""]}',
    '{"any":{"z":1},"list":[5,"a","5"]}',
  ],
  [{}, '"5"', '"5"'],
  [MIXED, '```json\n{"level":"1"}\n```', '{"level":1}'],
])('values that came as texts get their types (%#)', (schema, text, expected) => {
  expect(shown(schema, text)).toBe(expected);
});

test.each([
  '{"level": 2, "version": 3, "by": null, "counts": {}, "code": "1"}',
  '{"level":"9","counts":"fake"}',
  '{"level":"1"',
  'no JSON',
])('what fits, and what nothing can be made of, stays letter for letter: %s', (text) => {
  const receipt = createReceipt();
  expect(shown(MIXED, text, receipt)).toBe(text);
  expect(receipt.entries).toEqual([]);
});

test('what was given another form is told', () => {
  const receipt = createReceipt();
  shown(MIXED, '{"version":"3"}', receipt);
  expect(receipt.entries).toMatchObject([{ action: 'repaired', path: 'answer.version' }]);
});

test.each<[boolean, JsonObject]>([
  [false, { type: 'object', properties: { a: { type: 'number' }, b: { enum: ['x', null] } } }],
  [false, { type: 'object', properties: { a: { const: true }, l: { type: 'array' } } }],
  [false, { title: 'any JSON' }],
  [true, { type: 'object', properties: { any: { description: 'any' } } }],
  [false, { anyOf: [{ type: 'string' }, { type: 'object', properties: { a: { type: 'null' } } }] }],
  [true, MIXED],
  [true, TREE],
  [true, { type: 'array', items: { type: 'object' } }],
  [true, { type: 'object', properties: { a: { enum: [true, 'auto'] } } }],
])('an answer waits for its end only where texts may stand for values: %s', (waits, schema) => {
  const rule = answerRule({ kind: 'json-schema', schema }, untyped());
  expect(rule?.mayChange('{"a"')).toBe(waits);
});

test('deep and circular schemas end, and count as having texts', () => {
  let deep: JsonObject = { type: 'string' };
  for (let depth = 0; depth < 5000; depth += 1) deep = { type: 'array', items: deep };
  const loop: JsonObject = { allOf: [{ $ref: '#' }], type: 'object', properties: { a: {} } };
  expect(shown(deep, '["x"]')).toBe('["x"]');
  expect(shown(loop, '{"a":1}')).toBe('{"a":1}');
});

test('what was too deep for the upstream to be declared comes back as what the text stands for', () => {
  let deep: JsonObject = { type: 'object', properties: { n: { type: 'integer' } } };
  let value = '"{\\"n\\": 7}"';
  for (let level = 0; level < 43; level += 1) {
    deep = { type: 'object', properties: { a: deep } };
    value = `{"a":${value}}`;
  }
  expect(shown(deep, value)).toContain('{"a":{"n":7}}');
});

test('positions in a text that was rewritten are not told', () => {
  const rule = answerRule({ kind: 'json-schema', schema: MIXED }, untyped());
  if (rule === undefined) throw new Error('no rule');
  const rewriter = new TextRewriter(rule);
  const citation = { startIndex: 0, endIndex: 3, text: '{"v', sources: [0] };
  const shownEvents = rewriter.rewrite([
    { kind: 'block-start', index: 0, choice: 0, block: { kind: 'text' } },
    { kind: 'block-delta', index: 0, delta: { kind: 'text', text: '{"version":' } },
    { kind: 'block-delta', index: 0, delta: { kind: 'text', text: '"3"}' } },
    {
      kind: 'grounding',
      choice: 0,
      queries: ['q'],
      sources: [{ url: 'https://a.test', title: 'A' }],
      citations: [citation],
    },
    { kind: 'block-end', index: 0 },
  ]);
  expect(shownEvents.map((event) => event.kind)).toEqual([
    'block-start',
    'block-delta',
    'grounding',
    'block-end',
  ]);
  expect(shownEvents[1]).toMatchObject({ delta: { text: '{"version":3}' } });
  expect(shownEvents[2]).toMatchObject({ citations: [], sources: [{ title: 'A' }] });
});

test('an answer asked for in its own types is streamed as it comes, and a text in it is a text', () => {
  const schema = { type: 'object', properties: { any: {}, level: { enum: [1, '1'] } } };
  const text = '{"any":"5","level":"1"}';
  expect(shown(schema, text)).not.toBe(text);
  const rule = answerRule(
    { kind: 'json-schema', schema },
    { receipt: createReceipt(), isTyped: true },
  );
  expect(rule?.mayChange('{"a')).toBe(false);
  expect(rule?.rewrite(text)).toBeUndefined();
});
