// `/api/models`, `/api/route`, `/api/prices`: the model list, where a name is routed, and what models cost.

import type { ProviderRule } from '../dispatch/dispatcher.ts';
import { messageSchema } from '../lib/localized-message.ts';
import { list, named, object, optional, partial, TEXT } from '../lib/object-schema.ts';
import { CHARGE_KINDS } from '../pricing/cost.ts';
import {
  CURRENCY,
  LISTED_PRICES,
  PRICE_BASES,
  PROVIDERS,
  type Price,
  TABLE_SOURCE,
} from '../pricing/prices.ts';
import { ROUTE_STEP_KINDS, type RouteStep, sayRouteStep } from '../routing/model-names.ts';
import { sayUnserved } from '../routing/router.ts';
import type { AdminOptions } from './options.ts';
import { type ApiRoute, answerJson, defineRoute } from './route.ts';
import { orNull } from './schemas.ts';

const TOLD_LIMIT = optional({ type: 'integer', description: 'Left out where nobody tells it.' });

export const MODELS_SCHEMA = named('Models', {
  models: list(
    object({
      id: { type: 'string' },
      target: { type: ['string', 'null'], description: 'The model the name stands for.' },
      servedAs: {
        type: ['string', 'null'],
        description:
          'The id by which the first enabled account that offers it knows it; others may have another version.',
      },
      displayName: { type: 'string' },
      description: { type: 'string' },
      inputTokenLimit: TOLD_LIMIT,
      outputTokenLimit: TOLD_LIMIT,
      supportsThinking: { type: 'boolean' },
      drawsImages: { type: 'boolean' },
      tasks: list({ type: 'string' }, 'What it is for.'),
    }),
  ),
});

const ROUTE_QUERY = object({
  model: {
    type: 'string',
    minLength: 1,
    maxLength: 1024,
    description: 'A name as a client would send it, or `@name` of `proxy.targets`.',
  },
});

export const ROUTE_SCHEMA = named('Route', {
  asked: { type: 'string' },
  target: { type: ['string', 'null'], description: 'Null when the name is unknown.' },
  servedAs: {
    type: ['string', 'null'],
    description: 'The id by which an enabled account serves it now; null when none does.',
  },
  steps: list(
    object({
      kind: { enum: ROUTE_STEP_KINDS },
      name: {
        type: 'string',
        description: 'What was looked up; of a mapping the name or pattern of the entry.',
      },
      target: { type: 'string' },
      detail: optional({
        type: 'string',
        description: 'Of an alias its pattern, of a variant what else is asked for.',
      }),
      text: { type: 'string', description: 'The step in words.' },
    }),
    'How it got there.',
  ),
  chain: optional(
    list(
      list(
        object({
          name: { type: 'string', description: 'A model, or `upstream/model`.' },
          weight: { type: 'number' },
          servedAs: { type: ['string', 'null'], description: 'As above, for this model.' },
        }),
      ),
      'Where the name goes to several models: the steps, in the order they are tried.',
    ),
  ),
  error: orNull(messageSchema('Why it is unknown or not served now, with a similar name that is.')),
  thinking: { type: ['string', 'null'] },
  effort: { type: ['string', 'null'] },
  webSearch: { type: 'boolean' },
  image: {
    type: ['object', 'null'],
    additionalProperties: false,
    properties: { aspectRatio: { type: 'string' }, size: { type: 'string' } },
  },
});

export function createModelRoutes({ models, router, provider }: AdminOptions): readonly ApiRoute[] {
  return [
    defineRoute({
      at: 'GET /api/models',
      access: 'viewer',
      title: 'lists the models with their limits',
      answers: { 200: { description: 'All names a client may use.', schema: MODELS_SCHEMA } },
      run: async () => {
        const listed = await models.list();
        const written = listed.map(({ createdAt: _, id, ...model }) => {
          const { route, servedAs } = router.explain(id);
          return { id, target: route?.target ?? null, servedAs: servedAs ?? null, ...model };
        });
        return answerJson({ models: written });
      },
    }),
    defineRoute({
      at: 'GET /api/route',
      access: 'viewer',
      title: 'explains where a model name goes',
      query: ROUTE_QUERY,
      answers: { 200: { description: 'The way of the name.', schema: ROUTE_SCHEMA } },
      run: async ({ query }) => {
        // Without the accounts' own lists a name may seem unknown.
        await models.list();
        const explanation = query.model.startsWith('@')
          ? router.explainTarget(query.model)
          : router.explain(query.model);
        const { route, servedAs, chain } = explanation;
        const steps = [...explanation.steps, ...externalSteps(query.model, provider())];
        return answerJson({
          asked: query.model,
          target: route?.target ?? null,
          servedAs: servedAs ?? null,
          steps: steps.map((step) => ({ ...step, text: sayRouteStep(step) })),
          chain: chain?.map((step) =>
            step.map((model) => ({ ...model, servedAs: model.servedAs ?? null })),
          ),
          error: sayUnserved(query.model, explanation, router) ?? null,
          thinking: route?.thinking ?? null,
          effort: route?.effort ?? null,
          webSearch: route?.webSearch ?? false,
          image: route?.image ?? null,
        });
      },
    }),
  ];
}

/** What Messages clients get beside the accounts, or in their place. */
function externalSteps(name: string, provider: ProviderRule): readonly RouteStep[] {
  if (provider === undefined || provider.mode === 'off' || name.startsWith('@')) return [];
  return [{ kind: `external-${provider.mode}`, name, target: provider.modelFor(name) }];
}

const RATE = { type: 'number', minimum: 0 } as const;
const RATES = Object.fromEntries(CHARGE_KINDS.map((kind) => [kind, RATE]));

const PRICE = named('Price', {
  basis: { enum: PRICE_BASES },
  models: list(TEXT, 'Models, `upstream/model` or patterns it is for.'),
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
  prices: list(PRICE, 'Own prices first, which win.'),
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
    title: 'lists the prices of models, or shows the price of one',
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
