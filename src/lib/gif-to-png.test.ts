import fc from 'fast-check';
import { PNG } from 'pngjs';
import { expect, test } from 'vitest';
import { readFirstGifFrame, writeIndexedPng } from './gif-to-png.ts';

const PLAIN =
  'R0lGODlhEAARAIEAAP8AAAAA/wD/AP///yH5BAEAAAMALAAAAAAQABEAAAhGAAEEGEiwoEEAAg0qNCigocOHDgdIHICwosWKDCFC' +
  'vJhwYQCOHRWCDOkxI8SJKCdyLDlw40iMBF9ajCkTJkuGKXOmvGkwIAA7';
const INTERLACED =
  'R0lGODlhEAARAIEAAP8AAAAA/wD/AP///yH5BAEAAAMALAAAAAAQABEAQAhGAAEEGEiwoMGDBAUoXCgAocODDCMqBECxosWKECVK' +
  'vEjxoccAET8WFNBRZIABKAdwXHnRI0uHKWOmZElTIMGaFgfK3CkzIAA7';
const ANIMATED =
  'R0lGODlhEAARAIEAAP8AAAAA/wD/AP///yH/C05FVFNDQVBFMi4wAwEAAAAh+QQABQAAACwAAAAAEAARAAAIRgABBBhIsKBBAAIN' +
  'KjQooKHDhw4HSByAsKLFigwhQryYcGEAjh0VggzpMSPEiSgnciw5cONIjARfWowpEyZLhilzprxpMCAAIfkEAQUABAAsAAAAABAA' +
  'DwCB/wAAAAD/AP8A////CFEAAxAYSLBgQQABBBpcCACAgIcLCyYM0LBhRAIDMg54yHHhxI8fD1ZsCDLhwJEVSyZEWZGjy4EqWRbU' +
  'qNGlAI8qFTJMafIiAZ4+CTa8GZRggIAAOw==';

const bytesOf = (base64: string): Buffer => Buffer.from(base64, 'base64');

/** The colours the samples were made of. */
const COLORS = [
  [255, 0, 0, 255],
  [0, 0, 255, 255],
  [0, 255, 0, 255],
  [255, 255, 255],
] as const;

test.each([
  ['plain', PLAIN, 0],
  ['interlaced', INTERLACED, 0],
  ['animated', ANIMATED, 255],
])('the first picture of a GIF is the same as PNG: %s', (_name, base64, whiteOpacity) => {
  const frame = readFirstGifFrame(bytesOf(base64), { left: 1000 });
  if (frame === undefined) throw new Error('This GIF was not read.');
  const { width, height, data } = PNG.sync.read(writeIndexedPng(frame));
  expect([width, height]).toEqual([16, 17]);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const index = (Math.floor((y * y) / 3) + (x > y ? 1 : 0)) % 4;
      const at = (y * width + x) * 4;
      expect([...data.subarray(at, at + 4)]).toEqual(
        [...(COLORS[index] ?? []), whiteOpacity].slice(0, 4),
      );
    }
  }
});

test('a picture that is too large is not read', () => {
  expect(readFirstGifFrame(bytesOf(PLAIN), { left: 16 * 17 })).toBeDefined();
  expect(readFirstGifFrame(bytesOf(PLAIN), { left: 16 * 17 - 1 })).toBeUndefined();
});

test('a GIF that is cut off is read whole or not at all', () => {
  const whole = readFirstGifFrame(bytesOf(PLAIN), { left: 1000 });
  for (let end = 0; end < bytesOf(PLAIN).length; end += 1) {
    const cut = readFirstGifFrame(bytesOf(PLAIN).subarray(0, end), { left: 1000 });
    if (cut !== undefined) expect(cut.pixels).toEqual(whole?.pixels);
  }
});

test('whatever the bytes, reading ends, and what was read can be written', () => {
  const spoilt = fc.tuple(fc.nat(bytesOf(PLAIN).length - 1), fc.nat(255));
  fc.assert(
    fc.property(fc.array(spoilt, { maxLength: 8 }), (changes) => {
      const bytes = bytesOf(PLAIN);
      for (const [at, value] of changes) bytes[at] = value;
      const frame = readFirstGifFrame(bytes, { left: 100_000 });
      if (frame === undefined) return;
      const { width, height } = PNG.sync.read(writeIndexedPng(frame));
      expect([width, height]).toEqual([frame.width, frame.height]);
    }),
    { numRuns: 500 },
  );
});
