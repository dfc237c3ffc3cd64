// Media types: one spelling each, what kind of media they are, and how bytes betray theirs.

import { tidyBase64 } from '../lib/base64.ts';
import { told } from '../lib/localized-message.ts';
import type { Receipt } from './receipt.ts';
import type {
  CanonicalRequest,
  ImageOptions,
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

function mapItems<T>(items: readonly T[], map: (item: T) => T): readonly T[] {
  let mapped: T[] | undefined;
  for (const [index, item] of items.entries()) {
    const own = map(item);
    if (own === item) continue;
    mapped ??= [...items];
    mapped[index] = own;
  }
  return mapped ?? items;
}

type ImageSize = NonNullable<ImageOptions['size']>;

/** As bodies hold them: null stands for an absent one. */
interface ImageFields {
  readonly size?: string | null | undefined;
  readonly quality?: string | null | undefined;
  readonly imageSize?: string | null | undefined;
}

interface ImageFieldContext {
  readonly receipt: Receipt;
  /** The protocol's own 400 for a word outside a closed list. */
  unknownWord(field: keyof ImageFields, words: readonly string[]): Error;
}

const IMAGE_SIZES: readonly ImageSize[] = ['1K', '2K', '4K'];

/** `undefined` stands for the model's default. */
const QUALITIES = new Map<string, ImageSize | undefined>([
  ['standard', '1K'],
  ['medium', '2K'],
  ['hd', '4K'],
  ['low', undefined],
  ['auto', undefined],
  ['high', '2K'],
  ['xhigh', '4K'],
  ['max', '4K'],
]);

/** In the order in which a width by height is compared with them. */
const NEAR_RATIOS: readonly (readonly [width: number, height: number])[] = [
  [21, 9],
  [16, 9],
  [4, 3],
  [3, 4],
  [9, 16],
];

/** Those that every image model draws; names of models may end in one of them. */
export const COMMON_RATIOS: readonly string[] = [
  ...['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'],
];

/** Every ratio an upstream is known to draw. */
const RATIOS: readonly string[] = [...COMMON_RATIOS, '1:4', '4:1', '1:8', '8:1'];

/**
 * Undefined when no field asks for anything. `imageSize` is stronger than `quality`; a size that does
 * not parse means 1024x1024, with a receipt.
 * @throws the context's error for an unknown ratio, quality or imageSize.
 */
export function readImageOptions(
  fields: ImageFields,
  context: ImageFieldContext,
): ImageOptions | undefined {
  const { size: given, quality, imageSize } = fields;
  if ((given ?? quality ?? imageSize ?? null) === null) return undefined;
  const aspectRatio = readAspectRatio(given ?? undefined, context);
  const sizeOfQuality = readQuality(quality ?? undefined, context);
  const size = readImageSize(imageSize ?? undefined, context) ?? sizeOfQuality;
  const word = quality?.toLowerCase() ?? 'auto';
  if (aspectRatio === undefined && size === undefined && word === 'auto') return undefined;
  const pixels = PIXELS.exec(given?.trim() ?? '');
  return {
    aspectRatio,
    size,
    ...(pixels === null ? {} : { pixels: `${Number(pixels[1])}x${Number(pixels[2])}` }),
    // The stronger field says it better.
    ...(word === 'auto' || imageSize ? {} : { quality: word }),
  };
}

const PIXELS = /^0*([1-9]\d{0,8})\s*[xX]\s*0*([1-9]\d{0,8})$/;

/** The size a word such as `2K` or `2k` stands for. */
export function asImageSize(word: string): ImageSize | undefined {
  const upper = word.toUpperCase();
  return IMAGE_SIZES.find((known) => known === upper);
}

function readAspectRatio(
  text: string | null | undefined,
  { receipt, unknownWord }: ImageFieldContext,
): string | undefined {
  const size = text?.trim();
  if (size === undefined || size.toLowerCase() === 'auto') return undefined;
  if (/^\d+:\d+$/.test(size)) {
    if (RATIOS.includes(size)) return size;
    throw unknownWord('size', ['<width>x<height>', ...RATIOS]);
  }
  const match = PIXELS.exec(size);
  const width = Number(match?.[1]);
  const height = Number(match?.[2]);
  if (width > 0 && height > 0) return nearestRatio(width, height);
  receipt.add('approximated', 'size', told`The size is not <width>x<height>; 1024x1024 was taken.`);
  return '1:1';
}

/** Near is a quotient within 0.1; in whole numbers, so that exactly 0.1 is near too. */
function nearestRatio(width: number, height: number): string {
  const near = NEAR_RATIOS.find(
    ([across, down]) => Math.abs(width * down - across * height) * 10 <= height * down,
  );
  return near === undefined ? '1:1' : near.join(':');
}

function readImageSize(
  word: string | null | undefined,
  { unknownWord }: ImageFieldContext,
): ImageSize | undefined {
  if (word === undefined || word === null) return undefined;
  const size = asImageSize(word);
  if (size === undefined) throw unknownWord('imageSize', IMAGE_SIZES);
  return size;
}

function readQuality(
  text: string | null | undefined,
  { unknownWord }: ImageFieldContext,
): ImageSize | undefined {
  const word = text?.toLowerCase();
  if (word === undefined) return undefined;
  if (!QUALITIES.has(word)) throw unknownWord('quality', [...QUALITIES.keys()]);
  return QUALITIES.get(word);
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
