// `/api/upstreams`: the upstreams accounts can be added to.

import { named, object } from '../lib/object-schema.ts';
import type { AdminOptions } from './options.ts';
import { type ApiRoute, answerJson, defineRoute } from './route.ts';

export const UPSTREAMS_SCHEMA = named('Upstreams', {
  upstreams: {
    type: 'array',
    items: object({
      id: { type: 'string' },
      profile: { type: 'string' },
      canSignIn: { type: 'boolean', description: 'An OAuth client is configured for it.' },
      redirectUrl: {
        type: ['string', 'null'],
        description: 'Where sign-ins come back to; null for the loopback address.',
      },
      accounts: { type: 'integer' },
      proxy: {
        description:
          'The proxy of the gateway that calls to it go through, where the account has none of its own; null when they go direct.',
        anyOf: [
          object({
            address: { type: 'string', description: 'Without user and password.' },
            source: { type: 'string', description: 'Where it is set, such as `HTTPS_PROXY`.' },
          }),
          { type: 'null' },
        ],
      },
    }),
  },
});

export function createUpstreamRoutes({ book, upstreams }: AdminOptions): readonly ApiRoute[] {
  return [
    defineRoute({
      at: 'GET /api/upstreams',
      access: 'viewer',
      title: 'lists the upstreams accounts can be added to',
      answers: { 200: { description: 'All upstreams.', schema: UPSTREAMS_SCHEMA } },
      run: async () =>
        answerJson({
          upstreams: upstreams.list().map(({ id, profile, oauth }) => ({
            id,
            profile,
            canSignIn: oauth !== undefined && oauth.clientId !== '',
            redirectUrl: oauth?.redirectUrl ?? null,
            accounts: book.list().filter(({ record }) => record.upstreamId === id).length,
            proxy: upstreams.proxyOf(id) ?? null,
          })),
        }),
    }),
  ];
}
