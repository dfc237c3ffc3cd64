// Draws what a prompt asks for: flat shapes in colours of its own with its words below, or the input
// pictures of an edit with the words under them. The same order always gives the same bytes.

import { createHash } from 'node:crypto';
import { describeMedia } from '../media-facts.ts';
import type { Blob } from '../wire.ts';
import {
  type Box,
  type Canvas,
  CELL_WIDTH,
  createCanvas,
  drawText,
  fillBox,
  fillCircle,
  fillHill,
  LINE_HEIGHT,
  wrapText,
} from './canvas.ts';
import { CUBE, placePicture, readInputPicture } from './input-picture.ts';
import { areaOf, scaleOf } from './picture-size.ts';
import { type Color, writePng } from './write-png.ts';

export interface PictureOrder {
  readonly prompt: string;
  readonly seed: number | undefined;
  readonly ratio: string;
  readonly size: string;
  /** The pictures to change; none for a new one. */
  readonly inputs: readonly Blob[];
  /** How far it is drawn: to its ground, to its shapes, or, when absent, to its words. */
  readonly step?: 'ground' | 'shapes' | undefined;
}

interface Caption {
  readonly lines: readonly string[];
  readonly scale: number;
  readonly height: number;
}

const PAPER = 0;
const INK = 1;
const FIRST_SHAPE_COLOR = 2;
const SHAPE_COLORS = 14;
const FIRST_CUBE_COLOR = FIRST_SHAPE_COLOR + SHAPE_COLORS;
const RANDOM_BYTES = 128;

const MARGIN = 28;
const TEXT_SCALES = [8, 6, 5, 4, 3, 2];
/** How much of the height the words may take. */
const MOST_TEXT = 0.4;
/** More would not fit in the smallest letters either. */
const MOST_CHARACTERS = 4_000;

/** The PNG. */
export function drawPicture(order: PictureOrder): Buffer {
  const { width, height } = areaOf(order.ratio);
  const canvas = createCanvas(width, height);
  const random = randomNumbers(order);
  const shapeColors = chooseColors(random);
  const caption = planCaption(order.prompt, canvas);
  const scene = { left: 0, top: 0, width, height: height - caption.height };
  const isEdit = order.inputs.length > 0;
  if (isEdit) showInputs(canvas, order.inputs, scene);
  else drawGround(canvas, scene, random);
  if (order.step !== 'ground' && !isEdit) drawShapes(canvas, scene, random);
  if (order.step === undefined) writeCaption(canvas, caption, scene.height);
  return writePng(canvas, {
    palette: [[250, 247, 238], [32, 33, 40], ...shapeColors, ...(isEdit ? CUBE : [])],
    scale: scaleOf(order.size),
  });
}

/** Numbers from 0 up to 1 that only the prompt and the seed decide. */
function randomNumbers({ prompt, seed }: PictureOrder): () => number {
  const text = JSON.stringify([prompt.trim(), seed ?? null]);
  const bytes = createHash('shake256', { outputLength: RANDOM_BYTES }).update(text).digest();
  let at = 0;
  return () => {
    at = (at + 1) % RANDOM_BYTES;
    return (bytes[at] ?? 0) / 256;
  };
}

/** Neighbours in the list differ in hue; light and dark take turns. */
function chooseColors(random: () => number): readonly Color[] {
  const hue = random() * 360;
  return Array.from({ length: SHAPE_COLORS }, (_, index) => {
    const lightness = index % 2 === 0 ? 0.5 + random() * 0.3 : 0.3 + random() * 0.25;
    return fromHue((hue + index * 47) % 360, 0.45 + random() * 0.4, lightness);
  });
}

function fromHue(hue: number, saturation: number, lightness: number): Color {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number): number => {
    const turn = (offset + hue / 30) % 12;
    const value = lightness - reach * Math.max(-1, Math.min(turn - 3, 9 - turn, 1));
    return Math.round(value * 255);
  };
  return [channel(0), channel(8), channel(4)];
}

/** A sky of bands. */
function drawGround(canvas: Canvas, { width, height }: Box, random: () => number): void {
  const upTo = (most: number): number => Math.floor(random() * most);
  const color = (): number => FIRST_SHAPE_COLOR + upTo(SHAPE_COLORS);
  const bands = 2 + upTo(3);
  const bandHeight = Math.ceil(height / bands);
  for (let band = 0; band < bands; band += 1) {
    fillBox(canvas, { left: 0, top: band * bandHeight, width, height: bandHeight }, color());
  }
}

