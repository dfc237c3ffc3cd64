// Amounts as people write them into the settings.

import { expect, test } from 'vitest';
import {
  isGoodAmount,
  readAmount,
  takeAmount,
  writeGrouped,
} from '../../console/src/components/read-amount.ts';
import { writeBytes, writeExactly, writeLimit } from '../../console/src/components/write-bytes.ts';

const SIZE = { isSize: true, words: ['字节'] };
const HOURS = { isSize: false, words: ['hours'] };
const MIB = 1_048_576;

test.each([
  ['16 MB', 16 * MIB],
  ['50mb', 50 * MIB],
  ['1.5 GiB', 1536 * MIB],
  ['64k', 65_536],
  ['1e6', 1_000_000],
  ['104,857,600', 104_857_600],
  ['104 857 600 bytes', 104_857_600],
  ['１６ ＭＢ', 16 * MIB],
  ['100 字节', 100],
  ['0.1 kB', 102],
])('a size written as %s is read whole', (text, value) => {
  expect(readAmount(text, SIZE)).toEqual({ kind: 'value', value });
});

test.each([
  '16 apples',
  'MB',
  '1,5',
  '0,250',
  '16 MB MB',
  '1 2',
  '.',
  'e6',
  '0x10',
  '1e999',
  '--1',
  '16 Mbit',
])('%s is not taken for what stands at its beginning', (text) => {
  expect(readAmount(text, SIZE)).toEqual({ kind: 'unreadable' });
});

test('an amount that is no size takes its own unit and no other', () => {
  expect(readAmount('12 hours', HOURS)).toEqual({ kind: 'value', value: 12 });
  expect(readAmount('.5', HOURS)).toEqual({ kind: 'value', value: 0.5 });
  expect(readAmount('-3', HOURS)).toEqual({ kind: 'value', value: -3 });
  expect(readAmount('30 min', HOURS)).toEqual({ kind: 'unreadable' });
  expect(readAmount('16 MB', HOURS)).toEqual({ kind: 'unreadable' });
  expect(readAmount(' ', HOURS)).toEqual({ kind: 'none' });
});

test('what is shown is read back as the same amount', () => {
  for (const value of [0, 0.01, 1, 1234.5, 104_857_600, 1_099_511_627_776]) {
    expect(readAmount(writeGrouped(value), SIZE)).toEqual({ kind: 'value', value });
  }
});

test('a limit of bytes is written so that what it says is taken', () => {
  for (const value of [16_384, MIB, 1_099_511_627_776]) {
    expect(writeExactly(value, 'bytes')).toBe(writeBytes(value));
  }
  // Rounded it would be 2 GiB, which is one more than is taken.
  expect(writeExactly(2_147_483_647, 'bytes')).toBe('2,147,483,647 bytes');
});

test('the least of a range is not rounded to one that is refused', () => {
  expect(writeLimit(0.01, 'days', 'bytes')).toBe('0.01');
  expect(writeLimit(1_000_000, 'tokens', 'bytes')).toBe('1,000,000');
  expect(writeLimit(16_384, 'bytes', 'bytes')).toBe('16 KiB');
});

test('an amount is taken within its range alone, and a text that is none is not taken for nothing', () => {
  const limit = { least: 1, most: 1000, isWhole: true };
  expect([takeAmount('1,000', limit), isGoodAmount('1,000', limit)]).toEqual([1000, true]);
  expect([takeAmount('', limit), isGoodAmount('', limit)]).toEqual([undefined, true]);
  for (const text of ['5k', '16 MB', '2.5', '0', '1001', '-1', 'ten']) {
    expect([text, takeAmount(text, limit), isGoodAmount(text, limit)]).toEqual([
      ...[text, undefined, false],
    ]);
  }
  expect(isGoodAmount(' ', { ...limit, isNeeded: true })).toBe(false);
});
