// Writes the first frame of a GIF as PNG (CompuServe, Graphics Interchange Format, version 89a).

import { crc32, deflateSync } from 'node:zlib';

/** A picture of at most 256 colours. */
interface IndexedPicture {
  readonly width: number;
  readonly height: number;
  /** One index into the palette for each pixel, row by row. */
  readonly pixels: Uint8Array;
  /** Red, green and blue of each colour. */
  readonly palette: Uint8Array;
  /** The index that shows what lies behind. */
  readonly transparent: number | undefined;
}

const EXTENSION = 0x21;
const IMAGE = 0x2c;
const GRAPHIC_CONTROL = 0xf9;
const HEADER_BYTES = 13;
const MAX_CODES = 4096;
/** First row and step of each pass of an interlaced picture. */
const PASSES = [
  [0, 8],
  [4, 8],
  [2, 4],
  [1, 2],
] as const;

/** How many pixels may still be read; whoever reads one picture after another keeps it. */
export interface PixelBudget {
  left: number;
}

/**
 * Undefined for what is no whole GIF, and for pictures of more pixels than are left. One that turns out
 * to be cut counts as well: a few kilobytes can stand for millions of pixels.
 */
export function readFirstGifFrame(bytes: Buffer, budget: PixelBudget): IndexedPicture | undefined {
  const isGif = /^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6));
  if (!isGif || bytes.length < HEADER_BYTES) return undefined;
  const colors = tableBytes(bytes.readUInt8(10));
  const shared = bytes.subarray(HEADER_BYTES, HEADER_BYTES + colors);
  let transparent: number | undefined;
  let at = HEADER_BYTES + colors;
  while (bytes[at] === EXTENSION) {
    if (bytes[at + 1] === GRAPHIC_CONTROL && at + 6 < bytes.length) {
      transparent = bytes.readUInt8(at + 3) & 1 ? bytes.readUInt8(at + 6) : undefined;
    }
    at = endOfBlocks(bytes, at + 2);
  }
  if (bytes[at] !== IMAGE || at + 10 >= bytes.length) return undefined;
  return readPicture(bytes, { at, shared, transparent, budget });
}

interface PicturePlace {
  readonly at: number;
  /** The colours of pictures without their own. */
  readonly shared: Uint8Array;
  readonly transparent: number | undefined;
  readonly budget: PixelBudget;
}

function readPicture(
  bytes: Buffer,
  { at, shared, transparent, budget }: PicturePlace,
): IndexedPicture | undefined {
  const width = bytes.readUInt16LE(at + 5);
  const height = bytes.readUInt16LE(at + 7);
  const fields = bytes.readUInt8(at + 9);
  const colors = tableBytes(fields);
  const start = at + 10 + colors;
  const palette = colors === 0 ? shared : bytes.subarray(at + 10, start);
  const codeBits = bytes[start] ?? 0;
  const isReadable =
    width > 0 && height > 0 && palette.length > 0 && codeBits >= 2 && codeBits <= 8;
  if (!isReadable || width * height > budget.left) return undefined;
  budget.left -= width * height;
  const pixels = unpack(joinBlocks(bytes, start + 1), codeBits, width * height);
  if (pixels === undefined) return undefined;
  const isInterlaced = (fields & 0x40) !== 0;
  return {
    width,
    height,
    pixels: isInterlaced ? inOrder(pixels, width, height) : pixels,
    palette,
    transparent,
  };
}

function tableBytes(fields: number): number {
  return fields & 0x80 ? 3 << ((fields & 7) + 1) : 0;
}

/** Where the row of blocks that begins at `at` is over. */
function endOfBlocks(bytes: Buffer, at: number): number {
  let next = at;
  for (let size = bytes[next] ?? 0; size > 0; size = bytes[next] ?? 0) next += size + 1;
  return next + 1;
}

function joinBlocks(bytes: Buffer, at: number): Buffer {
  const blocks: Buffer[] = [];
  let next = at;
  for (let size = bytes[next] ?? 0; size > 0; size = bytes[next] ?? 0) {
    blocks.push(bytes.subarray(next + 1, next + 1 + size));
    next += size + 1;
  }
  return Buffer.concat(blocks);
}

/** LZW with codes of growing length; undefined when the data end before the picture does. */
function unpack(data: Buffer, codeBits: number, count: number): Uint8Array | undefined {
  const clear = 1 << codeBits;
  const nextCode = codeReader(data);
  const table = new StringTable(clear);
  const pixels = new Uint8Array(count);
  let previous = -1;
  let done = 0;
  while (done < count) {
    const code = nextCode(table.codeWidth);
    if (code === clear) {
      table.reset();
      previous = -1;
      continue;
    }
    const isNew = code === table.next && previous >= 0;
    if (code === undefined || code === clear + 1 || (code >= table.next && !isNew))
      return undefined;
    const string = isNew ? previous : code;
    done += table.lengthOf(string);
    const first = table.write(pixels, done, string);
    if (isNew && done < count) pixels[done++] = first;
    if (previous >= 0) table.add(previous, first);
    previous = code;
  }
  return pixels;
}

/** Codes of so many bits, the lowest first; undefined behind the last one. */
function codeReader(data: Buffer): (width: number) => number | undefined {
  let [bits, bitCount, at] = [0, 0, 0];
  return (width) => {
    for (; bitCount < width; bitCount += 8) {
      if (at >= data.length) return undefined;
      bits |= data.readUInt8(at++) << bitCount;
    }
    const code = bits & ((1 << width) - 1);
    bits >>>= width;
    bitCount -= width;
    return code;
  };
}

/** What each code stands for: another string and one pixel more. */
class StringTable {
  readonly #prefixes = new Uint16Array(MAX_CODES);
  readonly #lastPixels = new Uint8Array(MAX_CODES);
  readonly #lengths = new Uint16Array(MAX_CODES);
  readonly #clear: number;
  next = 0;
  codeWidth = 0;

  constructor(clear: number) {
    this.#clear = clear;
    this.#lengths.fill(1, 0, clear);
    for (let code = 0; code < clear; code += 1) this.#lastPixels[code] = code;
    this.reset();
  }

  reset(): void {
    this.next = this.#clear + 2;
    this.codeWidth = Math.log2(this.#clear) + 1;
  }

  lengthOf(code: number): number {
    return this.#lengths[code] ?? 1;
  }

  add(prefix: number, pixel: number): void {
    if (this.next === MAX_CODES) return;
    this.#prefixes[this.next] = prefix;
    this.#lastPixels[this.next] = pixel;
    this.#lengths[this.next] = this.lengthOf(prefix) + 1;
    this.next += 1;
    if (this.next === 1 << this.codeWidth && this.next < MAX_CODES) this.codeWidth += 1;
  }

  /** Writes a string backwards from `end`; what lies behind the picture is let fall. Returns its first pixel. */
  write(pixels: Uint8Array, end: number, string: number): number {
    let code = string;
    let at = end;
    for (let left = this.lengthOf(string); left > 1; left -= 1) {
      pixels[--at] = this.#lastPixels[code] ?? 0;
      code = this.#prefixes[code] ?? 0;
    }
    const first = this.#lastPixels[code] ?? 0;
    pixels[at - 1] = first;
    return first;
  }
}

function inOrder(pixels: Uint8Array, width: number, height: number): Uint8Array {
  const ordered = new Uint8Array(pixels.length);
  let from = 0;
  for (const [first, step] of PASSES) {
    for (let row = first; row < height; row += step, from += width) {
      ordered.set(pixels.subarray(from, from + width), row * width);
    }
  }
  return ordered;
}

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
