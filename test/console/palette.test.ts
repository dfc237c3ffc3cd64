// What the palette finds for a text, and in which order.

import { expect, test } from 'vitest';
import { findItems, type Item, isRequestId } from '../../console/src/shell/palette/find-items.ts';

const item = (id: string, group: Item['group'], label: string, more: Partial<Item> = {}): Item => ({
  ...{ id, group, label, run: () => undefined },
  ...more,
});

const ITEMS = [
  item('m1', 'models', 'new-alpha-3'),
  item('m2', 'models', 'alpha-3-flash'),
  item('m3', 'models', 'malpha'),
  item('p', 'pages', 'Accounts', { isFirst: true }),
  item('s', 'settings', 'Log level', {
    hint: 'What is written.',
    words: 'log.log_level LOG_LEVEL',
  }),
  item('a', 'accounts', 'ruth@example.org', { hint: 'alpha upstream' }),
];

const idsFor = (text: string) => findItems(ITEMS, text).map(({ id }) => id);

test('before anything is typed it offers pages and actions alone', () => {
  expect(idsFor('')).toEqual(['p']);
  expect(idsFor('  ')).toEqual(['p']);
});

test('every word has to be there; a beginning is before a word inside, that before a part of one, that before the hint', () => {
  expect(idsFor('ALPHA')).toEqual(['a', 'm2', 'm1', 'm3']);
  expect(idsFor('flash alpha')).toEqual(['m2']);
  expect(idsFor('alpha nothing')).toEqual([]);
  expect(idsFor('log_level')).toEqual(['s']);
});

test('of each group it shows seven', () => {
  const many = Array.from({ length: 30 }, (_, n) => item(`k${n}`, 'keys', `key ${n}`));
  expect(findItems(many, 'key')).toHaveLength(7);
});

test('an id of a request begins with req_ or has a digit, and has no spaces', () => {
  expect(isRequestId('req_AaIeaztOpqabcdefghijklmn')).toBe(true);
  expect(isRequestId('0199f2ab-77aa-7000-8000-000000000000')).toBe(true);
  expect(isRequestId('r009990')).toBe(true);
  expect(isRequestId('accounts')).toBe(false);
  expect(isRequestId('max tokens 4')).toBe(false);
});
