// What is read as Markdown, and what is shown as it is.

import { expect, test } from 'vitest';
import { isClosed, readMarkdown } from '../../console/src/components/markdown/read-markdown.ts';

test('paragraphs, lists, code and tables are read', () => {
  const text = '# A\n\nb **c**\n\n- d\n- e\n\n```ts\nf()\n```\n\n|g|h|\n|-|-|\n|1|2|';
  const kinds = (readMarkdown(text) ?? []).map(({ type }) => type).filter((one) => one !== 'space');
  expect(kinds).toEqual(['heading', 'paragraph', 'list', 'code', 'table']);
});

test.each([
  ['a text too long to be read at once', 'a '.repeat(150_000)],
  ['more marks in a block than anybody writes', '_a_'.repeat(20_000)],
  ['quotes nested without end', `${'>'.repeat(20_000)} x`],
])('%s stays as it is', (_what, text) => {
  expect(readMarkdown(text)).toBeUndefined();
});

test.each([
  ['```ts\nf()\n```', true],
  ['```ts\nf()\n```\n\n', true],
  ['~~~\n~~~~', true],
  ['  ````\n```\n  ````', true],
  ['```ts', false],
  ['```ts\n', false],
  ['```ts\nf()\n', false],
  ['````\n```', false],
  ['```\n~~~', false],
  ['```\n``` no end', false],
  ['    indented\n', false],
])('of the block of code %j it is known whether it has its end: %s', (raw, expected) => {
  expect(isClosed(raw)).toBe(expected);
});
