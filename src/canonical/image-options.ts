// The size, ratio, quality and other details of a picture to draw, as the words of all protocols ask for them.

import type { JsonValue } from '../lib/json.ts';
import { told } from '../lib/localized-message.ts';
import type { Receipt } from './receipt.ts';

export interface ImageOptions {
  readonly aspectRatio?: string | undefined;
  readonly size?: '1K' | '2K' | '4K' | undefined;
  /** `<width>x<height>`, where the client said it so; the ratio is the nearest one to it. */
  readonly pixels?: string | undefined;
  /** The client's own word for what stands as `size`. */
  readonly quality?: string | undefined;
}

/** What else may be asked of a drawing, in the words of the OpenAI-style protocol (`openai` resources/images). */
export const IMAGE_WORDS = [
  ...(['background', 'complexity', 'input_fidelity'] as const),
  ...(['moderation', 'output_format', 'style'] as const),
] as const;
export const IMAGE_NUMBERS = ['frame_count', 'frame_duration_ms', 'output_compression'] as const;

export const IMAGE_DETAILS = [...IMAGE_WORDS, ...IMAGE_NUMBERS] as const;
export type ImageDetail = (typeof IMAGE_DETAILS)[number];

export interface ImageDetails {
  /** Where the client says them; empty for the body itself. */
  readonly path: string;
  readonly fields: Readonly<Partial<Record<ImageDetail, string | number>>>;
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

/** `imageSize` wins over `quality`; a size that does not parse is 1024x1024, with a receipt. */
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

/** Undefined where none is asked. `path` is where `said` stands in the request. */
export function readImageDetails(
  said: Readonly<Partial<Record<ImageDetail, JsonValue>>>,
  path: string,
): ImageDetails | undefined {
  const fields: Partial<Record<ImageDetail, string | number>> = {};
  for (const name of IMAGE_DETAILS) {
    const value = said[name];
    if ((typeof value === 'string' && value !== '') || typeof value === 'number')
      fields[name] = value;
  }
  return Object.keys(fields).length === 0 ? undefined : { path, fields };
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

export interface Sides {
  readonly width: number;
  readonly height: number;
}

/** Of pixels, or of a ratio. */
export function sidesOf(said: string): Sides {
  const [width = 1, height = 1] = said.split(/[x:]/).map(Number);
  return { width, height };
}

/** How unlike two forms are, of which what is called 16:9 may be 1792x1024. */
export function formBetween(one: Sides, other: Sides): number {
  return Math.abs(Math.log(one.width / one.height) - Math.log(other.width / other.height));
}
export const SAME_FORM = 0.05;

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
