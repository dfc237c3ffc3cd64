// The model a name stands for: catalogue, offers, the other vocabulary, aliases, names of image models.

import { type GatewayError, invalidRequest } from '../canonical/error.ts';
import type { ImageOptions } from '../canonical/image-options.ts';
import { COMMON_RATIOS } from '../canonical/image-options.ts';
import type { ModelVariant } from '../canonical/model.ts';
import type { ModelFamily } from '../config/settings.ts';
import { told } from '../lib/localized-message.ts';
import { compareCodePoints, createWildcard, foldCase } from '../lib/names.ts';
import { neutralModelName, realModelName } from '../wire/vocabulary.ts';
import { CATALOG, findCatalogModel, type ImpliedReasoning } from './catalog.ts';
import type { Families } from './families.ts';
import type { MappingHit, ModelMapping } from './mapping.ts';

/** Short names of model lines, beside the catalogue's own ids. */
const LINES: readonly (readonly [name: string, target: string])[] = [
  ['alpha-3-pro', 'alpha-3-pro-high'],
  ['beta-opus-4-6', 'beta-opus-4-6-thinking'],
];

/** Every alias of one exact name, in both vocabularies. */
export const EXACT_ALIASES: ReadonlyMap<string, string> = new Map([
  ...CATALOG.map(({ id }) => [realModelName(id), id] as const),
  ...LINES.flatMap(([name, target]) => [
    [name, target] as const,
    [realModelName(name), target] as const,
  ]),
]);

/** Of names that begin with a letter and a digit, which no pattern covers without more. */
const GENERATIONS = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/** First match wins. Vectors of two models do not compare: embedding models stand for themselves alone. */
const PATTERN_ALIASES: readonly (readonly [
  pattern: string,
  target: string,
  /** The newest model of the first of them that an account offers goes before the target. */
  ...families: ModelFamily[],
])[] = [
  ['text-embedding-*', 'alpha-embedding-001', 'embedding'],
  ['dall-e*', 'alpha-3-pro-image'],
  ['gpt-image*', 'alpha-3-pro-image'],
  ['imagen-*', 'alpha-3-pro-image'],
  ['gemini-*image*', 'alpha-3-pro-image'],
  ['alpha-*image*', 'alpha-3-pro-image'],
  ['*nano-banana*', 'alpha-3-pro-image'],
  ['whisper*', 'alpha-3-flash'],
  ['gpt-*transcribe*', 'alpha-3-flash'],
  ['gpt-*-tts*', 'alpha-3-flash'],
  ['gpt-*-mini*', 'alpha-3-flash', 'mini'],
  ['gpt-*-nano*', 'alpha-3-flash', 'nano', 'mini'],
  ['gpt-3.5*', 'alpha-3-flash', 'mini'],
  ['gpt-*', 'alpha-3-pro-high', 'gpt'],
  ['chatgpt-*', 'alpha-3-pro-high', 'gpt'],
  ['codex-*mini*', 'alpha-3-flash', 'mini'],
  ['codex-*', 'alpha-3-pro-high', 'gpt'],
  ...GENERATIONS.map((digit) => [`o${digit}-mini*`, 'alpha-3-pro-low', 'mini'] as const),
  ...GENERATIONS.flatMap((digit) => [
    [`o${digit}`, 'alpha-3-pro-high', 'gpt'] as const,
    [`o${digit}-*`, 'alpha-3-pro-high', 'gpt'] as const,
  ]),
  ['claude-*opus*', 'beta-opus-4-6-thinking'],
  ['beta-*opus*', 'beta-opus-4-6-thinking'],
  ['claude-*sonnet*', 'beta-sonnet-4-6'],
  ['beta-*sonnet*', 'beta-sonnet-4-6'],
  ['claude-*haiku*', 'alpha-3-flash', 'haiku'],
  ['beta-*haiku*', 'alpha-3-flash', 'haiku'],
  ['gemini-*flash-lite*', 'alpha-3-flash', 'flash-lite'],
  ['alpha-*flash-lite*', 'alpha-3-flash', 'flash-lite'],
  ['gemini-*flash*', 'alpha-3-flash'],
  ['alpha-*flash*', 'alpha-3-flash'],
  ['gemini-*pro*', 'alpha-3-pro-high'],
  ['alpha-*pro*', 'alpha-3-pro-high'],
];

