import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isDenseBase64, tidyBase64 } from './base64.ts';

test.each([
  ['AA==', 'AA=='],
  ['AAA', 'AAA='],
  ['AA=', 'AA=='],
  ['AAAA\r\n AA', 'AAAAAA=='],
  ['-_8', '+/8='],
])('%j is tidied to %s', (text, tidy) => {
  expect(tidyBase64(text)).toBe(tidy);
});

test.each(['', ' ', '=', 'A', 'AAAAA', 'A===', 'AAAA=', 'AA==AA==', '@@@@', 'data:;base64,AAAA'])(
  '%j is not base64',
  (text) => {
    expect(tidyBase64(text)).toBeUndefined();
  },
);

test('every spelling of the same bytes is tidied to the same text', () => {
  const encodings = fc.constantFrom<BufferEncoding[]>('base64', 'base64url');
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), encodings, (bytes, encoding) => {
      const buffer = Buffer.from(bytes);
      const tidy = buffer.toString('base64');
      expect(tidyBase64(buffer.toString(encoding))).toBe(tidy);
      expect(tidyBase64(tidy)).toBe(tidy);
    }),
  );
});

/** Lengths around where slices and the way of checking change. */
const LENGTHS = [4, 4_092, 4_096, 4_100, 65_532, 65_536, 65_540, 131_072, 196_612];

test('what is wrong at any place of a text of any length is found', () => {
  for (const length of LENGTHS) {
    const good = 'Ab+/'.repeat(length / 4);
    expect(tidyBase64(good)).toBe(good);
    expect(isDenseBase64(good)).toBe(true);
    for (const at of [0, 1, length >> 1, length - 3, length - 1]) {
      for (const wrong of ['=', '"', '\\', '\n', '\u0000', '*', 'é', '\u2028', '\ud800', '啊']) {
        if (wrong === '=' && at === length - 1) continue;
        const bad = good.slice(0, at) + wrong + good.slice(at + 1);
        expect(isDenseBase64(bad)).toBe(false);
        // White space is left out, and the text is too short without it.
        expect(tidyBase64(bad)).toBe(
          /\s/.test(wrong) ? `${good.slice(0, at)}${good.slice(at + 1)}=` : undefined,
        );
      }
    }
  }
});

test('padding is padding at the end alone, and there to the right number', () => {
  for (const length of LENGTHS) {
    const good = 'Ab+/'.repeat(length / 4);
    expect(isDenseBase64(`${good}AA==`)).toBe(true);
    expect(isDenseBase64(`${good}AAA=`)).toBe(true);
    for (const end of ['A===', '====', 'AA==AA==', 'AAAA====', 'AA', '==']) {
      expect(isDenseBase64(good + end)).toBe(false);
      if (end !== 'AA') expect(tidyBase64(good + end)).toBeUndefined();
    }
  }
});

test('the other alphabet is dense, and tidied into the standard one at any length', () => {
  for (const length of LENGTHS) {
    const other = 'Ab-_'.repeat(length / 4);
    expect(isDenseBase64(other)).toBe(true);
    expect(tidyBase64(other)).toBe('Ab+/'.repeat(length / 4));
  }
});
