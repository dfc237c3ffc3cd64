// `/api/accounts/{id}/…`: actions on one account.

import type { Account } from '../accounts/account.ts';
import type { HealthEvent } from '../accounts/health.ts';
import { GatewayError } from '../canonical/error.ts';
import { told } from '../lib/localized-message.ts';
import { partial } from '../lib/object-schema.ts';
import { writeAccount } from './account-view.ts';
import { ACCOUNT_PARAMETER, findAccount } from './accounts.ts';
import type { AdminOptions } from './options.ts';
import { type ApiRoute, answerJson, defineRoute } from './route.ts';
import { ACCOUNT_SCHEMA } from './schemas.ts';
import { TEST_SCHEMA, TRY_SCHEMA, testAccount } from './try-account.ts';

const ONE_ACCOUNT = {
  200: { description: 'The account as it is now.', schema: ACCOUNT_SCHEMA, hasRevision: true },
} as const;

const DISABLE_SCHEMA = partial({
  detail: { type: 'string', maxLength: 200, description: 'Why, for other people.' },
});

const CLEAR_SCHEMA = partial({
  model: { type: 'string', maxLength: 256, description: 'Only this model; all when absent.' },
});

export function createActionRoutes(options: AdminOptions): readonly ApiRoute[] {
  const { book, pool } = options;
  const answerOne = (id: string) => {
    const account = findAccount(book, id);
    return answerJson(writeAccount(account, options), account.record.revision);
  };
  const apply = async (id: string, event: HealthEvent) => {
    findAccount(book, id);
    book.apply(id, event);
    // What is acknowledged is durable.
    await book.flush();
    return answerOne(id);
  };
  const shared = {
    parameter: ACCOUNT_PARAMETER,
    answers: ONE_ACCOUNT,
  } as const;
  return [
    defineRoute({
      ...shared,
      at: 'POST /api/accounts/{id}/enable',
      title: 'lets an account serve again, whatever kept it from it',
      run: async ({ parameter }) => apply(parameter, { kind: 'enable' }),
    }),
    defineRoute({
      ...shared,
      at: 'POST /api/accounts/{id}/disable',
      title: 'takes an account out until somebody enables it',
      body: DISABLE_SCHEMA,
      run: async ({ parameter, body }) => apply(parameter, { kind: 'disable', ...body }),
    }),
    defineRoute({
      ...shared,
      at: 'POST /api/accounts/{id}/clear-cooldowns',
      title: 'ends the cooldowns of an account',
      body: CLEAR_SCHEMA,
      run: async ({ parameter, body }) => {
        const account = findAccount(book, parameter);
        book.setQuotas(parameter, learnedFigures(account, body.model));
        pool.rests.end(account.record.upstreamId, body.model);
        return apply(parameter, { kind: 'clear-cooldown', ...body });
      },
    }),
    defineRoute({
      ...shared,
      at: 'POST /api/accounts/{id}/refresh',
      title: 'renews the token and the quota figures of an account now',
      run: async ({ parameter, signal }) => {
        await refreshAccount(findAccount(book, parameter), options, signal);
        return answerOne(parameter);
      },
    }),
    defineRoute({
      ...shared,
      at: 'POST /api/accounts/{id}/test',
      title:
        'tries credential, model list and quota of an account, and an answer where its cost is agreed to',
      body: TRY_SCHEMA,
      answers: { 200: { description: 'What worked and what did not.', schema: TEST_SCHEMA } },
      run: async ({ parameter, body, signal }) => {
        const { generate = false } = body;
        const { isUsable, steps } = await testAccount(
          findAccount(book, parameter),
          { ...options, generate },
          signal,
        );
        return answerJson({ isUsable, steps: steps.map(({ failure: _, ...step }) => step) });
      },
    }),
  ];
}

/**
 * The figures that refusals alone have taught, to be forgotten with their cooldowns: each would keep
 * the model out as long as the cooldown did.
 */
function learnedFigures(
  { health, quotas }: Account,
  model: string | undefined,
): ReadonlyMap<string, undefined> {
  const learned = [...quotas].filter(
    ([id, { source, remainingFraction }]) =>
      (model === undefined || id === model) &&
      source === 'estimated' &&
      remainingFraction === 0 &&
      health.models.get(id)?.cause === 'quota',
  );
  return new Map(learned.map(([id]) => [id, undefined]));
}

async function refreshAccount(
  account: Account,
  { tokens, quota }: AdminOptions,
  signal: AbortSignal,
): Promise<void> {
  if (account.record.kind !== 'api-key') await tokens.accessFor(account, { refresh: true, signal });
  const outcome = await quota.refreshNow(account.record.id);
  if (outcome.kind !== 'failed') return;
  throw new GatewayError({
    kind: 'upstream-unavailable',
    source: 'upstream',
    message: told`The quota figures could not be read: ${outcome.message}`,
  });
}
