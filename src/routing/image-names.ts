// Reads ratio and size at the end of an image model's name: `<model>-16-9-4k`, both optional.

import { type GatewayError, invalidRequest } from '../canonical/error.ts';
import { COMMON_RATIOS } from '../canonical/image-options.ts';
import type { ImageOptions } from '../canonical/request.ts';
import { told } from '../lib/localized-message.ts';
import { findCatalogModel } from './catalog.ts';
import type { MappingHit, ModelMapping } from './mapping.ts';
import { findAlias } from './model-names.ts';

interface ImageName {
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
const SUFFIX_WORDS = {
  ratios: COMMON_RATIOS.map((ratio) => ratio.replace(':', '-')).join(', '),
  sizes: [...SIZES.keys()].join(', '),
};

/**
 * Splits `alpha-3-pro-image-16x9-4k` (also `-4k-16-9`, `-hd`) into the model and its parameters;
 * undefined when the name is not an image model's or ends in nothing we know. Names without the word
 * (`dall-e-3-16-9`) are an image model's when `isImageModel` says so of what is left.
 */
function readImageSuffix(
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

export interface MappedNames {
  /** Undefined while a mapping's target is looked up. */
  readonly mapping: ModelMapping | undefined;
  /** The model that a target of the mapping stands for. */
  resolve(target: string): string | undefined;
}

/**
 * What the end of a name says, with the name to look up: without that end, or whole where only the
 * whole name matches a pattern. Undefined when it says nothing.
 * @throws GatewayError invalid-request when a name that a pattern sends to an image model ends in a
 * ratio or size nobody understands.
 */
export function readImageName(names: MappedNames, name: string): ImageName | undefined {
  if (names.mapping?.findExact(name) !== undefined) return undefined;
  const isWhole = leadsToImages(names, name);
  const isImageModel = (base: string): boolean =>
    isAliasOfImages(base) || leadsToImages(names, base);
  const found = readImageSuffix(name, (base) => isWhole || isImageModel(base));
  const rest = found?.base ?? name;
  const hit = hitOf(names, rest) ?? (isWhole ? hitOf(names, name) : undefined);
  if (hit?.kind === 'pattern' && leadsTo(names, hit) && endsUnread(rest, hit)) {
    throw unreadEnd(name);
  }
  const isOnlyWhole = isWhole && hitOf(names, rest) === undefined && !isAliasOfImages(rest);
  return found && isOnlyWhole ? { ...found, base: name } : found;
}

/** Whether the name is that of a mapped image model and something more. */
export function isMappedImageWithRest(names: MappedNames, name: string): boolean {
  const tokens = name.split('-');
  return tokens.some((_token, at) => at > 0 && leadsToImages(names, tokens.slice(0, at).join('-')));
}

export function unreadEnd(asked: string): GatewayError {
  return invalidRequest(
    'model',
    told`The end of the model name "${asked}" is not understood. Ratio and size are written like "-16-9-4k": ratio one of ${SUFFIX_WORDS.ratios}; size one of ${SUFFIX_WORDS.sizes}; both optional.`,
  );
}

function isAliasOfImages(name: string): boolean {
  const alias = findAlias(name);
  return alias !== undefined && findCatalogModel(alias.target)?.drawsImages === true;
}

function leadsToImages(names: MappedNames, name: string): boolean {
  const hit = hitOf(names, name);
  return hit !== undefined && leadsTo(names, hit);
}

function hitOf({ mapping }: MappedNames, name: string): MappingHit | undefined {
  return mapping?.findExact(name) ?? mapping?.findPattern(name);
}

/** Models that only accounts offer are known by a word in their name. */
function leadsTo(names: MappedNames, { target }: MappingHit): boolean {
  const model = names.resolve(target) ?? '';
  return findCatalogModel(model)?.drawsImages ?? /(?:^|-)(?:image|nano-banana)(?:-|$)/i.test(model);
}

/** A second ratio or size, or one that nobody draws; a pattern may name such an end itself. */
function endsUnread(rest: string, { key }: MappingHit): boolean {
  if (!key.endsWith('*')) return false;
  return readImageSuffix(rest, () => true) !== undefined || UNREAD_END.test(rest);
}

/** `-8k`, `-17x9`, `-17-9`; two single digits may be a version, two pairs behind a year are a date. */
const UNREAD_END = /-(?:\d+k|\d+x\d+|(?<!-\d{4}-)(?:\d\d-\d\d?|\d-\d\d))$/i;
