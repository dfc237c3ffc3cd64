// Writes a canvas as a PNG with a palette (W3C, Portable Network Graphics).

import { crc32, deflateSync } from 'node:zlib';
import type { Canvas } from './canvas.ts';

export type Color = readonly [red: number, green: number, blue: number];

export interface PngOptions {
  /** At most 256 colours; up to 16 make a file of half the size. */
  readonly palette: readonly Color[];
  /** How many pixels wide and high each one of the canvas becomes. */
  readonly scale: number;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const INDEXED = 3;
/** The filter that says: as the row above. */
const UP = 2;

export function writePng(canvas: Canvas, { palette, scale }: PngOptions): Buffer {
  const depth = palette.length <= 16 ? 4 : 8;
  const width = canvas.width * scale;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(canvas.height * scale, 4);
  header[8] = depth;
  header[9] = INDEXED;
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flat())),
    chunk('IDAT', deflateSync(writeRows(canvas, scale, depth), { level: 1 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Rows like the one above are nothing but zeros behind their filter, so that they cost next to nothing. */
function writeRows({ width, height, pixels }: Canvas, scale: number, depth: 4 | 8): Buffer {
  const rowBytes = 1 + Math.ceil((width * scale * depth) / 8);
  const rows = Buffer.alloc(rowBytes * height * scale);
  let above: Uint8Array | undefined;
  for (let row = 0; row < height; row += 1) {
    const colors = pixels.subarray(row * width, (row + 1) * width);
    const start = row * scale * rowBytes;
    const isRepeated = above !== undefined && Buffer.compare(colors, above) === 0;
    if (isRepeated) rows[start] = UP;
    else writeRow(rows.subarray(start + 1, start + rowBytes), colors, { scale, depth });
    for (let copy = 1; copy < scale; copy += 1) rows[start + copy * rowBytes] = UP;
    above = colors;
  }
  return rows;
}

function writeRow(
  target: Buffer,
  colors: Uint8Array,
  { scale, depth }: { readonly scale: number; readonly depth: 4 | 8 },
): void {
  const width = colors.length * scale;
  if (depth === 8) {
    for (let at = 0; at < width; at += 1) target[at] = colors[Math.floor(at / scale)] ?? 0;
    return;
  }
  for (let at = 0; at < width; at += 2) {
    const left = colors[Math.floor(at / scale)] ?? 0;
    const right = colors[Math.floor((at + 1) / scale)] ?? 0;
    target[at / 2] = (left << 4) | right;
  }
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(content.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}
