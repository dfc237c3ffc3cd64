// The prices in force, and how accounts are paid, as the settings are now.

import type { AccountRecord } from '../accounts/account.ts';
import type { AccountBook } from '../accounts/account-book.ts';
import type { ServedBy } from '../canonical/call-record.ts';
import type { Settings } from '../config/effective.ts';
import { type PriceSettings, RATES_SCHEMA, readSection } from '../config/settings.ts';
import { memoize } from '../lib/once.ts';
import { type AnswerPrice, type Billing, defaultBilling } from '../pricing/charges.ts';
import { createPriceBook, type OwnPrices, type Seller, sellerOf } from '../pricing/prices.ts';

interface PricingOptions {
  readonly current: () => Settings;
  readonly book: Pick<AccountBook, 'find'>;
  /** Whether the built-in sandbox is what answers for this upstream. */
  readonly isBuiltIn: (upstreamId: string) => boolean;
}

export function createPricing({ current, book, isBuiltIn }: PricingOptions) {
  const ownPrices = memoize(toOwnPrices);
  const priceBook = memoize((prices: PriceSettings) => createPriceBook(ownPrices(prices)));
  const sellers = memoize(
    (upstreams: Settings['upstreams']) =>
      new Map(upstreams.map((one) => [one.id, { profile: one.profile, seller: sellerOf(one) }])),
  );
  const sellerFor = (upstreamId: string): Seller => {
    if (isBuiltIn(upstreamId)) return { upstreamId, isLocal: true };
    return sellers(current().upstreams).get(upstreamId)?.seller ?? { upstreamId };
  };
  const usualBilling = ({
    kind,
    upstreamId,
  }: Pick<AccountRecord, 'kind' | 'upstreamId'>): Billing =>
    defaultBilling(kind, sellers(current().upstreams).get(upstreamId)?.profile);
  return {
    usualBilling,
    own: (): OwnPrices => ownPrices(current().prices),
    find: (upstreamId: string, modelId: string) =>
      priceBook(current().prices).find(sellerFor(upstreamId), modelId),
    /** What an answer costs whoever pays for the account; undefined where no price is known. */
    priceOf({ accountId, upstreamId, modelId }: ServedBy): AnswerPrice | undefined {
      const price = priceBook(current().prices).find(sellerFor(upstreamId), modelId);
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
