// How the console writes durations.

import { expect, test } from 'vitest';
import { createFormat } from '../../console/src/components/use-format.ts';

const { duration } = createFormat('en', 'just now');

test('durations below a minute keep tenths, for they are compared by them', () => {
  expect([1000, 1049, 1909, 1960, 59_900].map(duration)).toEqual([
    '1s',
    '1s',
    '1.9s',
    '2s',
    '59.9s',
  ]);
  expect([0, 830, 999.4].map(duration)).toEqual(['0ms', '830ms', '999ms']);
});

test('a duration is rounded to a unit before it is written in it', () => {
  expect([999.7, 59_970].map(duration)).toEqual(['1s', '1m']);
});

test('longer durations are their two largest units', () => {
  expect([260_999, 7_980_000, 90_061_000].map(duration)).toEqual(['4m 20s', '2h 13m', '1d 1h']);
});
