// Reads the pictures of an edit as pixels, as far as the sandbox can read them.

import { PNG } from 'pngjs';
import { readPixelSize } from '../media-facts.ts';
import type { Blob } from '../wire.ts';
import type { Box, Canvas } from './canvas.ts';
import type { PixelArea } from './picture-size.ts';
import type { Color } from './write-png.ts';

export interface InputPicture extends PixelArea {
  /** Four bytes a pixel: red, green, blue, opacity. */
  readonly rgba: Uint8Array;
}

/** A picture of the class 2K; larger ones are named, not shown. */
const MOST_PIXELS = 4_500_000;
const FIRST_CHUNK_AT = 8;
const INTERLACE_AT = 28;
/** Levels of red, green and blue each. */
const LEVELS = 6;

/** All colours an input picture is shown in: six levels of each of the three. */
export const CUBE: readonly Color[] = Array.from({ length: LEVELS ** 3 }, (_, index) => {
  const level = (part: number): number => (part % LEVELS) * 51;
  return [level(Math.floor(index / 36)), level(Math.floor(index / LEVELS)), level(index)];
});

/** Undefined for what is no PNG, is broken, or would take too much to unpack. */
export function readInputPicture({ data = '' }: Blob): InputPicture | undefined {
  const bytes = Buffer.from(data, 'base64');
  const size = readPixelSize(bytes);
  if (size === undefined || size.width * size.height > MOST_PIXELS) return undefined;
  if (!isPlainPng(bytes)) return undefined;
  try {
    const { width, height, data: rgba } = PNG.sync.read(bytes);
    return { width, height, rgba };
  } catch {
    return undefined;
  }
}

/** Puts the picture into the box, as large as it goes, in colours of the cube from `firstColor` on. */
export function placePicture(
  canvas: Canvas,
  picture: InputPicture,
  { box, firstColor }: { readonly box: Box; readonly firstColor: number },
): void {
  const scale = Math.min(box.width / picture.width, box.height / picture.height);
  const width = Math.max(1, Math.floor(picture.width * scale));
  const height = Math.max(1, Math.floor(picture.height * scale));
  const left = box.left + Math.floor((box.width - width) / 2);
  const top = box.top + Math.floor((box.height - height) / 2);
  for (let row = 0; row < height; row += 1) {
    const from = Math.floor((row * picture.height) / height) * picture.width;
    const target = (top + row) * canvas.width + left;
    for (let column = 0; column < width; column += 1) {
      const at = from + Math.floor((column * picture.width) / width);
      canvas.pixels[target + column] = firstColor + nearestInCube(picture.rgba, at * 4);
    }
  }
}

/** On white where it is transparent. */
function nearestInCube(rgba: Uint8Array, at: number): number {
  const opacity = (rgba[at + 3] ?? 0) / 255;
  const level = (value = 0): number => Math.round((255 + (value - 255) * opacity) / 51);
  return (level(rgba[at]) * LEVELS + level(rgba[at + 1])) * LEVELS + level(rgba[at + 2]);
}

/**
 * A PNG whose unpacked size its one header tells. Interlaced ones and second headers are left out: the
 * decoder unpacks them without a limit.
 */
function isPlainPng(bytes: Buffer): boolean {
  if (bytes[INTERLACE_AT] !== 0) return false;
  let headers = 0;
  let at = FIRST_CHUNK_AT;
  while (at + 8 <= bytes.length) {
    if (bytes.toString('latin1', at + 4, at + 8) === 'IHDR') headers += 1;
    at += 12 + bytes.readUInt32BE(at);
  }
  return headers === 1;
}
