// Ratio and size at the end of names that the operator's mapping sends to an image model.

import { type GatewayError, invalidRequest } from '../canonical/error.ts';
import { told } from '../lib/told.ts';
import { findCatalogModel } from './catalog.ts';
import { type ImageName, readImageSuffix, SUFFIX_WORDS } from './image-suffix.ts';
import type { MappingHit, ModelMapping } from './mapping.ts';
import { findAlias } from './named-model.ts';

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
