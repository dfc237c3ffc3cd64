import { crc32, deflateSync } from 'node:zlib';
import { PNG } from 'pngjs';
import { expect, test } from 'vitest';
import { drawPicture, type PictureOrder } from './draw-picture.ts';
import { ASPECT_RATIOS, areaOf, nearestRatio } from './picture-size.ts';

const ORDER: PictureOrder = {
  prompt: 'A red boat',
  seed: undefined,
  ratio: '1:1',
  size: '1K',
  inputs: [],
};

const draw = (change: Partial<PictureOrder> = {}): Buffer => drawPicture({ ...ORDER, ...change });

function sizeOf(png: Buffer): readonly number[] {
  return [png.readUInt32BE(16), png.readUInt32BE(20)];
}

/** The colour at a place given as a share of width and height. */
function colorAt({ width, height, data }: PNG, across: number, down: number): readonly number[] {
  const at = (Math.floor(height * down) * width + Math.floor(width * across)) * 4;
  return [...data.subarray(at, at + 3)];
}

function pngOf(color: readonly number[], width = 30, height = 20): Buffer {
  const picture = new PNG({ width, height });
  for (let at = 0; at < picture.data.length; at += 4) picture.data.set([...color, 255], at);
  return PNG.sync.write(picture);
}

const input = (bytes: Buffer, mimeType = 'image/png') => ({
  mimeType,
  data: bytes.toString('base64'),
});

test.each(ASPECT_RATIOS)('every size class of %s has its pixels and its shape', (ratio) => {
  const [across = 0, down = 0] = ratio.split(':').map(Number);
  const { width, height } = areaOf(ratio);
  expect(Math.abs(Math.log((width * down) / (height * across)))).toBeLessThan(0.02);
  for (const [size, scale] of [
    ['1K', 1],
    ['2K', 2],
    ['4K', 4],
  ] as const) {
    const png = draw({ ratio, size });
    expect(sizeOf(png)).toEqual([width * scale, height * scale]);
    expect(png.length).toBeLessThan(300_000);
  }
  expect(nearestRatio({ width, height })).toBe(ratio);
});

test('the same order is drawn alike, whatever its size class; another prompt or seed is not', () => {
  expect(draw()).toEqual(draw());
  const pictures = [draw(), draw({ prompt: 'A blue boat' }), draw({ seed: 7 })].map((png) =>
    png.toString('base64'),
  );
  expect(new Set(pictures).size).toBe(3);
  const [small, large] = [PNG.sync.read(draw()), PNG.sync.read(draw({ size: '2K' }))];
  for (const [across, down] of [
    [0.1, 0.1],
    [0.5, 0.4],
    [0.9, 0.7],
  ] as const) {
    expect(colorAt(large, across, down)).toEqual(colorAt(small, across, down));
  }
});

test('the words stand on paper below, whatever they are', () => {
  for (const prompt of ['', 'A', 'x'.repeat(5000), 'word '.repeat(2000), '你好 "é" 🛶 ‘ok’…']) {
    const picture = PNG.sync.read(draw({ prompt, ratio: '21:9' }));
    expect(colorAt(picture, 0.999, 0.995)).toEqual([250, 247, 238]);
  }
  const { data } = PNG.sync.read(draw());
  const ink = new Set<number>();
  for (let at = data.length / 2; at < data.length; at += 4) {
    if (data[at] === 32 && data[at + 1] === 33) ink.add(at);
  }
  expect(ink.size).toBeGreaterThan(1000);
});

test('an edit shows its pictures side by side in their own shape', () => {
  const inputs = [input(pngOf([255, 0, 0])), input(pngOf([0, 0, 255]))];
  const picture = PNG.sync.read(draw({ inputs, size: '2K' }));
  expect(colorAt(picture, 0.25, 0.4)).toEqual([255, 0, 0]);
  expect(colorAt(picture, 0.75, 0.4)).toEqual([0, 0, 255]);
  expect(colorAt(picture, 0.25, 0.02)).toEqual([250, 247, 238]);
});

test.each([
  ['of another type', input(Buffer.from('RIFF0000WEBPVP8 '), 'image/webp')],
  ['that is cut', input(pngOf([1, 2, 3]).subarray(0, 60))],
  ['that is empty', { mimeType: 'image/png' }],
  ['with a broken middle', input(Buffer.concat([pngOf([1, 2, 3]).subarray(0, 45), randomBytes()]))],
  ['of too many pixels', input(bomb({ width: 50_000, height: 50_000 }))],
  ['that unpacks without a limit', input(bomb({ width: 4, height: 4, interlace: 1 }))],
  ['with a second header', input(withSecondHeader())],
  ['of no width', input(bomb({ width: 0, height: 9 }))],
])('a picture %s is described in its place', (_what, picture) => {
  const before = process.threadCpuUsage();
  const drawn = PNG.sync.read(draw({ inputs: [picture] }));
  expect(colorAt(drawn, 0.02, 0.02)).not.toEqual([250, 247, 238]);
  expect(process.threadCpuUsage(before).user).toBeLessThan(1_000_000);
});

function randomBytes(): Buffer {
  return Buffer.from(Array.from({ length: 200 }, (_, index) => (index * 97) % 256));
}

interface Header {
  readonly width: number;
  readonly height: number;
  readonly interlace?: number;
}

/** A small file that unpacks to ten megabytes. */
function bomb(header: Header): Buffer {
  const signature = pngOf([0, 0, 0]).subarray(0, 8);
  const packed = chunk('IDAT', deflateSync(Buffer.alloc(10_000_000)));
  return Buffer.concat([signature, headerChunk(header), packed, chunk('IEND', Buffer.alloc(0))]);
}

function withSecondHeader(): Buffer {
  const whole = bomb({ width: 4, height: 4 });
  const second = headerChunk({ width: 50_000, height: 50_000, interlace: 1 });
  return Buffer.concat([whole.subarray(0, 33), second, whole.subarray(33)]);
}

function headerChunk({ width, height, interlace = 0 }: Header): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, interlace]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  return chunk('IHDR', header);
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(content.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}