const COMPILED = PATTERN_ALIASES.map(([pattern, target, ...families]) => ({
  wildcard: createWildcard(pattern),
  target,
  families,
}));

interface AliasHit {
  /** The name or pattern that matched. */
  readonly alias: string;
  readonly target: string;
  readonly families: readonly ModelFamily[];
}

function findPatternAlias(name: string): AliasHit | undefined {
  const folded = foldCase(name);
  const hit = COMPILED.find(({ wildcard }) => wildcard.matches(folded));
  return hit && { alias: hit.wildcard.pattern, target: hit.target, families: hit.families };
}

export interface NamedModel {
  readonly target: string;
  readonly implies: ImpliedReasoning;
  /** How it was found. */
  readonly step: RouteStep;
  /** Another catalogue model that fits what the name asked for better. */
  siblingFor(variant: ModelVariant): SiblingModel | undefined;
}

interface SiblingModel {
  readonly target: string;
  readonly implies: ImpliedReasoning;
}

interface Offer {
  readonly offered: Iterable<string> & {
    has(name: string): boolean;
    servedAs(name: string, upstreamId: string): string | undefined;
    /** Another number once other names are offered; absent while that is not known. */
    readonly revision?: number | undefined;
  };
  /** The upstream that alone is asked. */
  readonly within?: string | undefined;
}

/** What accounts offer under the name, or under another spelling of it; else the catalogue's models. */
export function findKnown(name: string, offer: Offer): NamedModel | undefined {
  const known = findOffered(name, offer);
  if (known !== undefined) return known;
  const others = respellings(name).flatMap((spelling) => findOffered(spelling, offer)?.step ?? []);
  const found = others.find(({ kind }) => kind === 'offered' || kind === 'offered-twin');
  if (found !== undefined) return offeredModel({ ...found, kind: 'offered-twin', name });
  return findOwn(name.toLowerCase());
}

/** `4.6` is `4-6` to other services, and `-latest` is the last date of one version. */
function respellings(name: string): readonly string[] {
  const bare = name.toLowerCase().replace(/-latest$/, '');
  const dashed = bare.replaceAll(/(?<=\d)\.(?=\d)/g, '-');
  const dotted = bare.replaceAll(/(?<=-\d{1,2})-(?=\d{1,2}(?:-|$))/g, '.');
  return [bare, dashed, dotted].filter((spelling) => spelling !== name);
}

/** What accounts offer under the name, its twin, or either with a date or without its own, or behind its maker's. */
function findOffered(name: string, offer: Offer): NamedModel | undefined {
  const { offered } = offer;
  const lower = name.toLowerCase();
  const spellings = new Set([name, lower, realModelName(lower), neutralModelName(lower)]);
  for (const spelling of spellings) {
    if (!offered.has(spelling)) continue;
    if (findCatalogModel(spelling) !== undefined) return findOwn(lower);
    const kind = spelling.toLowerCase() === lower ? 'offered' : 'offered-twin';
    return offeredModel({ kind, name, target: spelling });
  }
  const target =
    findDated(spellings, offer) ?? findUndated(spellings, offer) ?? findBehind(spellings, offer);
  if (target === undefined) return undefined;
  const model = offeredModel({ kind: 'offered-twin', name, target });
  return { ...model, implies: impliedBy(lower) };
}

const DATED = /^(.+)[-@](\d{4}-?\d\d-?\d\d)$/;

/** Services list models with their date, and take the name without it, too. Of several dates the latest. */
function findDated(names: ReadonlySet<string>, offer: Offer): string | undefined {
  const { dated } = indexOf(offer.offered);
  return [...names]
    .flatMap((name) => dated.get(name) ?? [])
    .filter(({ id }) => isServed(id, offer))
    .reduce<DatedId | undefined>((a, b) => (a === undefined || b.date > a.date ? b : a), undefined)
    ?.id;
}

/** A service that lists a model without the date that the client names is nearer than another model. */
function findUndated(names: ReadonlySet<string>, offer: Offer): string | undefined {
  return undatedOf(names).find((name) => offer.offered.has(name) && isServed(name, offer));
}

function undatedOf(names: ReadonlySet<string>): readonly string[] {
  return [...names].flatMap((name) => DATED.exec(name)?.[1] ?? []);
}

