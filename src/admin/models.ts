// `/api/models` and `/api/route`: the model list, and where a model name is routed.

import { messageSchema } from '../lib/localized-message.ts';
import { named, object, optional } from '../lib/object-schema.ts';
import { ROUTE_STEP_KINDS, sayRouteStep } from '../routing/model-names.ts';
import { sayUnserved } from '../routing/router.ts';
import type { AdminOptions } from './options.ts';
import { type ApiRoute, answerJson, defineRoute } from './route.ts';
import { orNull } from './schemas.ts';

export const MODELS_SCHEMA = named('Models', {
  models: {
    type: 'array',
    items: object({
      id: { type: 'string' },
      target: { type: ['string', 'null'], description: 'The model the name stands for.' },
      servedAs: {
        type: ['string', 'null'],
        description:
          'The id by which the first enabled account that offers it knows it; others may have another version.',
      },
      displayName: { type: 'string' },
      description: { type: 'string' },
      inputTokenLimit: { type: 'integer' },
      outputTokenLimit: { type: 'integer' },
      supportsThinking: { type: 'boolean' },
      drawsImages: { type: 'boolean' },
      tasks: { type: 'array', items: { type: 'string' }, description: 'What it is for.' },
    }),
  },
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
  target: { type: ['string', 'null'], description: 'Null when the name goes nowhere.' },
  servedAs: {
    type: ['string', 'null'],
    description: 'The id by which an enabled account serves it now; null when none does.',
  },
  steps: {
    type: 'array',
    description: 'How it got there.',
    items: object({
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
  },
  chain: optional({
    type: 'array',
    description: 'Where the name goes to several models: the steps, in the order they are tried.',
    items: {
      type: 'array',
      items: object({
        name: { type: 'string', description: 'A model, or `upstream/model`.' },
        weight: { type: 'number' },
        servedAs: { type: ['string', 'null'], description: 'As above, for this model.' },
      }),
    },
  }),
  error: orNull(
    messageSchema(
      'Why it goes nowhere or is not served now, with the name that may have been meant.',
    ),
  ),
  thinking: { type: ['string', 'null'] },
  effort: { type: ['string', 'null'] },
  webSearch: { type: 'boolean' },
  image: {
    type: ['object', 'null'],
    additionalProperties: false,
    properties: { aspectRatio: { type: 'string' }, size: { type: 'string' } },
  },
});

export function createModelRoutes({ models, router }: AdminOptions): readonly ApiRoute[] {
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
        const { steps, route, servedAs, chain } = explanation;
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
