// A picture in the making: one palette index a pixel, and flat shapes to put on it.

import { asPlainCharacters, GLYPH_HEIGHT, GLYPH_WIDTH, glyphOf } from './glyphs.ts';

export interface Canvas {
  readonly width: number;
  readonly height: number;
  /** Row by row from the top. */
  readonly pixels: Uint8Array;
}

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Circle {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

export interface TextOptions {
  readonly left: number;
  readonly top: number;
  /** Pixels of the canvas for each of the font. */
  readonly scale: number;
  readonly color: number;
}

/** A column and a row of nothing between characters and lines. */
export const CELL_WIDTH = GLYPH_WIDTH + 1;
export const LINE_HEIGHT = GLYPH_HEIGHT + 3;

export function createCanvas(width: number, height: number): Canvas {
  return { width, height, pixels: new Uint8Array(width * height) };
}

export function fillBox(canvas: Canvas, { left, top, width, height }: Box, color: number): void {
  for (let row = top; row < top + height; row += 1) {
    fillRow(canvas, { row, from: left, to: left + width }, color);
  }
}

export function fillCircle(canvas: Canvas, { x, y, radius }: Circle, color: number): void {
  for (let row = y - radius; row <= y + radius; row += 1) {
    const reach = Math.round(Math.sqrt(radius * radius - (row - y) * (row - y)));
    fillRow(canvas, { row, from: x - reach, to: x + reach }, color);
  }
}

/** A triangle that stands on the lower edge of its box. */
export function fillHill(canvas: Canvas, { left, top, width, height }: Box, color: number): void {
  for (let step = 0; step < height; step += 1) {
    const reach = Math.round(((step + 1) / height) * (width / 2));
    const middle = left + Math.round(width / 2);
    fillRow(canvas, { row: top + step, from: middle - reach, to: middle + reach }, color);
  }
}

/** One line; what does not fit is cut off at the edge. */
export function drawText(canvas: Canvas, text: string, options: TextOptions): void {
  const { left, top, scale, color } = options;
  Array.from(text).forEach((character, position) => {
    glyphOf(character).forEach((bits, row) => {
      for (let column = 0; column < GLYPH_WIDTH; column += 1) {
        if ((bits & (1 << (GLYPH_WIDTH - 1 - column))) === 0) continue;
        const at = left + (position * CELL_WIDTH + column) * scale;
        fillBox(canvas, { left: at, top: top + row * scale, width: scale, height: scale }, color);
      }
    });
  });
}

/** Lines of at most `columns` characters, broken between words where possible. */
export function wrapText(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of asPlainCharacters(text).split(' ')) {
    const characters = Array.from(word);
    const room = columns - Array.from(line).length - (line === '' ? 0 : 1);
    if (characters.length <= room) {
      line = line === '' ? word : `${line} ${word}`;
      continue;
    }
    if (line !== '') lines.push(line);
    while (characters.length > columns) lines.push(characters.splice(0, columns).join(''));
    line = characters.join('');
  }
  return line === '' ? lines : [...lines, line];
}

function fillRow(
  { width, height, pixels }: Canvas,
  { row, from, to }: { row: number; from: number; to: number },
  color: number,
): void {
  if (row < 0 || row >= height) return;
  const start = row * width;
  pixels.fill(color, start + Math.max(0, from), start + Math.min(width, Math.max(0, to)));
}