/** A sun, hills before it, and a few things in front. */
function drawShapes(canvas: Canvas, { width, height }: Box, random: () => number): void {
  const upTo = (most: number): number => Math.floor(random() * most);
  const color = (): number => FIRST_SHAPE_COLOR + upTo(SHAPE_COLORS);
  const unit = Math.min(width, height);
  const sun = { x: upTo(width), y: upTo(Math.ceil(height / 2)) };
  fillCircle(canvas, { ...sun, radius: Math.round(unit * (0.12 + random() * 0.14)) }, color());
  for (let hill = 2 + upTo(3); hill > 0; hill -= 1) {
    const tall = Math.round(height * (0.25 + random() * 0.4));
    const wide = Math.round(width * (0.3 + random() * 0.5));
    const left = upTo(width) - Math.round(wide / 2);
    fillHill(canvas, { left, top: height - tall, width: wide, height: tall }, color());
  }
  for (let thing = 3 + upTo(5); thing > 0; thing -= 1) {
    const radius = Math.round(unit * (0.02 + random() * 0.07));
    const at = { x: upTo(width), y: Math.round(height * (0.3 + random() * 0.65)) };
    if (random() < 0.5) fillCircle(canvas, { ...at, radius }, color());
    else {
      const side = radius * 2;
      fillBox(canvas, { left: at.x, top: at.y - side, width: side, height: side }, color());
    }
  }
}

/** The input pictures side by side; one that cannot be shown is described in its place. */
function showInputs(canvas: Canvas, inputs: readonly Blob[], scene: Box): void {
  const columns = Math.ceil(Math.sqrt(inputs.length));
  const rows = Math.ceil(inputs.length / columns);
  const width = Math.floor(scene.width / columns);
  const height = Math.floor(scene.height / rows);
  inputs.forEach((input, index) => {
    const left = (index % columns) * width + 8;
    const top = Math.floor(index / columns) * height + 8;
    const box = { left, top, width: width - 16, height: height - 16 };
    const picture = readInputPicture(input);
    if (picture !== undefined) placePicture(canvas, picture, { box, firstColor: FIRST_CUBE_COLOR });
    else describeInput(canvas, input, box);
  });
}

function describeInput(canvas: Canvas, input: Blob, box: Box): void {
  fillBox(canvas, box, FIRST_SHAPE_COLOR);
  const scale = 3;
  const columns = Math.max(1, Math.floor((box.width - 2 * MARGIN) / (CELL_WIDTH * scale)));
  const lines = wrapText(describeMedia(input), columns);
  const from = box.top + Math.max(0, Math.floor((box.height - lines.length * 30) / 2));
  writeLines(canvas, { lines, scale, left: box.left + MARGIN, top: from });
}

/** The largest letters in which the words take no more than their share; the rest is cut off. */
function planCaption(prompt: string, { width, height }: Canvas): Caption {
  const text = Array.from(prompt.slice(0, MOST_CHARACTERS)).join('');
  const plan = (scale: number): Caption => {
    const columns = Math.floor((width - 2 * MARGIN) / (CELL_WIDTH * scale));
    const lines = wrapText(text, columns);
    return { lines, scale, height: 2 * MARGIN + lines.length * LINE_HEIGHT * scale };
  };
  const most = height * MOST_TEXT;
  const plans = TEXT_SCALES.map(plan);
  const fitting = plans.find((candidate) => candidate.height <= most) ?? plan(2);
  const room = Math.floor((most - 2 * MARGIN) / (LINE_HEIGHT * fitting.scale));
  if (fitting.lines.length <= room) return fitting;
  const lines = [...fitting.lines.slice(0, room - 1), '...'];
  return { ...fitting, lines, height: 2 * MARGIN + room * LINE_HEIGHT * fitting.scale };
}

function writeCaption(canvas: Canvas, { lines, scale, height }: Caption, top: number): void {
  fillBox(canvas, { left: 0, top, width: canvas.width, height }, PAPER);
  fillBox(canvas, { left: 0, top, width: canvas.width, height: 4 }, INK);
  writeLines(canvas, { lines, scale, left: MARGIN, top: top + MARGIN });
}

function writeLines(
  canvas: Canvas,
  {
    lines,
    scale,
    left,
    top,
  }: { lines: readonly string[]; scale: number; left: number; top: number },
): void {
  lines.forEach((line, index) => {
    drawText(canvas, line, { left, top: top + index * LINE_HEIGHT * scale, scale, color: INK });
  });
}