/** Services with the models of several makers list them as `openai/gpt-4o`. Of several that end alike the shortest. */
function findBehind(names: ReadonlySet<string>, offer: Offer): string | undefined {
  const { behind } = indexOf(offer.offered);
  for (const name of [...names, ...undatedOf(names)]) {
    const served = behind.get(name)?.filter((id) => isServed(id, offer)) ?? [];
    const [best] = served.toSorted((a, b) => a.length - b.length || compareCodePoints(a, b));
    if (best !== undefined) return best;
  }
  return undefined;
}

function isServed(id: string, { offered, within }: Offer): boolean {
  return within === undefined || offered.servedAs(id, within) !== undefined;
}

interface DatedId {
  readonly id: string;
  /** Its digits. */
  readonly date: string;
}

/** The ids of one revision of what is offered, by parts of them in lower case. */
interface OfferedIndex {
  readonly revision: number | undefined;
  /** By the name without the date. */
  readonly dated: ReadonlyMap<string, readonly DatedId[]>;
  /** By what stands behind the last slash. */
  readonly behind: ReadonlyMap<string, readonly string[]>;
}

const indexes = new WeakMap<Offer['offered'], OfferedIndex>();

function indexOf(offered: Offer['offered']): OfferedIndex {
  const { revision } = offered;
  const latest = indexes.get(offered);
  if (latest !== undefined && latest.revision === revision) return latest;
  const dated = new Map<string, DatedId[]>();
  const behind = new Map<string, string[]>();
  for (const id of offered) {
    const [, name, digits = ''] = DATED.exec(id) ?? [];
    if (name !== undefined) add(dated, name, { id, date: digits.replaceAll('-', '') });
    const slash = id.lastIndexOf('/');
    if (slash !== -1) add(behind, id.slice(slash + 1), id);
  }
  const index = { revision, dated, behind };
  if (revision !== undefined) indexes.set(offered, index);
  return index;
}

function add<Value>(lists: Map<string, Value[]>, name: string, value: Value): void {
  const key = name.toLowerCase();
  const known = lists.get(key);
  if (known === undefined) lists.set(key, [value]);
  else known.push(value);
}

function findOwn(name: string): NamedModel | undefined {
  if (findCatalogModel(name)) return catalogModel({ kind: 'catalogue', name, target: name });
  const target = EXACT_ALIASES.get(name);
  return target === undefined ? undefined : catalogModel({ kind: 'own-name', name, target });
}

export function findAlias(name: string): NamedModel | undefined {
  if (hasUnreadImageSuffix(name)) return undefined;
  const hit = findPatternAlias(name);
  return hit && catalogModel({ kind: 'alias', name, target: hit.target, detail: hit.alias });
}

/** The newest model that accounts serve of the family a well-known name belongs to. */
export function findNewest(
  name: string,
  { offered, families }: NewestSources,
): NamedModel | undefined {
  const { families: own = [], target = '', alias = '' } = findPatternAlias(name) ?? {};
  if (own.length === 0) return undefined;
  const served = (): string[] => [...offered].filter((id) => offered.servedAs(id) !== undefined);
  const newest = own.includes('embedding')
    ? newestEmbedding(target, { offered, families })
    : own.map((family) => families.newestOf(family, served())).find((id) => id !== undefined);
  return newest === undefined
    ? undefined
    : offeredModel({ kind: 'alias', name, target: newest, detail: alias });
}

/** Vectors of two models do not compare: the catalogue's stays, and a disabled account changes nothing. */
function newestEmbedding(target: string, { offered, families }: NewestSources): string | undefined {
  const isOffered = [target, realModelName(target)].some((id) => offered.has(id));
  return isOffered
    ? families.preferredOf('embedding', offered)
    : families.newestOf('embedding', offered);
}

interface NewestSources {
  readonly offered: Iterable<string> & {
    has(name: string): boolean;
    servedAs(target: string): string | undefined;
  };
  readonly families: Pick<Families, 'newestOf' | 'preferredOf'>;
}

function catalogModel(step: RouteStep): NamedModel {
  const id = step.target;
  return {
    target: id,
    implies: findCatalogModel(id)?.implies ?? {},
    step,
    siblingFor: (variant) => siblingOf(id, variant),
  };
}

function offeredModel(step: RouteStep): NamedModel {
  const { target } = step;
  return { target, implies: impliedBy(target), step, siblingFor: () => undefined };
}

