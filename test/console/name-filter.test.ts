// How what is typed as a name of a model, an account or a key narrows the list of requests.

import { expect, test } from 'vitest';
import { readName, writeName } from '../../console/src/pages/requests/name-filter.ts';

const NAMES = ['gpt-4o', 'gpt-4o-mini', 'maria.lindqvist@example.org'];

test('a part of a name finds every name that holds it', () => {
  expect(writeName('gpt', NAMES)).toBe('*gpt*');
  expect(writeName(' Lindqvist ', NAMES)).toBe('*Lindqvist*');
  expect(writeName('gone since', NAMES)).toBe('*gone since*');
});

test('a name that is known means that one alone, in any case', () => {
  expect(writeName('gpt-4o', NAMES)).toBe('gpt-4o');
  expect(writeName('GPT-4o', NAMES)).toBe('gpt-4o');
});

test('stars that are typed stay where they are', () => {
  expect(writeName('gpt*mini', NAMES)).toBe('gpt*mini');
  expect(readName('gpt*mini')).toBe('gpt*mini');
  expect(readName('*mini')).toBe('*mini');
});

test('the field shows what was typed, without the stars put around it', () => {
  for (const typed of ['gpt', 'gpt-4o', '']) expect(readName(writeName(typed, NAMES))).toBe(typed);
  expect(writeName('  ', NAMES)).toBe('');
});
