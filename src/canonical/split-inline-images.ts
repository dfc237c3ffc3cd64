// Takes pictures out of markdown text: `![…](data:image/…;base64,…)` is a picture, not a million tokens.

import { tidyBase64 } from '../lib/base64.ts';
import { modalityOf, spellMediaType } from './media-type.ts';
import type { MediaPart, Part, TextPart } from './request.ts';

/** What parts a picture from the text before and behind it. */
export const PARAGRAPH = '\n\n';

const DATA_IMAGE = '](data:image/';
const MAX_ALTERNATIVE_TEXT = 1000;

/**
 * The parts a text amounts to: itself when it holds no inline picture. Answers of Chat Completions carry
 * drawn pictures this way, so that histories bring them back: the text around a picture is the model's
 * own again, for its signature vouches for that. Malformed pictures stay text, and those no upstream takes.
 */
export function splitInlineImages(part: TextPart): readonly (TextPart | MediaPart)[] {
  if (!part.text.includes(DATA_IMAGE)) return [part];
  const parts: (TextPart | MediaPart)[] = [];
  let rest = 0;
  let found = part.text.indexOf(DATA_IMAGE);
  while (found >= 0) {
    const close = part.text.indexOf(')', found);
    const open = findOpening(part.text, rest, found);
    const isComplete = open >= 0 && close >= 0;
    const image = isComplete ? readImage(part.text.slice(found + 2, close)) : undefined;
    if (image !== undefined) {
      pushText(parts, withoutEnd(part.text.slice(rest, open)));
      parts.push(image);
      rest = close + 1;
      if (part.text.startsWith(PARAGRAPH, rest)) rest += PARAGRAPH.length;
    }
    found = part.text.indexOf(DATA_IMAGE, close < 0 ? part.text.length : close);
  }
  pushText(parts, part.text.slice(rest));
  const last = parts.pop();
  if (last !== undefined) parts.push(part.cacheHint === true ? { ...last, cacheHint: true } : last);
  return parts;
}

/** The text before a picture, without the paragraph that was begun for it. */
function withoutEnd(text: string): string {
  return text.endsWith(PARAGRAPH) ? text.slice(0, -PARAGRAPH.length) : text;
}

/** Where the `![` of a picture starts, looked for in a bounded alternative text; -1 when it has none. */
function findOpening(text: string, from: number, found: number): number {
  const start = Math.max(from, found - MAX_ALTERNATIVE_TEXT);
  const open = text.slice(start, found).lastIndexOf('![');
  return open < 0 ? -1 : start + open;
}

function readImage(uri: string): MediaPart | undefined {
  const match = /^data:(image\/[a-z0-9.+-]{1,40});base64,/.exec(uri.slice(0, 80));
  if (match?.[1] === undefined) return undefined;
  const mediaType = spellMediaType(match[1]);
  if (modalityOf(mediaType) !== 'image') return undefined;
  const base64 = tidyBase64(uri.slice(match[0].length));
  if (base64 === undefined) return undefined;
  const source = { kind: 'base64', base64 } as const;
  return { kind: 'media', modality: 'image', mediaType, source };
}

function pushText(parts: Part[], text: string): void {
  if (text.trim() !== '') parts.push({ kind: 'text', text });
}
