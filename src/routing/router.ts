// Decides where a requested model name goes: mapping, catalogue, offers, variants, aliases.

import { clientError, GatewayError, invalidRequest } from '../canonical/error.ts';
import type { ModelVariant } from '../canonical/model.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import { compareCodePoints, isWildcard, nearestName } from '../lib/names.ts';
import { derived } from '../lib/once.ts';
import { CATALOG } from './catalog.ts';
import { createFamilies, type Families, respelt } from './families.ts';
import { createMapping, type MappingHit, type ModelMapping } from './mapping.ts';
import {
  EXACT_ALIASES,
  findAlias,
  findKnown,
  findNewest,
  impliedBy,
  isMappedImageWithRest,
  type MappedNames,
  type NamedModel,
  type RouteStep,
  readImageName,
  unreadEnd,
} from './model-names.ts';

const MAX_NAME_LENGTH = 256;

/** The name without a leading `models/`. @throws GatewayError invalid-request for what is no name */
function readModelName(value: unknown): string {
  if (typeof value !== 'string') {
    throw invalidRequest(
      'model',
      told`model must be a string: the name of a model.`,
      'invalid-type',
    );
  }
  const name = value.replace(/^models\//i, '');
  if (name.trim() === '') {
    throw invalidRequest(
      'model',
      told`model is missing: send the name of a model.`,
      'missing-field',
    );
  }
  if (name.length > MAX_NAME_LENGTH) {
    throw invalidRequest('model', told`model is longer than ${MAX_NAME_LENGTH} characters.`);
  }
  if (/\p{Cc}/u.test(name)) {
    throw invalidRequest('model', told`model holds control characters.`);
  }
  return name;
}

/** A name with some of its variant words taken off, and what those words ask for. */
interface VariantName {
  readonly base: string;
  readonly variant: ModelVariant;
}

/** Each with what a variant gains by it; undefined where it says so already. */
const WORDS: readonly (readonly [suffix: string, apply: typeof withSearch])[] = [
  ['-online', withSearch],
  ['-thinking', (variant) => (variant.thinking ? undefined : { ...variant, thinking: 'on' })],
  ['-high', (variant) => (variant.effort ? undefined : { ...variant, effort: 'high' })],
  ['-low', (variant) => (variant.effort ? undefined : { ...variant, effort: 'low' })],
];

const NO_VARIANT: ModelVariant = { webSearch: false };

function withSearch(variant: ModelVariant): ModelVariant | undefined {
  return variant.webSearch ? undefined : { ...variant, webSearch: true };
}

/** The name itself, then the name with one more word taken off each time. */
function variantNames(name: string, variant: ModelVariant): readonly VariantName[] {
  const names: VariantName[] = [];
  let next: VariantName | undefined = { base: name, variant };
  while (next !== undefined) {
    names.push(next);
    next = takeWord(next, WORDS);
  }
  return names;
}

function takeWord({ base, variant }: VariantName, words: typeof WORDS): VariantName | undefined {
  const [suffix = '', apply] = words.find(([word]) => endsWith(base, word)) ?? [];
  const applied = apply?.(variant);
  return applied && { base: base.slice(0, -suffix.length), variant: applied };
}

function endsWith(name: string, suffix: string): boolean {
  return name.length > suffix.length && name.toLowerCase().endsWith(suffix);
}

/** Provider prefixes such as `openai/` of LiteLLM, OpenRouter and their clients, and the vendor's resource paths. */
const PROVIDER =
  /^(?:anthropic|azure|gemini|google|litellm_proxy|openai|openrouter|vendora|vendorb|vertex_ai|publishers\/google\/models)\/(?=.)/i;

function withoutProvider(name: string): string | undefined {
  const prefix = PROVIDER.exec(name)?.[0];
  return prefix === undefined ? undefined : name.slice(prefix.length);
}

export interface RoutedModel extends ModelVariant {
  /** The name the pool is asked for. */
  readonly target: string;
  readonly upstreamId?: string | undefined;
  /** True for a name that nobody knows: accounts whose models are unknown may have it. */
  readonly isPassedOn?: boolean | undefined;
}

/** Where a name goes: one model, or several in steps. The route itself is the first of them. */
export interface ModelRoute extends RoutedModel {
  /** The next step is asked when none of the one before can serve. */
  readonly chain?: readonly (readonly WeightedRoute[])[] | undefined;
}

/** Of the alternatives of a step the heavier one is asked first more often. */
export interface WeightedRoute {
  readonly model: RoutedModel;
  readonly weight: number;
}

interface Route extends ModelRoute {
  readonly asked: string;
  /** How the name became the target. */
  readonly steps: readonly RouteStep[];
}

interface Explanation {
  readonly steps: readonly RouteStep[];
  readonly route?: Route | undefined;
  /** The id by which an enabled account serves it now; accounts may differ in it. */
  readonly servedAs?: string | undefined;
  /** The model that this is the id of: of several the first that is served. */
  readonly served?: RoutedModel | undefined;
  /** Of a name that goes to several models, each step with its models, and what serves each now. */
  readonly chain?: readonly (readonly ExplainedModel[])[] | undefined;
  /** Why the name goes nowhere, or why it is not served now. */
  readonly error?: Sentence | undefined;
}

interface ExplainedModel {
  /** As a mapping writes it. */
  readonly name: string;
  readonly weight: number;
  readonly servedAs: string | undefined;
}

export type Router = ReturnType<typeof createRouter>;

interface RouterOptions {
  /** `custom_mapping`; a changed mapping is a new object and counts from the next request on. */
  mapping(): Readonly<Record<string, string>>;
  readonly offered: OfferedNames;
  /** `proxy.targets`; changed ones are a new object, as for the mapping. */
  targets?(): TargetDefinitions;
  /** As the settings are now; the built-in rule when absent. */
  families?(): Pick<Families, 'newestOf' | 'preferredOf'>;
}

interface OfferedNames extends Iterable<string> {
  has(name: string): boolean;
  /** The id by which an enabled account serves the target now; undefined when none does. */
  servedAs(target: string, upstreamId?: string): string | undefined;
  hasUpstream?(id: string): boolean;
  listedBy?(upstreamId: string): Iterable<string>;
  /** False where only a guess has an account serve the target: one without a list, whose upstream has names of its own. */
  knows?(target: string, upstreamId?: string): boolean;
  /** False while some list is unknown: a name nobody else knows is then passed on as it is. */
  readonly isComplete: boolean;
  /** Changes with the answers of complete lists; without it no route is remembered. */
  readonly revision?: number | undefined;
}

/** Clients may name any model. */
const MAX_REMEMBERED = 1_000;

const BUILT_IN_FAMILIES = createFamilies();

export function createRouter({ mapping, offered, families, targets }: RouterOptions) {
  const currentMapping = derived(mapping, createMapping);
  const routeWith = (name: unknown, search: Pick<Search, 'mapping' | 'steps'>): Route => {
    const asked = readModelName(name);
    const sources = {
      offered,
      families: families?.() ?? BUILT_IN_FAMILIES,
      targets: targets?.() ?? {},
    };
    const found = findModel({ ...search, ...sources }, asked);
    if (found === undefined) throw unknownModel(sources, asked);
    return { asked, ...found, steps: search.steps };
  };
  const remembered = new Map<string, Route>();
  let listed: readonly string[] | undefined;
  let entries: unknown;
  let rule: unknown;
  let chains: unknown;
  let version: number | undefined;
  /** What was found stays until the mapping, the families or the offers change: true where it may be kept so long. */
  const forgetChanged = (): boolean => {
    const [latestEntries, latestRule, { revision }] = [mapping(), families?.(), offered];
    const latestChains = targets?.();
    const isSame =
      latestEntries === entries &&
      latestRule === rule &&
      latestChains === chains &&
      revision === version;
    if (!isSame) listed = undefined;
    if (!isSame || remembered.size >= MAX_REMEMBERED) remembered.clear();
    [entries, rule, chains, version] = [latestEntries, latestRule, latestChains, revision];
    return revision !== undefined;
  };
  /** Clients repeat few names. */
  const route = (name: string): Route => {
    const isLasting = forgetChanged();
    const known = remembered.get(name);
    if (known !== undefined) return known;
    const found = routeWith(name, { mapping: currentMapping(), steps: [] });
    if (isLasting) remembered.set(name, found);
    return found;
  };
  const explainWith = (name: string, compiled: ModelMapping | undefined): Explanation => {
    const steps: RouteStep[] = [];
    try {
      const route = routeWith(name, { mapping: compiled, steps });
      const chain = explainChain(route, offered);
      const found = findServed(route, offered);
      if (found !== undefined) return { steps, route, ...found, chain };
      return { steps, route, chain, error: told`No enabled account offers "${route.target}" now.` };
    } catch (error) {
      if (error instanceof GatewayError) return { steps, error: error.sentence };
      throw error;
    }
  };
  const list = (): readonly string[] => {
    const isLasting = forgetChanged();
    const found = listed ?? findServedNames();
    if (isLasting) listed = found;
    return found;
  };
  const findServedNames = (): readonly string[] => {
    const names = new Set([
      ...offered,
      ...CATALOG.map(({ id }) => id),
      ...currentMapping().exactNames(),
      ...EXACT_ALIASES.keys(),
    ]);
    return [...names].filter(isServed).sort(compareCodePoints);
  };
  const isServed = (name: string): boolean => {
    const { servedAs, steps } = explainWith(name, currentMapping());
    return servedAs !== undefined && !isPassedOn(steps);
  };
  const namesLike = (name: string): readonly string[] => {
    if (name.startsWith('@')) return Object.keys(targets?.() ?? {}).map((one) => `@${one}`);
    const within = splitUpstream(name, offered);
    if (within === undefined) return [...list(), ...[respelt(name)].filter(isServed)];
    const { upstreamId } = within;
    return Array.from(offered.listedBy?.(upstreamId) ?? [], (one) => `${upstreamId}/${one}`);
  };
  const meant = (name: string, isAllowed = (_name: string) => true): string | undefined => {
    const isWithin = splitUpstream(name, offered) !== undefined;
    const plain = isWithin ? name : (withoutProvider(name) ?? name);
    const names = namesLike(plain).filter(isAllowed);
    return names.includes(plain) ? undefined : nearestName(plain, names);
  };
  return {
    /** @throws GatewayError invalid-request for a malformed name, not-found (`model-not-found`) for an unknown one */
    route,
    /** As `route`, for people: never throws. */
    explain: (name: string): Explanation => explainWith(name, currentMapping()),
    /** Where a target of the mapping leads, which is not mapped again. */
    explainTarget: (target: string): Explanation => explainWith(target, undefined),
    /** The name that a misspelt one was meant to be, of those that are allowed. */
    meant,
    /** The names that clients may list and an enabled account serves, sorted. */
    list,
  };
}

function explainChain({ chain }: ModelRoute, offered: OfferedNames): Explanation['chain'] {
  return chain?.map((step) =>
    step.map(({ model, weight }) => ({
      name: targetName(model),
      weight,
      servedAs: offered.servedAs(model.target, model.upstreamId),
    })),
  );
}

function findServed(
  route: ModelRoute,
  offered: OfferedNames,
): { readonly served: RoutedModel; readonly servedAs: string } | undefined {
  for (const served of route.chain?.flat().map(({ model }) => model) ?? [route]) {
    const servedAs = offered.servedAs(served.target, served.upstreamId);
    if (servedAs !== undefined) return { served, servedAs };
  }
  return undefined;
}

interface Search {
  /** Undefined while a mapping's target is looked up: targets are not mapped again. */
  readonly mapping: ModelMapping | undefined;
  readonly offered: OfferedNames;
  readonly families: Pick<Families, 'newestOf' | 'preferredOf'>;
  readonly targets: TargetDefinitions;
  readonly steps: RouteStep[];
  /** Of a name behind an upstream, which may know it, that upstream: no alias replaces it, and nothing is taken off its front. */
  readonly within?: string | undefined;
}

/** Targets of several models, by name: `proxy.targets`. */
type TargetDefinitions = Readonly<
  Record<string, { readonly steps: readonly (readonly TargetStep[])[] }>
>;

/** A model, or `upstream/model`; the weight is 1 where none is said. */
type TargetStep = string | { readonly to: string; readonly weight?: number | undefined };

function findModel(search: Search, asked: string): ModelRoute | undefined {
  if (search.mapping === undefined && asked.startsWith('@')) return findChain(search, asked);
  const found = findNamed(search, asked);
  if (found !== undefined) return found;
  if (isMappedImageWithRest(mappedNames(search), asked)) throw unreadEnd(asked);
  return search.offered.isComplete ? undefined : passOn(search, asked);
}

/** Undefined for a name that neither the mapping nor anybody else knows, with its provider or without. */
function findNamed(search: Search, asked: string): ModelRoute | undefined {
  const names = namesOf(search, asked);
  for (const { base, variant } of names) {
    const mapped = search.mapping?.findExact(base) ?? search.mapping?.findPattern(base);
    if (mapped !== undefined) return followMapping(search, mapped, variant);
    const known = findKnown(base, search);
    if (known !== undefined && !isGuess(search, known)) return settle(search, known, variant);
  }
  if (search.within !== undefined) return undefined;
  const within = findWithin(search, asked);
  if (within !== undefined) return within;
  for (const { base, variant } of names.toReversed()) {
    const alias = findAlias(base);
    if (alias === undefined) continue;
    const model = findNewest(base, search) ?? alias;
    if (!isGuess(search, model)) return settle(search, model, variant);
  }
  const plain = withoutProvider(asked);
  if (plain === undefined) return undefined;
  const steps: RouteStep[] = [];
  const found = findNamed({ ...search, steps }, plain);
  if (found !== undefined)
    search.steps.push({ kind: 'provider', name: asked, target: plain }, ...steps);
  return found;
}

/** True where the model would be asked of an upstream of which nothing says that it has that one in place of the name. */
function isGuess({ offered, within }: Search, { target }: NamedModel): boolean {
  return !offered.isComplete && offered.knows?.(target, within) === false;
}

/** Undefined for a name that does not begin with an upstream there is. */
function splitUpstream(asked: string, offered: Pick<OfferedNames, 'hasUpstream'>) {
  const slash = asked.indexOf('/');
  const [upstreamId, name] = [asked.slice(0, slash), asked.slice(slash + 1)];
  return slash > 0 && name !== '' && offered.hasUpstream?.(upstreamId) === true
    ? { upstreamId, name }
    : undefined;
}

/** `upstream/model`: what that upstream is asked for, whether its name is known to others or not. */
function findWithin(search: Search, asked: string): ModelRoute | undefined {
  const within = splitUpstream(asked, search.offered);
  if (within === undefined) return undefined;
  const { upstreamId, name } = within;
  search.steps.push({ kind: 'upstream', name: upstreamId, target: name });
  const inner = { ...search, mapping: undefined, within: upstreamId };
  const found = findNamed(inner, name) ?? passOn(inner, name);
  return found && { ...found, upstreamId };
}

/** The models of an entry of `proxy.targets`; of those nobody knows the pool says that nobody offers them. */
function findChain(search: Search, name: string): ModelRoute | undefined {
  const definition = search.targets[name.slice(1)];
  const chain = definition?.steps.map((step) =>
    step.map((entry) => {
      const { to, weight = 1 } = typeof entry === 'string' ? { to: entry } : entry;
      const found = to.startsWith('@') ? undefined : findRoutedTarget({ ...search, steps: [] }, to);
      return { model: found ?? { ...NO_VARIANT, target: to }, weight };
    }),
  );
  const first = chain?.flat()[0]?.model;
  if (first === undefined) return undefined;
  const names = chain?.flat().map(({ model }) => targetName(model)) ?? [];
  search.steps.push({ kind: 'targets', name, target: names.join(' → ') });
  return { ...first, chain };
}

/** As a mapping writes it. */
export function targetName({ target, upstreamId }: RoutedModel): string {
  return upstreamId === undefined ? target : `${upstreamId}/${target}`;
}

/** Upstreams without a readable model list decide themselves what they know. */
function passOn(search: Search, asked: string): ModelRoute | undefined {
  const [name] = namesOf({ ...search, steps: [] }, asked);
  if (name === undefined) return undefined;
  search.steps.push({ kind: 'passed-on', name: asked, target: name.base });
  const { base: target, variant } = name;
  const found = mergeVariants({ ...NO_VARIANT, ...impliedBy(target), target }, variant);
  return { ...found, isPassedOn: true };
}

/** The name as it is when somebody knows it so; else without search, image and variant words. */
function namesOf(search: Search, asked: string): readonly VariantName[] {
  const isWhole =
    search.mapping?.findExact(asked) !== undefined || findKnown(asked, search) !== undefined;
  const { base, variant } = isWhole
    ? { base: asked, variant: NO_VARIANT }
    : setAside(search, asked);
  if (base !== asked || variant.image !== undefined)
    search.steps.push({ kind: 'variant', name: asked, target: base, detail: sayVariant(variant) });
  return variantNames(base, variant);
}

function setAside(search: Search, asked: string): VariantName {
  const plain = { base: asked, variant: NO_VARIANT };
  // It says nothing about the model itself.
  const { base, variant } = takeWord(plain, WORDS.slice(0, 1)) ?? plain;
  const image = readImageName(mappedNames(search), base);
  if (image === undefined) return { base, variant };
  return { base: image.base, variant: { ...variant, image: image.image } };
}

function mappedNames(search: Search): MappedNames {
  const { mapping } = search;
  return {
    mapping,
    resolve: (target) => findRoutedTarget({ ...search, steps: [] }, target)?.target,
  };
}

/** A target is looked up like any name, but never mapped again. */
function findRoutedTarget(search: Search, target: string): ModelRoute | undefined {
  return findModel({ ...search, mapping: undefined }, target.replace(/^models\//i, ''));
}

/** What the client asked for wins over what the target says. */
function followMapping(search: Search, hit: MappingHit, variant: ModelVariant): ModelRoute {
  search.steps.push({ kind: `mapping-${hit.kind}`, name: hit.key, target: hit.target });
  if (hit.target.trim() === '' || isWildcard(hit.target)) {
    throw unroutable(hit, told`a target is the name of one model, without "*"`);
  }
  const found = findRoutedTarget(search, hit.target);
  if (found === undefined) {
    const isTarget = hit.target.startsWith('@');
    const why = isTarget
      ? told`proxy.targets has no steps of that name`
      : told`no account offers that model`;
    throw unroutable(hit, why);
  }
  return mergeVariants(found, variant);
}

function settle(search: Search, model: NamedModel, variant: ModelVariant): ModelRoute {
  search.steps.push(model.step);
  const sibling = model.siblingFor(variant);
  if (sibling !== undefined)
    search.steps.push({ kind: 'sibling', name: model.target, target: sibling.target });
  const { target, implies } = sibling ?? model;
  return mergeVariants({ ...NO_VARIANT, ...implies, target }, variant);
}

function mergeVariants(found: ModelRoute, asked: ModelVariant): ModelRoute {
  const effort = asked.effort ?? found.effort;
  const thinking = asked.thinking ?? found.thinking;
  const image = { ...found.image, ...asked.image };
  const chain = found.chain?.map((step) =>
    step.map(({ model, weight }) => ({ model: mergeVariants(model, asked), weight })),
  );
  return {
    target: found.target,
    ...(found.upstreamId === undefined ? {} : { upstreamId: found.upstreamId }),
    ...(chain === undefined ? {} : { chain }),
    webSearch: asked.webSearch || found.webSearch,
    ...(effort === undefined ? {} : { effort }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(Object.keys(image).length === 0 ? {} : { image }),
  };
}

function sayVariant({ webSearch, image }: ModelVariant): string {
  const words = [webSearch ? 'web search' : undefined, image?.aspectRatio, image?.size];
  return words.filter((word) => word !== undefined).join(', ');
}

function unknownModel({ offered }: Pick<Search, 'offered'>, asked: string): GatewayError {
  const model = /^(.*?(?:^|-)image)-/i.exec(asked)?.[1];
  const isImage = model !== undefined && (findKnown(model, { offered }) ?? findAlias(model));
  if (isImage) return unreadEnd(asked);
  return modelNotFound(
    told`The model "${asked}" is not known here; see GET /v1/models for the names that are. Other names can be mapped to one of them in custom_mapping.`,
  );
}

function unroutable({ key, target }: MappingHit, why: Sentence): GatewayError {
  return modelNotFound(
    told`custom_mapping sends "${key}" to "${target}", but ${why}; see GET /v1/models for the names that can be targets.`,
  );
}

function modelNotFound(message: Sentence): GatewayError {
  return clientError('not-found', message, { reason: 'model-not-found', field: 'model' });
}

/** What is wrong with a name, and the one that may have been meant; undefined for one that is served. */
export function sayUnserved(
  name: string,
  { steps, error }: Explanation,
  router: Pick<Router, 'meant'>,
): Sentence | undefined {
  if (error === undefined) return undefined;
  // Where the mapping sent the name on, its target is what was misspelt.
  const wrong = steps.findLast(({ kind }) => kind.startsWith('mapping-'))?.target ?? name;
  const meant = router.meant(wrong);
  return meant === undefined ? error : withSuggestion(error, meant);
}

export function withSuggestion(sentence: Sentence, meant: string): Sentence {
  return told`${sentence} Did you mean "${meant}"?`;
}

/** What is said when an entry of the mapping sends names to a model that none of them would find. */
export function warnOfTarget(
  key: string,
  target: string,
  router: Pick<Router, 'explainTarget' | 'meant'>,
): Sentence | undefined {
  const { route, steps, servedAs } = router.explainTarget(target);
  // An account whose list is unknown may have the model, but hardly one that is nearly the name of another.
  const mayHave = isPassedOn(steps);
  if (servedAs !== undefined && !mayHave) return undefined;
  const meant = router.meant(target);
  if (mayHave && meant === undefined) return undefined;
  const warning =
    route === undefined
      ? told`"${key}" goes to "${target}", which no account offers and no rule knows: requests for it will fail.`
      : told`"${key}" goes to "${target}", which no enabled account is known to offer now.`;
  return meant === undefined ? warning : withSuggestion(warning, meant);
}

function isPassedOn(steps: readonly RouteStep[]): boolean {
  return steps.some(({ kind }) => kind === 'passed-on');
}

interface TargetSources {
  readonly router: Pick<Router, 'explain'>;
  readonly pool: { readonly offered: Pick<OfferedNames, 'has'> };
}

/** Undefined when no account offers it: names nobody knows are as many as clients care to write. */
export function findTarget(name: string, { router, pool }: TargetSources): string | undefined {
  const target = router.explain(name).route?.target;
  return target !== undefined && pool.offered.has(target) ? target : undefined;
}
