// Finds the price of a model: the operator's own, a public one, or one of its family as an estimate.

import {
  compareWildcards,
  createWildcard,
  foldCase,
  isWildcard,
  type Wildcard,
} from '../lib/names.ts';
import { isLoopbackHost } from '../lib/net.ts';
import { realModelName } from '../wire/vocabulary.ts';
import type { PricedRates } from './cost.ts';
import table from './prices.json' with { type: 'json' };

export const CURRENCY = table.currency;

export const PROVIDERS = [
  'google',
  'anthropic',
  'openai',
  'deepseek',
  'xai',
  'mistral',
  'groq',
] as const;
type Provider = (typeof PROVIDERS)[number];

/** Who is paid for what an upstream serves. */
export interface Seller {
  readonly upstreamId: string;
  /** Undefined where it is none of those with a public price: prices of the models' makers are estimates then. */
  readonly provider?: Provider | undefined;
  /** True for servers of one's own: they cost nothing by the token, unless the operator says so. */
  readonly isLocal?: boolean | undefined;
}

/** By model, `upstream/model`, or a pattern of either with `*`. */
export type OwnPrices = Readonly<Record<string, OwnPrice>>;

interface OwnPrice extends PricedRates {
  readonly source?: string | undefined;
  readonly date?: string | undefined;
}

/** Whether a price is the operator's, the public one of the model, or that of another one. */
export const PRICE_BASES = ['own', 'listed', 'estimate'] as const;
export type PriceBasis = (typeof PRICE_BASES)[number];

export interface Price {
  readonly rates: PricedRates;
  readonly basis: PriceBasis;
  /** The name or pattern the price is kept under. */
  readonly model: string;
  readonly provider?: Provider | undefined;
  /** Where it comes from, and of which day it is; of own prices as the operator wrote it. */
  readonly source?: string | undefined;
  readonly date?: string | undefined;
}

interface ListedPrice extends Price {
  readonly models: readonly string[];
  readonly provider: Provider;
}

export const LISTED_PRICES: readonly ListedPrice[] = table.prices.map(readListed);

/** Where the facts of the file were taken from; the page of each provider is where they originate. */
export const TABLE_SOURCE = table.source;

function readListed({
  provider: name,
  models,
  ...rates
}: (typeof table.prices)[number]): ListedPrice {
  const provider = PROVIDERS.find((known) => known === name);
  const model = models[0];
  if (provider === undefined || model === undefined) throw new Error(`No price: ${name}`);
  const source = table.pages[provider];
  return { rates, basis: 'listed', model, models, provider, source, date: table.date };
}

/** @param own of the operator: they replace a public price as a whole */
export function createPriceBook(own: OwnPrices = {}) {
  const exact = new Map<string, Price>();
  const patterns: { readonly wildcard: Wildcard; readonly price: Price }[] = [];
  for (const [model, { source, date, ...rates }] of Object.entries(own)) {
    const price: Price = { rates, basis: 'own', model, source, date };
    const name = plainName(model);
    if (isWildcard(name)) patterns.push({ wildcard: createWildcard(name), price });
    else exact.set(name, price);
  }
  patterns.sort((left, right) => compareWildcards(left.wildcard, right.wildcard));
  const findOwn = (names: readonly string[]): Price | undefined => {
    for (const name of names) {
      const price = exact.get(name);
      if (price !== undefined) return price;
    }
    return patterns.find(({ wildcard }) => names.some((name) => wildcard.matches(name)))?.price;
  };
  return {
    /** Undefined for a model without a known price: it has no cost, which is not a cost of 0. */
    find(seller: Seller, modelId: string): Price | undefined {
      const name = plainName(modelId);
      const upstream = foldCase(seller.upstreamId);
      const mine = findOwn([`${upstream}/${name}`, `${upstream}/${foldCase(modelId)}`, name]);
      return mine ?? (seller.isLocal === true ? undefined : findListed(seller.provider, name));
    },
  };
}

