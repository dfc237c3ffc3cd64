// Media types: one spelling each, what kind of media they are, and how bytes betray theirs.

import { tidyBase64 } from '../lib/base64.ts';
import { mapItems } from '../lib/collections.ts';
import { invalidRequest } from './error.ts';
import type {
  CanonicalRequest,
  MediaPart,
  Modality,
  Part,
  TextPart,
  ToolResultContent,
  Turn,
} from './request.ts';

const ALIASES = new Map([
  ['image/jpg', 'image/jpeg'],
  ['audio/x-wav', 'audio/wav'],
  ['audio/wave', 'audio/wav'],
  ['audio/mpeg', 'audio/mp3'],
]);

/** Pictures some upstream takes; the newest list is the upstream's own business. */
const IMAGE_TYPES = new Set(
  ['png', 'jpeg', 'webp', 'gif', 'heic', 'heif', 'avif', 'bmp'].map((name) => `image/${name}`),
);

/** File signatures (magic numbers) as the base64 text of their first bytes. */
const SIGNATURES: readonly (readonly [prefix: string, mediaType: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['JVBERi', 'application/pdf'],
  ['SUQz', 'audio/mp3'],
  ['//uQ', 'audio/mp3'],
  ['ZkxhQ', 'audio/flac'],
  ['T2dnUw', 'audio/ogg'],
];

/** The type in lower case, in the spelling upstreams know. */
export function spellMediaType(mediaType: string): string {
  const type = mediaType.trim().toLowerCase();
  return ALIASES.get(type) ?? type;
}

/** What kind of media a spelled type is; undefined for types no upstream takes. */
export function modalityOf(mediaType: string): Modality | undefined {
  if (IMAGE_TYPES.has(mediaType)) return 'image';
  if (mediaType === 'application/pdf') return 'document';
  if (mediaType.startsWith('audio/')) return 'audio';
  return mediaType.startsWith('video/') ? 'video' : undefined;
}

const TEXT_TYPES = new Set<string | undefined>(
  ['json', 'xml', 'yaml', 'x-yaml', 'javascript', 'x-ndjson'].map((name) => `application/${name}`),
);

/** Files of these types are read as the text they hold: no two wires take the same ones. */
export function isTextType(mediaType: string | undefined): boolean {
  return mediaType?.startsWith('text/') === true || TEXT_TYPES.has(mediaType);
}

/** The text of a file, behind the name that a question calls it by. */
export function readTextFile(base64: string, name = ''): string {
  const text = Buffer.from(base64, 'base64').toString('utf8');
  return name === '' ? text : `${name}\n${text}`;
}

/** The type the first bytes tell; `base64` is tidy. */
export function sniffMediaType(base64: string): string | undefined {
  for (const [prefix, mediaType] of SIGNATURES) {
    if (base64.startsWith(prefix)) return mediaType;
  }
  const head = atob(base64.slice(0, 16));
  if (head.startsWith('RIFF')) return head.endsWith('WEBP') ? 'image/webp' : 'audio/wav';
  if (head.slice(4, 8) !== 'ftyp') return undefined;
  return head.startsWith('hei', 8) || head.startsWith('mif1', 8) ? 'image/heic' : 'video/mp4';
}

/** Types whose first bytes are of no other; those of the HEIF family begin alike. */
const PLAIN_PICTURES: ReadonlySet<string | undefined> = new Set([
  'image/png',
  'image/jpeg',
  'image/webp',
]);

/** What a picture that is called `mediaType` is by its bytes; undefined where that is no other. `base64` is tidy. */
export function findOtherType(base64: string, mediaType: string | undefined): string | undefined {
  const found = sniffMediaType(base64);
  return found !== mediaType && PLAIN_PICTURES.has(found) ? found : undefined;
}

/** The same request when `map` gave every medium back as it was. */
export function mapMedia(
  request: CanonicalRequest,
  map: (part: MediaPart) => MediaPart,
): CanonicalRequest {
  const turns = mapItems(request.turns, (turn) => mapTurn(turn, map));
  return turns === request.turns ? request : { ...request, turns };
}

function mapTurn(turn: Turn, map: (part: MediaPart) => MediaPart): Turn {
  if (turn.role === 'system') return turn;
  const parts = mapItems(turn.parts, (part) => mapPart(part, map));
  return parts === turn.parts ? turn : { ...turn, parts };
}

function mapPart(part: Part, map: (part: MediaPart) => MediaPart): Part {
  if (part.kind === 'media') return map(part);
  if (part.kind !== 'tool-result') return part;
  const content = mapItems(part.content, (item: ToolResultContent) =>
    item.kind === 'media' ? map(item) : item,
  );
  return content === part.content ? part : { ...part, content };
}

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
  if (last !== undefined)
    parts.push(part.cacheHint ? { ...last, cacheHint: part.cacheHint } : last);
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

/** For what the upstream does not read itself. */
export function unreadableAddress({ modality, source }: MediaPart): Error {
  const path = (source.kind === 'base64' ? undefined : source.path) ?? 'messages';
  return invalidRequest(path, `${path}: ${whyUnread(modality, source)}`, 'unsupported');
}

function whyUnread(modality: Modality, source: MediaPart['source']): string {
  const way = 'send its bytes as base64';
  if (source.kind !== 'url') return `the upstream cannot read this ${modality} file; ${way}.`;
  return source.url.startsWith('https:')
    ? `this ${modality} URL is not fetched; ${way}, or let the operator set proxy.fetch_remote_media.`
    : `this ${modality} URL is not fetched, only https addresses are; ${way}.`;
}
