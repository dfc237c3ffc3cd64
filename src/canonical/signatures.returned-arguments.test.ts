import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../lib/json.ts';
import { declaredArguments, mayComeBackChanged, meansTheSame } from './signatures.ts';

const SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    all: { type: 'boolean', default: false },
    view: {
      type: 'object',
      properties: { from: { type: 'integer', default: 1 }, to: { type: 'integer' } },
      default: {},
    },
    edits: {
      type: 'array',
      items: { type: 'object', properties: { all: { type: 'boolean', default: false } } },
    },
  },
};

test.each<[string, JsonValue, JsonValue]>([
  ['a member', { all: false, path: 'a' }, { path: 'a' }],
  ['a member of a member', { view: { from: 1, to: 2 } }, { view: { to: 2 } }],
  ['a member of a default', { path: 'a', view: { from: 1 } }, { path: 'a' }],
  [
    'a member of an item',
    { edits: [{ all: false }, { all: true }] },
    { edits: [{}, { all: true }] },
  ],
  ['nothing', { path: 'a' }, { path: 'a' }],
  ['a text without its blanks at line ends', { path: 'a\nb\n' }, { path: 'a  \nb\t\n ' }],
])('%s means the same as what was left out or written for it', (_name, returned, written) => {
  expect(meansTheSame(returned, written, SCHEMA)).toBe(true);
});

test.each<[string, JsonValue, JsonValue]>([
  ['another value than the default', { path: 'a', all: true }, { path: 'a' }],
  ['a text without its indent', { path: 'a\nb' }, { path: 'a\n  b' }],
  ['a changed member', { path: 'b', all: false }, { path: 'a' }],
  ['a member that is gone', { all: false }, { path: 'a' }],
  ['a member nobody declares', { path: 'a', constructor: null }, { path: 'a' }],
  ['a member without a default', { path: 'a', edits: [] }, { path: 'a' }],
  ['another number of items', { edits: [{}, {}] }, { edits: [{}] }],
])('%s means something else', (_name, returned, written) => {
  expect(meansTheSame(returned, written, SCHEMA)).toBe(false);
});

function declared(parameters: JsonObject | boolean) {
  return declaredArguments([{ kind: 'function', name: 'f', parameters }]).get('f');
}

test('arguments may come back changed where defaults are declared at any depth, or a line ends in blanks', () => {
  expect(mayComeBackChanged('{}', declared(SCHEMA))).toBe(true);
  const inItems = { type: 'array', items: { properties: { a: { default: null } } } };
  expect(mayComeBackChanged('{}', declared({ properties: { list: inItems } }))).toBe(true);
  expect(mayComeBackChanged('{}', declared({ properties: { default: { type: 'string' } } }))).toBe(
    false,
  );
  for (const text of ['a \nb', 'a\t\r\nb', 'a\nb ']) {
    expect(mayComeBackChanged(JSON.stringify({ text }), declared(true))).toBe(true);
  }
  expect(mayComeBackChanged(JSON.stringify({ text: 'a b\n c' }), declared(true))).toBe(false);
});