/** As the table has it: in real words, lower case, without the path that some upstreams write before it. */
function plainName(model: string): string {
  return realModelName(foldCase(model).replace(/^(?:publishers\/[^/]+\/)?models\//, ''));
}

const LISTED = PROVIDERS.map((provider) => {
  const prices = LISTED_PRICES.filter((price) => price.provider === provider);
  const names = prices.flatMap((price) => price.models.map((model) => ({ model, price })));
  return {
    provider,
    exact: new Map(names.map(({ model, price }) => [model, price])),
    patterns: names
      .filter(({ model }) => isWildcard(model))
      .map(({ model, price }) => ({ wildcard: createWildcard(model), price }))
      .sort((left, right) => compareWildcards(left.wildcard, right.wildcard)),
    versions: names
      .filter(({ model }) => !isWildcard(model))
      .map(({ model, price }) => ({ ...readVersion(model), price })),
  };
});

type ProviderPrices = (typeof LISTED)[number];

/** No listed model has a name that long; those of clients may have any length, and each end is taken off by itself. */
const MAX_NAME_LENGTH = 256;

/** Exact, by pattern, then of the nearest version of its family; of other sellers at the maker's price. */
function findListed(provider: Provider | undefined, name: string): Price | undefined {
  if (name.length > MAX_NAME_LENGTH) return undefined;
  const own = LISTED.find((one) => one.provider === provider);
  if (own !== undefined) {
    const price = findNamed(own, name) ?? asEstimate(findRelated(own, name));
    if (price !== undefined) return price;
  }
  // `anthropic/claude-sonnet-4.5`, as marketplaces write it.
  const bare = name.slice(name.lastIndexOf('/') + 1);
  const spellings = [bare, bare.replaceAll('.', '-')];
  for (const find of [findNamed, findRelated]) {
    for (const spelling of spellings) {
      for (const one of LISTED) {
        const price = one === own && spelling === name ? undefined : find(one, spelling);
        if (price !== undefined) return asEstimate(price);
      }
    }
  }
  return undefined;
}

function asEstimate(price: Price | undefined): Price | undefined {
  return price && { ...price, basis: 'estimate' };
}

function findNamed({ exact, patterns }: ProviderPrices, name: string): Price | undefined {
  const released = withoutRelease(name);
  for (const one of [name, released]) {
    const found = exact.get(one) ?? patterns.find(({ wildcard }) => wildcard.matches(one))?.price;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The price of the nearest version of the same family, the newer one of two. */
function findRelated({ versions }: ProviderPrices, name: string): Price | undefined {
  const asked = readVersion(withoutRelease(name));
  let nearest: (typeof versions)[number] | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const one of versions) {
    if (one.family !== asked.family) continue;
    const distance = Math.abs(one.version - asked.version);
    if (distance > least || (distance === least && one.version < (nearest?.version ?? 0))) continue;
    nearest = one;
    least = distance;
  }
  return nearest?.price;
}

/** Ends of ids that name a release or an effort of a model, and no other price. */
const RELEASE = new RegExp(
  `(?:${[
    '[-@]20\\d{6}', // a day
    '-20\\d\\d-\\d\\d-\\d\\d',
    '-\\d\\d-20\\d\\d', // a month
    '-\\d{4}', // a year and a month, or a month and a day
    '-00\\d',
    '-(?:latest|preview|exp|experimental|beta|customtools)',
    '(?<!stral)-(?:thinking|minimal|low|medium|high|xhigh)', // `mistral-medium` is a model
    ':(?:free|nitro|floor|thinking|online|exacto)',
  ].join('|')})$`,
);

function withoutRelease(name: string): string {
  const shorter = name.replace(RELEASE, '');
  return shorter === name ? name : withoutRelease(shorter);
}

/** `gemini-2.5-flash` and `gemini-flash-2.5` are version 2.5 of `gemini-flash`; `claude-opus-4-5` is 4.5. */
function readVersion(name: string): { readonly family: string; readonly version: number } {
  const words: string[] = [];
  const numbers: string[] = [];
  for (const part of name.split('-')) {
    if (/^\d{1,2}(?:\.\d{1,2})?$/.test(part)) numbers.push(part);
    else words.push(part);
  }
  const [major = '0', minor] = numbers;
  const version = Number(major.includes('.') || minor === undefined ? major : `${major}.${minor}`);
  return { family: words.join('-'), version: Number.isFinite(version) ? version : 0 };
}

interface SellerSource {
  readonly id: string;
  readonly profile: string;
  readonly baseUrl?: string | undefined;
  /** The service or server an `openai-compatible` upstream is. */
  readonly quirks?: string | undefined;
}

/** Profiles that are the provider's own service. */
const PROFILE_PROVIDERS: Readonly<Record<string, Provider>> = {
  'gemini-api': 'google',
  vertex: 'google',
  anthropic: 'anthropic',
  openai: 'openai',
};

const SERVICE_PROVIDERS: Readonly<Record<string, Provider>> = {
  groq: 'groq',
  mistral: 'mistral',
  deepseek: 'deepseek',
  xai: 'xai',
};

const HOST_PROVIDERS: Readonly<Record<string, Provider>> = {
  'generativelanguage.googleapis.com': 'google',
  'api.anthropic.com': 'anthropic',
  'api.openai.com': 'openai',
  'api.deepseek.com': 'deepseek',
  'api.x.ai': 'xai',
  'api.mistral.ai': 'mistral',
  'api.groq.com': 'groq',
};

/** Servers that people run themselves, also on another machine. */
const SERVERS = ['vllm', 'llama.cpp', 'llama-cpp-python', 'lm-studio', 'ollama', 'sandbox'];

/** Whose price list counts: that of the address, of the service, else of the profile where it has its own address. */
export function sellerOf({ id, profile, baseUrl, quirks = '' }: SellerSource): Seller {
  const host = URL.parse(baseUrl ?? '')?.hostname;
  const isLocal =
    SERVERS.includes(quirks) ||
    SERVERS.includes(profile) ||
    (profile === 'openai-compatible' && host !== undefined && isLoopbackHost(host));
  if (isLocal) return { upstreamId: id, isLocal };
  const named = SERVICE_PROVIDERS[quirks] ?? PROFILE_PROVIDERS[profile];
  return { upstreamId: id, provider: HOST_PROVIDERS[host ?? ''] ?? named };
}
