// Writes a picture of at most 256 colours as PNG (W3C, Portable Network Graphics).

import { crc32, deflateSync } from 'node:zlib';
import type { IndexedPicture } from './first-gif-frame.ts';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const DEPTH = 8;
const INDEXED = 3;

export function writeIndexedPng(picture: IndexedPicture): Buffer {
  const { width, height, palette, transparent } = picture;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = DEPTH;
  header[9] = INDEXED;
  const isSeenThrough = transparent !== undefined && transparent < palette.length / 3;
  const opacity = isSeenThrough
    ? Buffer.alloc(transparent + 1, 0xff).fill(0, transparent)
    : undefined;
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', palette),
    ...(opacity === undefined ? [] : [chunk('tRNS', opacity)]),
    chunk('IDAT', deflateSync(rowsOf(picture), { level: 1 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Each row behind the number of its filter, which is none. */
function rowsOf({ width, height, pixels, palette }: IndexedPicture): Buffer {
  const colors = palette.length / 3;
  const rows = Buffer.alloc((width + 1) * height);
  // An index without a colour spoils a PNG.
  const shown = pixels.some((index) => index >= colors)
    ? pixels.map((index) => index % colors)
    : pixels;
  for (let row = 0; row < height; row += 1) {
    rows.set(shown.subarray(row * width, (row + 1) * width), row * (width + 1) + 1);
  }
  return rows;
}

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
