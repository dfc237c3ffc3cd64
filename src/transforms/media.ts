// Rules about pictures: types and forms that upstreams take, masks, how one is drawn, and the size that a model's name asks for.

import {
  IMAGE_DETAILS,
  type ImageDetail,
  type ImageDetails,
  type ImageOptions,
} from '../canonical/image-options.ts';
import { findOtherType, mapMedia } from '../canonical/media.ts';
import { memberPath } from '../canonical/receipt.ts';
import type { MediaPart, Part } from '../canonical/request.ts';
import { unlessSame } from '../lib/collections.ts';
import { type PixelBudget, readFirstGifFrame, writeIndexedPng } from '../lib/gif-to-png.ts';
import type { JsonValue } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import { mapTurns, type Transform, type TransformContext, withParts } from './transform.ts';

/** The first letters of every GIF, as base64. */
const GIF_START = 'R0lGOD';
/** Of all GIFs of a request. More is left to the upstream: reading it would keep other requests waiting. */
const MAX_PIXELS = 4_194_304;

/**
 * Whatever type they are said to be of. ai.google.dev, "Image understanding", supported formats, has no
 * GIF: "Unsupported MIME type: image/gif".
 */
export const convertGifsToPng: Transform = (request, context) => {
  const budget = { left: MAX_PIXELS };
  return mapMedia(request, (part) => still(part, budget, context));
};

function still(part: MediaPart, budget: PixelBudget, { receipt }: TransformContext): MediaPart {
  if (part.source.kind !== 'base64' || !part.source.base64.startsWith(GIF_START)) return part;
  const picture = readFirstGifFrame(Buffer.from(part.source.base64, 'base64'), budget);
  if (picture === undefined) return part;
  receipt.add('approximated', 'messages', told`The first picture of a GIF is sent as PNG.`);
  const base64 = writeIndexedPng(picture).toString('base64');
  return { ...part, mediaType: 'image/png', source: { kind: 'base64', base64 } };
}

/**
 * Gives pictures the type their bytes are of: clients go by the ending of a file's name, upstreams look at the
 * bytes. A JPEG that is called PNG is a 400 ("Unhandled generated data mime type", open-webui/open-webui#25127).
 */
export const namePictureTypes: Transform = (request, context) =>
  mapMedia(request, (part) => named(part, context));

function named(part: MediaPart, { receipt }: TransformContext): MediaPart {
  const { modality, mediaType, source } = part;
  if (modality !== 'image' || source.kind !== 'base64') return part;
  const found = findOtherType(source.base64, mediaType);
  if (found === undefined) return part;
  receipt.add('repaired', 'messages', told`The bytes of a picture are of type ${found}.`);
  return { ...part, mediaType: found };
}

const MASK_WORDS =
  'The last picture is a mask for the first one: change the first picture only where the mask is ' +
  'transparent, and keep everything else as it is.';

/** Tells models what a mask is that have no place for one. */
export const explainMasks: Transform = (request, context) =>
  context.capabilities.takesMasks === true
    ? request
    : mapTurns(request, (turn) => {
        const parts = turn.parts.flatMap((part) => explained(part, context));
        return withParts(turn, unlessSame(parts, turn.parts));
      });

function explained(part: Part, { receipt }: TransformContext): readonly Part[] {
  if (part.kind !== 'media' || part.isMask !== true) return [part];
  receipt.add('approximated', 'mask', told`The mask is shown to the model with an instruction.`);
  return [part, { kind: 'text', text: MASK_WORDS }];
}

/** What each asks for that happens anyway; `auto` always does. */
const DRAWN_ANYWAY: Readonly<Partial<Record<ImageDetail, string>>> = {
  background: 'opaque',
  output_format: 'png',
  input_fidelity: 'low',
  complexity: 'low',
};

/** Leaves out and tells what the model has no field for. */
export const limitImageDetails: Transform = (request, { capabilities, receipt }) => {
  const { path, fields }: ImageDetails = request.imageDetails ?? { path: '', fields: {} };
  const taken: Partial<Record<ImageDetail, string | number>> = {};
  for (const name of IMAGE_DETAILS) {
    const value = fields[name];
    if (value === undefined) continue;
    if (capabilities.imageDetails?.includes(name)) taken[name] = value;
    else if (value !== 'auto' && value !== DRAWN_ANYWAY[name]) {
      receipt.add('dropped', memberPath(path, name), told`The upstream has no such setting.`);
    }
  }
  return { ...request, imageDetails: { path, fields: taken } };
};

/** Leaves out and tells how a recording is to be cut, and how speakers sound, where it is always taken whole and alone. */
export const limitChunking: Transform = (request, { capabilities, receipt }) => {
  const { transcription } = request;
  if (transcription === undefined || capabilities.takesChunking === true) return request;
  const { chunking, speakers } = transcription;
  const reason = told`The upstream has no such setting.`;
  if (chunking !== undefined) receipt.add('dropped', 'chunking_strategy', reason);
  if ((speakers?.heard ?? []).length > 0)
    receipt.add('dropped', 'known_speaker_references', reason);
  const named = speakers && { ...speakers, heard: [] };
  return { ...request, transcription: { ...transcription, chunking: undefined, speakers: named } };
};

/**
 * Takes ratio and size of a drawn image from the model name where the request itself is silent. Source: the
 * product's order: `imageSize`, `quality`, then the suffix of the model name.
 */
export const applyImageName: Transform = (request, context) => {
  const named = imageInName(request.image?.aspectRatio, request.image?.size, context);
  if (named === undefined) return request;
  const image = {
    ...request.image,
    aspectRatio: request.image?.aspectRatio ?? named.aspectRatio,
    size: request.image?.size ?? named.size,
  };
  return { ...request, image };
};

/** What the name says where it counts; `ratio` and `size` are those of the request itself. */
export function imageInName(
  ratio: JsonValue | undefined,
  size: JsonValue | undefined,
  { capabilities, receipt, variant: { image } }: TransformContext,
): ImageOptions | undefined {
  if (image === undefined) return undefined;
  if (!capabilities.drawsImages) {
    const reason = told`This model draws no images; the suffix of its name has no effect.`;
    receipt.add('dropped', 'model', reason);
    return undefined;
  }
  if (differs(ratio, image.aspectRatio)) {
    const reason = told`The ratio in the request takes precedence over the one in the model name.`;
    receipt.add('approximated', 'model', reason);
  }
  if (differs(size, image.size)) {
    const reason = told`The size in the request takes precedence over the one in the model name.`;
    receipt.add('approximated', 'model', reason);
  }
  return image;
}

const differs = (asked: JsonValue | undefined, named: JsonValue | undefined): boolean =>
  asked !== undefined && named !== undefined && asked !== named;
