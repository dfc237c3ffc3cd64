// When an image model draws, and what: read from the settings, the pictures and the words of a request.

import { readPictureSize } from '../media-facts.ts';
import type { SandboxModel } from '../models.ts';
import { drawPicture, type PictureOrder } from '../picture/draw-picture.ts';
import {
  areaOf,
  DEFAULT_RATIO,
  DEFAULT_SIZE,
  nearestRatio,
  pictureTokens,
  scaleOf,
} from '../picture/picture-size.ts';
import { type Blob, type Content, type GenerateRequest, partsOf } from '../wire.ts';
import type { DrawnPicture } from './answer.ts';
import type { LastTurn } from './last-turn.ts';

const DRAFT_STEPS = ['ground', 'shapes'] as const;

/** Undefined for a model that only writes, and where text or JSON alone was asked for. */
export function readPictureOrder(
  request: GenerateRequest,
  model: SandboxModel,
  turn: LastTurn,
): PictureOrder | undefined {
  const { responseModalities, responseMimeType, imageConfig, seed } =
    request.generationConfig ?? {};
  const wantsPicture = responseModalities?.includes('IMAGE') ?? true;
  if (model.drawsImages !== true || !wantsPicture) return undefined;
  if (responseMimeType !== undefined && responseMimeType !== 'text/plain') return undefined;
  const inputs = findInputs(request, turn);
  return {
    prompt: turn.text,
    seed,
    ratio: imageConfig?.aspectRatio ?? ratioOf(inputs[0]),
    size: imageConfig?.imageSize ?? DEFAULT_SIZE,
    inputs,
  };
}

export function draw(order: PictureOrder): DrawnPicture {
  return { base64: drawPicture(order).toString('base64'), tokens: pictureTokens(order.size) };
}

/** On the way to a picture: its ground, then its shapes, then the whole, which is the picture itself. */
export function drawDrafts(order: PictureOrder): readonly DrawnPicture[] {
  return DRAFT_STEPS.map((step) => draw({ ...order, size: DEFAULT_SIZE, step }));
}

/** Such as `Drew 2752x1536 px (16:9, 2K)`. */
export function describeOrder({ ratio, size, inputs }: PictureOrder): string {
  const { width, height } = areaOf(ratio);
  const scale = scaleOf(size);
  const pixels = `${width * scale}x${height * scale} px (${ratio}, ${size})`;
  if (inputs.length === 0) return `Drew ${pixels}.`;
  return `Drew ${pixels} from ${inputs.length === 1 ? 'a picture' : `${inputs.length} pictures`}.`;
}

/** A dialogue goes on with the picture drawn last, unless the user sends another. */
function findInputs(request: GenerateRequest, turn: LastTurn): readonly Blob[] {
  const given = turn.media.filter(isPicture);
  if (given.length > 0) return given;
  return picturesOf(request.contents?.findLast(({ role }) => role === 'model'));
}

function picturesOf(content: Content | undefined): readonly Blob[] {
  return partsOf(content)
    .flatMap(({ inlineData }) => inlineData ?? [])
    .filter(isPicture);
}

function isPicture({ mimeType = '' }: Blob): boolean {
  return mimeType.startsWith('image/');
}

/** An edit keeps the shape of its first picture. */
function ratioOf(input: Blob | undefined): string {
  const size = input && readPictureSize(input);
  const isArea = size !== undefined && size.width > 0 && size.height > 0;
  return isArea ? nearestRatio(size) : DEFAULT_RATIO;
}
