// `/api/accounts/order`: the order a person gives the accounts becomes their priorities.

import { invalidRequest } from '../canonical/error.ts';
import { told } from '../lib/told.ts';
import { listAccounts } from './accounts.ts';
import { type ApiRoute, answerJson, defineRoute } from './api-route.ts';
import type { AdminOptions } from './options.ts';
import { ACCOUNT_SCHEMA } from './schemas.ts';
import { type AccountFacts, inOrder } from './write-account.ts';

const ORDER_SCHEMA = {
  type: 'object',
  required: ['order'],
  additionalProperties: false,
  properties: {
    order: {
      type: 'array',
      minItems: 1,
      maxItems: 100_000,
      items: { type: 'string', maxLength: 512 },
      description: 'Ids, the most preferred first; accounts not named follow in their order.',
    },
  },
} as const;

export const ORDERED_SCHEMA = {
  title: 'OrderedAccounts',
  type: 'object',
  required: ['accounts', 'fixed'],
  additionalProperties: false,
  properties: {
    accounts: { type: 'array', items: ACCOUNT_SCHEMA },
    fixed: {
      type: 'array',
      items: { type: 'string' },
      description: 'Named accounts whose place cannot be changed: they come with the process.',
    },
  },
} as const;

export function createOrderRoute(options: AccountFacts): ApiRoute {
  const { book } = options;
  return defineRoute({
    method: 'POST',
    path: '/api/accounts/order',
    title: 'puts the accounts in order, by giving them priorities',
    body: ORDER_SCHEMA,
    answers: { 200: { description: 'All accounts in their order.', schema: ORDERED_SCHEMA } },
    run: async ({ body }) => {
      const fixed = await orderAccounts(book, body.order);
      return answerJson({ ...listAccounts(options), fixed });
    },
  });
}

/**
 * Gives every stored account the priority of its place. Priorities of the environment's and the
 * sandbox's accounts stay 0, so that they come after all others.
 * @throws GatewayError for ids that are unknown or came twice; StoreError
 */
async function orderAccounts(
  book: AdminOptions['book'],
  order: readonly string[],
): Promise<readonly string[]> {
  const ids = new Set(order);
  if (ids.size < order.length) {
    throw invalidRequest('order', told`order: an id came more than once.`);
  }
  const named = order.map((id, index) => {
    const account = book.find(id);
    if (account !== undefined) return account;
    throw invalidRequest(`order[${index}]`, told`order[${index}]: there is no account of this id.`);
  });
  const others = inOrder(book.list()).filter(({ record }) => !ids.has(record.id));
  const stored = [...named, ...others].filter(({ origin }) => origin === 'stored');
  for (const [index, { record }] of stored.entries()) {
    const priority = stored.length - index;
    if (record.priority !== priority) await book.change(record.id, { priority });
  }
  return named.filter(({ origin }) => origin !== 'stored').map(({ record }) => record.id);
}
