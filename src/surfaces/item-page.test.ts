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

test('items are shown with what their senders left out and typed readers want', () => {
  const sent = [
    { type: 'message', role: 'user', content: [{ type: 'input_image', image_url: 'u' }] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', status: 'incomplete' },
    {
      type: 'function_call_output',
      call_id: 'c',
      output: [{ type: 'input_image', detail: 'low' }],
    },
    { type: 'shell_call_output', call_id: 's', output: [{ stdout: '', stderr: '' }] },
    { type: 'tool_search_output', call_id: 't', tools: [] },
    { type: 'reasoning', summary: [] },
  ];
  const { data } = writeItemPage(sent, new URLSearchParams({ order: 'asc' }));
  const status = 'completed';
  expect(data).toEqual([
    { ...sent[0], content: [{ type: 'input_image', image_url: 'u', detail: 'auto' }], status },
    { ...sent[1], content: [{ type: 'output_text', text: 'a', annotations: [] }], status },
    sent[2],
    { ...sent[3], status },
    { ...sent[4], max_output_length: null, status },
    { ...sent[5], execution: 'client', status },
    sent[6],
  ]);
});
