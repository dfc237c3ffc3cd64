// Reads ratio and size at the end of an image model's name: `<model>-16-9-4k`, both optional.

import { COMMON_RATIOS } from '../canonical/image-options.ts';
import type { ImageOptions } from '../canonical/request.ts';

export interface ImageName {
  readonly base: string;
  readonly image: ImageOptions;
}

const RATIOS = new Set(COMMON_RATIOS);

const SIZES: ReadonlyMap<string, '1K' | '2K' | '4K'> = new Map([
  ['1k', '1K'],
  ['2k', '2K'],
  ['4k', '4K'],
  ['standard', '1K'],
  ['medium', '2K'],
  ['hd', '4K'],
]);

/** The ratios and sizes as they stand in a name, for people. */
export const SUFFIX_WORDS = {
  ratios: COMMON_RATIOS.map((ratio) => ratio.replace(':', '-')).join(', '),
  sizes: [...SIZES.keys()].join(', '),
};

/**
 * Splits `alpha-3-pro-image-16x9-4k` (also `-4k-16-9`, `-hd`) into the model and its parameters;
 * undefined when the name is not an image model's or ends in nothing we know. Names without the word
 * (`dall-e-3-16-9`) are an image model's when `isImageModel` says so of what is left.
 */
export function readImageSuffix(
  name: string,
  isImageModel: (base: string) => boolean,
): ImageName | undefined {
  const tokens = name.split('-');
  const imageAt = tokens.findIndex((token) => token.toLowerCase() === 'image');
  const found = readEnds(tokens, Math.max(0, imageAt));
  return imageAt !== -1 || (found !== undefined && isImageModel(found.base)) ? found : undefined;
}

/** The first tokens, up to `imageAt`, are never parameters. */
function readEnds(tokens: readonly string[], imageAt: number): ImageName | undefined {
  let end = tokens.length;
  let aspectRatio: string | undefined;
  let size: '1K' | '2K' | '4K' | undefined;
  while (end > imageAt + 1) {
    const found = readEnd(tokens.slice(imageAt + 1, end));
    if (found === undefined) break;
    if ('size' in found && size === undefined) size = found.size;
    else if ('aspectRatio' in found && aspectRatio === undefined) aspectRatio = found.aspectRatio;
    else break;
    end -= found.tokens;
  }
  if (end === tokens.length) return undefined;
  return {
    base: tokens.slice(0, end).join('-'),
    image: {
      ...(aspectRatio === undefined ? {} : { aspectRatio }),
      ...(size === undefined ? {} : { size }),
    },
  };
}

type SuffixEnd =
  | { readonly size: '1K' | '2K' | '4K'; readonly tokens: number }
  | { readonly aspectRatio: string; readonly tokens: number };

/** The parameter the tokens end with, and how many tokens it takes. */
function readEnd(tokens: readonly string[]): SuffixEnd | undefined {
  const [before, last] = [tokens.at(-2), tokens.at(-1)?.toLowerCase() ?? ''];
  const size = SIZES.get(last);
  if (size !== undefined) return { size, tokens: 1 };
  const single = last.replace('x', ':');
  if (RATIOS.has(single)) return { aspectRatio: single, tokens: 1 };
  const pair = `${before}:${last}`;
  return RATIOS.has(pair) ? { aspectRatio: pair, tokens: 2 } : undefined;
}
