import { expect, test } from 'vitest';
import { describeMedia, readPixelSize } from './media-facts.ts';

test('reads the size of a JPEG behind its other segments', () => {
  const app = Buffer.from([0xff, 0xe0, 0, 4, 1, 2]);
  const frame = Buffer.from([0xff, 0xc2, 0, 11, 8, 0, 20, 0, 30, 1, 0]);
  const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8]), app, frame]);
  expect(readPixelSize(jpeg)).toEqual({ width: 30, height: 20 });
  for (let end = 0; end < jpeg.length - 2; end += 1) {
    expect(readPixelSize(jpeg.subarray(0, end))).toBeUndefined();
  }
});

test('media without a readable header is described all the same', () => {
  expect(describeMedia({ mimeType: 'image/png', data: 'AAA=' })).toBe(
    'image/png of unknown size, 2 bytes',
  );
  expect(describeMedia({ mimeType: 'audio/wav', data: 'AAAA' })).toBe('audio/wav 3 bytes');
});
