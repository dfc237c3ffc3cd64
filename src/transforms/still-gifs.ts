// Sends GIFs as PNG: clients of all protocols may show them, and upstreams of this wire refuse them.

import { mapMedia } from '../canonical/map-media.ts';
import { told } from '../canonical/receipt.ts';
import type { MediaPart } from '../canonical/request.ts';
import { type PixelBudget, readFirstGifFrame } from '../lib/first-gif-frame.ts';
import { writeIndexedPng } from '../lib/write-indexed-png.ts';
import type { Transform, TransformContext } from './transform.ts';

/** The first letters of every GIF, as base64. */
const GIF_START = 'R0lGOD';
/** Of all GIFs of a request. More is left to the upstream: reading it would keep other requests waiting. */
const MOST_PIXELS = 4_194_304;

/**
 * Whatever type they are said to be of. ai.google.dev, "Image understanding", supported formats, has no
 * GIF: "Unsupported MIME type: image/gif".
 */
export const stillGifs: Transform = (request, context) => {
  const budget = { left: MOST_PIXELS };
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
