import { expect, test } from 'vitest';
import { writeItemPage } from './item-page.ts';

const ITEMS = ['a', 'b', 'c'].map((id) => ({ id, type: 'message' }));

/** The ids of a page, and whether there are more. */
function page(query: string): readonly unknown[] {
  const { data, first_id, last_id, has_more } = writeItemPage(ITEMS, new URLSearchParams(query));
  const ids = Array.isArray(data) ? data.map((item) => Object(item).id) : [];
  expect([first_id, last_id]).toEqual([ids[0] ?? null, ids.at(-1) ?? null]);
  return [...ids, has_more];
}

test('the newest items stand first unless asked otherwise, and the last page says so', () => {
  expect(page('')).toEqual(['c', 'b', 'a', false]);
  expect(page('limit=2')).toEqual(['c', 'b', true]);
  expect(page('limit=2&after=b')).toEqual(['a', false]);
  expect(page('order=asc&limit=1&after=a')).toEqual(['b', true]);
  expect(page('order=asc&after=c')).toEqual([false]);
});

test.each([
  ['order=up', 'order'],
  ['limit=0', 'limit'],
  ['limit=101', 'limit'],
  ['after=z', 'after'],
])('%s is refused by the name of its field', (query, field) => {
  expect(() => page(query)).toThrow(expect.objectContaining({ field }));
});
