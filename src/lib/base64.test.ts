import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tidyBase64 } from './base64.ts';

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
