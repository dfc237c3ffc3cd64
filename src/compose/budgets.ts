// What budgets ask of the rest of the gateway: what a call may cost and did cost, and what was used before there was one.

import type { NewBudget } from '../access/budgets.ts';
import type { AccountBook } from '../accounts/account-book.ts';
import { GatewayError } from '../canonical/error.ts';
import { NO_USAGE, type Usage } from '../canonical/usage.ts';
import type { Clock } from '../lib/clock.ts';
import type { RequestStore } from '../monitor/request-store.ts';
import type { Pool } from '../pool/create-pool.ts';
import { chargeAnswers } from '../pricing/charges.ts';
import { costOf } from '../pricing/cost.ts';
import type { Price } from '../pricing/prices.ts';
import type { RoutedModel, Router } from '../routing/router.ts';
import type { CallPrices } from '../server/edge.ts';
import type { createPricing } from './pricing.ts';

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

/**
 * What usage says was used of a budget that is made within its period. Requests that were refused or failed are none of its requests;
 * money counts as budgets count it.
 */
export function createUsedSince(
  store: Pick<RequestStore, 'usage'>,
  clock: Pick<Clock, 'now'>,
): (budget: NewBudget, from: number) => Promise<number> {
  return async ({ scope, subject, unit }, from) => {
    const filter = scope === 'gateway' ? {} : { [scope]: subject };
    const [sum] = await store.usage([{ from, to: clock.now() + 1 }], 'none', filter);
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
