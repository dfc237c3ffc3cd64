// `GET /api/prices`: the prices in force, where each comes from and of which day it is.

import { named, optional, partial, TEXT } from '../lib/object-schema.ts';
import { CHARGE_KINDS } from '../pricing/cost.ts';
import {
  CURRENCY,
  LISTED_PRICES,
  PRICE_BASES,
  PROVIDERS,
  type Price,
  TABLE_SOURCE,
} from '../pricing/prices.ts';
import type { AdminOptions } from './options.ts';
import { type ApiRoute, answerJson, defineRoute } from './route.ts';

const RATE = { type: 'number', minimum: 0 } as const;
const RATES = Object.fromEntries(CHARGE_KINDS.map((kind) => [kind, RATE]));

const PRICE = named('Price', {
  basis: { enum: PRICE_BASES },
  models: {
    type: 'array',
    items: TEXT,
    description: 'Models, `upstream/model` or patterns it is for.',
  },
  provider: optional({ enum: PROVIDERS }),
  source: optional(TEXT),
  date: optional(TEXT),
  rates: {
    ...partial(RATES),
    additionalProperties: true,
    description:
      'US dollars per million tokens, `image` per picture; `above`: the rates of long prompts.',
  },
});

export const PRICES_SCHEMA = named('Prices', {
  currency: TEXT,
  tableSource: { ...TEXT, description: 'Where the facts of the public prices were taken from.' },
  prices: { type: 'array', items: PRICE, description: 'Own prices first, which win.' },
  found: optional(PRICE),
});

const QUERY = partial({
  upstream: { type: 'string', minLength: 1, maxLength: 256, description: 'Id of an upstream.' },
  model: { type: 'string', minLength: 1, maxLength: 256, description: 'Its id of a model.' },
});

export function createPriceRoute({ prices }: Pick<AdminOptions, 'prices'>): ApiRoute {
  return defineRoute({
    at: 'GET /api/prices',
    access: 'viewer',
    title: 'lists the prices of models, and shows that of one',
    query: QUERY,
    answers: { 200: { description: 'Own and public prices.', schema: PRICES_SCHEMA } },
    async run({ query: { upstream = '', model } }) {
      const own = Object.entries(prices.own()).map(([name, { source, date, ...rates }]) =>
        writePrice({ rates, basis: 'own', model: name, source, date }, [name]),
      );
      const listed = LISTED_PRICES.map((price) => writePrice(price, price.models));
      const found = model === undefined ? undefined : prices.find(upstream, model);
      return answerJson({
        currency: CURRENCY,
        tableSource: TABLE_SOURCE,
        prices: [...own, ...listed],
        found: found && writePrice(found, [found.model]),
      });
    },
  });
}

function writePrice({ rates, basis, provider, source, date }: Price, models: readonly string[]) {
  return { basis, models, provider, source, date, rates };
}
