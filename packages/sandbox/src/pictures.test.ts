import { PNG } from 'pngjs';
import { expect, test } from 'vitest';
import {
  ASPECT_RATIOS,
  areaOf,
  describeMedia,
  drawPicture,
  nearestRatio,
  type PictureOrder,
  readPixelSize,
} from './pictures.ts';

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

const draw = (change: Partial<PictureOrder> = {}): Buffer => {
  const order = { prompt: 'A red boat', seed: undefined, ratio: '1:1', size: '1K', inputs: [] };
  return drawPicture({ ...order, ...change });
};

test.each(ASPECT_RATIOS)('every size class of %s has its pixels and its shape', (ratio) => {
  const [across = 0, down = 0] = ratio.split(':').map(Number);
  const { width, height } = areaOf(ratio);
  expect(Math.abs(Math.log((width * down) / (height * across)))).toBeLessThan(0.02);
  for (const [size, scale] of Object.entries({ '1K': 1, '2K': 2, '4K': 4 })) {
    const png = draw({ ratio, size });
    expect(readPixelSize(png)).toEqual({ width: width * scale, height: height * scale });
    expect(png.length).toBeLessThan(300_000);
  }
  expect(nearestRatio({ width, height })).toBe(ratio);
});

test('the same order is drawn alike; another prompt, seed, draft or input is not', () => {
  expect(draw()).toEqual(draw());
  const orders = [
    {},
    { prompt: 'A blue boat' },
    { seed: 7 },
    { draft: 1 },
    { draft: 2 },
    { inputs: [{ data: 'AAAA' }] },
  ];
  expect(new Set(orders.map((order) => draw(order).toString('base64'))).size).toBe(6);
});

test('a picture is a PNG of one colour in every size class', () => {
  const [small, large] = [PNG.sync.read(draw()), PNG.sync.read(draw({ size: '2K' }))];
  const color = small.data.subarray(0, 4);
  expect(color[3]).toBe(255);
  for (const { width, height, data } of [small, large]) {
    expect(data.equals(Buffer.alloc(width * height * 4, color))).toBe(true);
  }
});
