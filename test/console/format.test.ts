// How the console writes durations and times.

import { expect, test } from 'vitest';
import { createFormat } from '../../console/src/components/use-format.ts';
import { regionOf } from '../../console/src/i18n/region.ts';

const NOW = Date.UTC(2026, 10, 21, 14, 5);
const DAY = 86_400_000;

const { duration, relative, date, money, percent, price } = createFormat('en', 'en-US', 'just now');

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

test('money has cents, and where they say too little two figures', () => {
  const written = [0, 3e8, 2.96e8, 9.96e7, 9.94e7, 1.738e6, 2.97e9, -3e8].map(money);
  expect(written).toEqual([
    ...['$0.00', '$0.30', '$0.30', '$0.10', '$0.099', '$0.0017', '$2.97', '-$0.30'],
  ]);
});

test('a share is all only of all, and none only of none', () => {
  expect([0, 0.0312, 0.6, 1.4, 42, 99, 99.96, 100].map(percent)).toEqual([
    ...['0%', '0.03%', '0.6%', '1%', '42%', '99%', '99.9%', '100%'],
  ]);
});

test('a price keeps all its digits, where an amount is rounded', () => {
  expect([0.125, 0.0375, 2.5, 15, 1234.5].map(price)).toEqual([
    ...['$0.125', '$0.0375', '$2.50', '$15.00', '$1,234.50'],
  ]);
  expect(money(0.125e9)).toBe('$0.13');
});

test('times far away are told in years', () => {
  expect(relative(NOW + 90 * DAY, NOW)).toBe('in 90 days');
  expect(relative(NOW + 2_912_115 * DAY, NOW)).toMatch(/^in 7,97\d y/);
  expect(relative(NOW - 5 * 366 * DAY, NOW)).toMatch(/^5 y.* ago$/);
});

test('nearly two days are called no yesterday and no tomorrow: the calendar has a day between', () => {
  expect(relative(NOW - 1.96 * DAY, NOW)).toBe('1 day ago');
  expect(relative(NOW + 1.96 * DAY, NOW)).toBe('in 1 day');
  const chinese = createFormat('zh', 'zh-CN', '刚刚');
  expect(chinese.relative(NOW - 2.96 * DAY, NOW)).toBe('2天前');
});

test('English dates are those of the region the browser names', () => {
  expect(date(NOW)).toBe('Nov 21, 2026');
  const british = regionOf('en', ['de-DE', 'en-GB', 'en-US']);
  expect(createFormat('en', british, '').date(NOW)).toBe('21 Nov 2026');
  expect(regionOf('en', ['de-DE', 'fr'])).toBe('en');
  expect(regionOf('zh', ['en-GB', 'zh-TW'])).toBe('zh');
});
