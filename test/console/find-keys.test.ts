// Which keys the list shows, and in which order.

import { expect, test } from 'vitest';
import { findKeys } from '../../console/src/pages/keys/find-keys.ts';
import type { Key } from '../../src/admin/contract.ts';

const keyOf = (name: string, change: Partial<Key> = {}): Key => ({
  ...{ id: name, name, prefix: `sk-${name.slice(0, 3)}`, enabled: true, revision: 1 },
  ...{
    createdAt: 1,
    tags: [],
    allowedModels: [],
    usedToday: { requests: 0, tokens: 0, images: 0 },
  },
  ...change,
});
const used = (requests: number, tokens: number) => ({ requests, tokens, images: 0 });

const KEYS = [
  keyOf('Nightly build', { lastUsedAt: 20, usedToday: used(9, 100) }),
  keyOf('ada 10', { lastUsedAt: 30 }),
  keyOf('Ada 9'),
  keyOf('Guest', { lastUsedAt: 10, usedToday: used(2, 100) }),
];
const found = (search: string, sort = '') =>
  findKeys(KEYS, { search, sort }).map(({ name }) => name);

test('keys are found by each word of their names, in any case, and by how they begin', () => {
  expect(found('BUILD night')).toEqual(['Nightly build']);
  expect(found('sk-gue')).toEqual(['Guest']);
  expect(found('ada guest')).toEqual([]);
});

test('they stand as they were made, or by name as people count', () => {
  const made = ['Nightly build', 'ada 10', 'Ada 9', 'Guest'];
  expect(found('')).toEqual(made);
  expect(found('', 'no such order')).toEqual(made);
  expect(found('', 'name')).toEqual(['Ada 9', 'ada 10', 'Guest', 'Nightly build']);
});

test('by use the latest or the busiest comes first, and what was never used last', () => {
  expect(found('', 'used')).toEqual(['ada 10', 'Nightly build', 'Guest', 'Ada 9']);
  expect(found('', 'today').slice(0, 2)).toEqual(['Nightly build', 'Guest']);
});
