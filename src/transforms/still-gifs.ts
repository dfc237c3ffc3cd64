// Sends GIFs as PNG: clients of all protocols may show them, and upstreams of this wire refuse them.

import { told } from '../canonical/receipt.ts';
import type { MediaPart, Part, ToolResultContent } from '../canonical/request.ts';
import { readFirstGifFrame } from '../lib/first-gif-frame.ts';
import { writeIndexedPng } from '../lib/write-indexed-png.ts';
import { mapTurns, type Transform, type TransformContext } from './transform.ts';

/** The first letters of every GIF, as base64. */
const GIF_START = 'R0lGOD';
/** More than this is left to the upstream: reading it would keep other requests waiting. */
const MOST_PIXELS = 4_194_304;

/**
 * Whatever type they are said to be of. ai.google.dev, "Image understanding", supported formats, has no
 * GIF: "Unsupported MIME type: image/gif".
 */
export const stillGifs: Transform = (request, context) =>
  mapTurns(request, (turn) => {
    if (turn.role === 'system' || !turn.parts.some(holdsGif)) return turn;
    return { ...turn, parts: turn.parts.map((part) => stillPart(part, context)) };
  });

function holdsGif(part: Part): boolean {
  return part.kind === 'tool-result' ? part.content.some(isGif) : isGif(part);
}

function isGif(part: Part | ToolResultContent): part is MediaPart {
  return (
    part.kind === 'media' &&
    part.source.kind === 'base64' &&
    part.source.base64.startsWith(GIF_START)
  );
}

function stillPart(part: Part, context: TransformContext): Part {
  if (isGif(part)) return still(part, context);
  if (part.kind !== 'tool-result') return part;
  const content = part.content.map((item) => (isGif(item) ? still(item, context) : item));
  return { ...part, content };
}

function still(part: MediaPart, { receipt }: TransformContext): MediaPart {
  if (part.source.kind !== 'base64') return part;
  const picture = readFirstGifFrame(Buffer.from(part.source.base64, 'base64'), MOST_PIXELS);
  if (picture === undefined) return part;
  receipt.add('approximated', 'messages', told`The first picture of a GIF is sent as PNG.`);
  const base64 = writeIndexedPng(picture).toString('base64');
  return { ...part, mediaType: 'image/png', source: { kind: 'base64', base64 } };
}