/** What the id of a model says about reasoning, in either spelling. */
export function impliedBy(id: string): ImpliedReasoning {
  return findCatalogModel(neutralModelName(id.toLowerCase()))?.implies ?? {};
}

/** `-low` of a model that has a low sibling, thinking of one that has a thinking sibling. */
function siblingOf(id: string, { effort, thinking }: ModelVariant): SiblingModel | undefined {
  const isSilent = findCatalogModel(id)?.supportsThinking === false;
  const wantsSibling = thinking === 'on' || (effort !== undefined && isSilent);
  const candidates = [
    effort === undefined ? undefined : id.replace(/-(high|low)$/, `-${effort}`),
    wantsSibling ? `${id}-thinking` : undefined,
  ];
  for (const candidate of candidates) {
    if (candidate === undefined || candidate === id) continue;
    const sibling = findCatalogModel(candidate);
    if (sibling !== undefined) return { target: candidate, implies: sibling.implies };
  }
  return undefined;
}

/**
 * Releases are called `-preview`, `-latest`, `-002`, `-1-2025-05-01`; anything else after `image` was meant
 * for us, also two short numbers: they are a ratio nobody draws. Behind a model of ours one is half of a
 * ratio.
 */
function hasUnreadImageSuffix(name: string): boolean {
  const [, model = '', rest] = /^((?:.*?-)?image)-(.*)$/i.exec(name) ?? [];
  if (rest === undefined) return false;
  if (/^\d{1,2}(?:-|$)/.test(rest) && !/^\d\d-\d{4}/.test(rest) && isOwnName(model)) return true;
  const release =
    /^(?:(?:preview|latest|exp|mini|\d{4}-\d\d-\d\d|\d\d-\d{4}|\d+(?:\.\d+)*(?!-\d\d?(?:-|$)))(?:-|$))+$/i;
  return !release.test(rest);
}

function isOwnName(name: string): boolean {
  const lower = name.toLowerCase();
  return findCatalogModel(lower) !== undefined || EXACT_ALIASES.has(lower);
}

export const ROUTE_STEP_KINDS = [
  'mapping-exact',
  'mapping-pattern',
  'catalogue',
  'offered',
  'offered-twin',
  'own-name',
  'alias',
  'variant',
  'sibling',
  'provider',
  'passed-on',
  'upstream',
  'targets',
  'external-exclusive',
  'external-pooled',
  'external-fallback',
] as const;

export interface RouteStep {
  readonly kind: (typeof ROUTE_STEP_KINDS)[number];
  /** What is looked up; of a mapping the name or pattern of the entry. */
  readonly name: string;
  /** What it leads to; the name itself where that is known. */
  readonly target: string;
  /** Of an alias its pattern, of a variant what the name asks for besides. */
  readonly detail?: string;
}

export function sayRouteStep({ kind, name, target, detail = '' }: RouteStep): string {
  switch (kind) {
    case 'mapping-exact':
      return `custom_mapping (exact) "${name}" gives "${target}"`;
    case 'mapping-pattern':
      return `custom_mapping (pattern) "${name}" gives "${target}"`;
    case 'catalogue':
      return `"${target}" is in the catalogue`;
    case 'offered':
      return `"${target}" is offered by an account`;
    case 'offered-twin':
      return `"${name}" is offered by an account, as "${target}"`;
    case 'own-name':
      return `"${name}" is a name of "${target}"`;
    case 'alias':
      return `"${name}" (alias "${detail}") goes to "${target}"`;
    case 'variant':
      return `"${name}" is "${target}" with ${detail}`;
    case 'sibling':
      return `its variant is "${target}"`;
    case 'provider':
      return `"${name}" names the provider of "${target}"`;
    case 'upstream':
      return `the upstream "${name}" is asked for "${target}"`;
    case 'targets':
      return `"${name}" tries ${target}`;
    case 'passed-on':
      return `"${target}" is passed on: an account's model list is unknown`;
    case 'external-exclusive':
      return `of Messages clients the external provider alone is asked, for "${target}"`;
    case 'external-pooled':
      return `of Messages clients the external provider takes its share, as "${target}"`;
    case 'external-fallback':
      return `of Messages clients the external provider is asked for "${target}" where no account can serve`;
    default:
      return kind satisfies never;
  }
}

// Reads ratio and size at the end of an image model's name: `<model>-16-9-4k`, both optional.

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
