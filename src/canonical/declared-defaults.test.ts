import { expect, test } from 'vitest';
import type { JsonValue } from '../lib/json.ts';
import { declaresDefaults, isFilledIn } from './declared-defaults.ts';

const SCHEMA: JsonValue = {
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
])('%s that has its default now means the same', (_name, returned, written) => {
  expect(isFilledIn(returned, written, SCHEMA)).toBe(true);
});

test.each<[string, JsonValue, JsonValue]>([
  ['another value than the default', { path: 'a', all: true }, { path: 'a' }],
  ['a changed member', { path: 'b', all: false }, { path: 'a' }],
  ['a member that is gone', { all: false }, { path: 'a' }],
  ['a member nobody declares', { path: 'a', constructor: null }, { path: 'a' }],
  ['a member without a default', { path: 'a', edits: [] }, { path: 'a' }],
  ['another number of items', { edits: [{}, {}] }, { edits: [{}] }],
])('%s means something else', (_name, returned, written) => {
  expect(isFilledIn(returned, written, SCHEMA)).toBe(false);
});

test('a schema declares defaults at any depth of members and items, or none', () => {
  expect(declaresDefaults(SCHEMA)).toBe(true);
  const inItems = { type: 'array', items: { properties: { a: { default: null } } } };
  expect(declaresDefaults({ properties: { list: inItems } })).toBe(true);
  expect(declaresDefaults({ properties: { default: { type: 'string' } } })).toBe(false);
  expect(declaresDefaults(true)).toBe(false);
});
