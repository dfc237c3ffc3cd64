// Prices by the present settings: what a model, an account and a call cost, for budgets.

import type { NewBudget, PeriodSpan } from '../access/budgets.ts';
import type { AccountRecord } from '../accounts/account.ts';
import type { AccountBook } from '../accounts/account-book.ts';
import type { ServedBy } from '../canonical/call-record.ts';
import { GatewayError } from '../canonical/error.ts';
import { NO_USAGE, type Usage } from '../canonical/usage.ts';
import type { Settings } from '../config/effective.ts';
import { type PriceSettings, RATES_SCHEMA, readSection } from '../config/settings.ts';
import { derived } from '../lib/once.ts';
import type { RequestStore } from '../monitor/request-store.ts';
import type { Pool } from '../pool/create-pool.ts';
import {
  type AnswerPrice,
  type Billing,
  chargeAnswers,
  defaultBilling,
} from '../pricing/charges.ts';
import { costOf } from '../pricing/cost.ts';
import {
  createPriceBook,
  type OwnPrices,
  type Price,
  type Seller,
  sellerOf,
} from '../pricing/prices.ts';
import type { RoutedModel, Router } from '../routing/router.ts';
import type { CallPrices } from '../server/edge.ts';

interface PricingOptions {
  readonly current: () => Settings;
  readonly book: Pick<AccountBook, 'find'>;
  /** Whether the built-in sandbox is what answers for this upstream. */
  readonly isBuiltIn: (upstreamId: string) => boolean;
}

const MAX_KNOWN = 2000;

export function createPricing({ current, book, isBuiltIn }: PricingOptions) {
  const own = derived(current, ({ prices }) => toOwnPrices(prices));
  const priceBook = derived(own, createPriceBook);
  const sellers = derived(
    current,
    ({ upstreams }) =>
      new Map(upstreams.map((one) => [one.id, { profile: one.profile, seller: sellerOf(one) }])),
  );
  /** By upstream and model. Clients may name any model. */
  const known = derived(current, () => new Map<string, Price | undefined>());
  const sellerFor = (upstreamId: string): Seller => {
    if (isBuiltIn(upstreamId)) return { upstreamId, isLocal: true };
    return sellers().get(upstreamId)?.seller ?? { upstreamId };
  };
  const find = (upstreamId: string, modelId: string): Price | undefined => {
    const prices = known();
    const key = `${upstreamId}\n${modelId}`;
    if (prices.has(key)) return prices.get(key);
    if (prices.size >= MAX_KNOWN) prices.clear();
    const price = priceBook().find(sellerFor(upstreamId), modelId);
    prices.set(key, price);
    return price;
  };
  const usualBilling = ({
    kind,
    upstreamId,
  }: Pick<AccountRecord, 'kind' | 'upstreamId'>): Billing =>
    defaultBilling(kind, sellers().get(upstreamId)?.profile);
  return {
    usualBilling,
    own,
    find,
    /** What an answer costs and how it is billed; undefined where no price is known. */
    priceOf({ accountId, upstreamId, modelId }: ServedBy): AnswerPrice | undefined {
      const price = find(upstreamId, modelId);
      if (price === undefined) return undefined;
      const record = book.find(accountId)?.record;
      const usual = record === undefined ? 'metered' : usualBilling(record);
      return { price, billing: record?.billing ?? usual };
    },
  };
}

/** The settings have the words of the file. */
function toOwnPrices(prices: PriceSettings): OwnPrices {
  return Object.fromEntries(
    Object.entries(prices).map(([model, { above, source, date, ...rates }]) => [
      model,
      {
        ...readSection(RATES_SCHEMA, rates),
        ...{ source, date },
        above: above?.map(({ input_tokens: inputTokens, ...step }) => ({
          ...readSection(RATES_SCHEMA, step),
          inputTokens,
        })),
      },
    ]),
  );
}

interface CallPricesOptions {
  readonly router: Pick<Router, 'route'>;
  readonly pool: Pick<Pool, 'offered'>;
  readonly book: Pick<AccountBook, 'list'>;
  readonly pricing: Pick<ReturnType<typeof createPricing>, 'find' | 'priceOf'>;
}

const NOTHING = { baseNanos: 0, tokenNanos: 0 };
/** So many, as prices are for millions. */
const MILLION = 1_000_000;

export function createCallPrices({ router, pool, book, pricing }: CallPricesOptions): CallPrices {
  /** Of all models and upstreams that a name may lead to. */
  const pricesOf = (name: string): readonly Price[] => {
    const upstreams = new Set(book.list().map(({ record }) => record.upstreamId));
    return modelsOf(router, name).flatMap(({ target, upstreamId }) =>
      (upstreamId === undefined ? [...upstreams] : [upstreamId]).flatMap((upstream) => {
        const id = pool.offered.servedAs(target, upstream);
        const price = id === undefined ? undefined : pricing.find(upstream, id);
        return price === undefined ? [] : [price];
      }),
    );
  };
  return {
    reserve(model, { inputTokens, images }) {
      let { baseNanos, tokenNanos } = NOTHING;
      for (const { rates } of pricesOf(model)) {
        const prompt = { ...NO_USAGE, promptTokens: inputTokens };
        const cost = (change: Partial<Usage>, imageCount = 0): number =>
          costOf({ usage: { ...prompt, ...change }, imageCount }, rates).nanos;
        const plain = cost({});
        const drawn = cost({}, images) - plain;
        const written = cost({ cacheWrites: { tokens: inputTokens } });
        const answer = cost({ answerTokens: MILLION }) - plain;
        const thought = cost({ thoughtTokens: MILLION }) - plain;
        baseNanos = Math.max(baseNanos, Math.max(plain, written) + drawn);
        tokenNanos = Math.max(tokenNanos, Math.max(answer, thought) / MILLION);
      }
      return { baseNanos, tokenNanos };
    },
    charge(answers) {
      const charge = chargeAnswers(answers, pricing.priceOf);
      return (charge?.costNanos ?? 0) + (charge?.flatRateNanos ?? 0);
    },
  };
}

/** A name that leads nowhere costs nothing: it is refused. */
function modelsOf(router: CallPricesOptions['router'], name: string): readonly RoutedModel[] {
  try {
    const route = router.route(name);
    return [route, ...(route.chain ?? []).flat().map(({ model }) => model)];
  } catch (error) {
    if (error instanceof GatewayError) return [];
    throw error;
  }
}

/** What a new budget has used in its period, by usage. Requests that failed do not count as requests. */
export function createUsedIn(
  store: Pick<RequestStore, 'usage'>,
): (budget: NewBudget, period: PeriodSpan) => Promise<number> {
  return async ({ scope, subject, unit }, { from, until }) => {
    const filter = scope === 'gateway' ? {} : { [scope]: subject };
    // To its end: the clock of another replica may be ahead.
    const [sum] = await store.usage([{ from, to: until }], 'none', filter);
    if (sum === undefined) return 0;
    switch (unit) {
      case 'requests':
        return sum.requests - sum.errors;
      case 'images':
        return sum.images;
      case 'tokens':
        return sum.inputTokens + sum.outputTokens;
      case 'money':
        return sum.costNanos + sum.flatRateNanos;
      default:
        return unit satisfies never;
    }
  };
}
