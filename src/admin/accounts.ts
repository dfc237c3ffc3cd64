// `/api/accounts`: the accounts, their order and actions on one; `/api/upstreams`, which they belong to.

import { type Account, TIERS } from '../accounts/account.ts';
import type { HealthEvent } from '../accounts/health.ts';
import { clientError, gatewayError, invalidRequest, upstreamError } from '../canonical/error.ts';
import { mapInSteps } from '../lib/chunked-json.ts';
import { MESSAGE_SCHEMA, told } from '../lib/localized-message.ts';
import { list, named, object, optional, partial } from '../lib/object-schema.ts';
import { BILLINGS } from '../pricing/charges.ts';
import { requireReauthentication } from './access/session.ts';
import {
  addAccount,
  NEW_ACCOUNT_SCHEMA,
  readAccountProxy,
  readUpstreamKey,
  tryKey,
} from './account-input.ts';
import { inOrder, writeAccount } from './account-view.ts';
import type { AccountFacts, AdminOptions } from './options.ts';
import {
  type ApiRoute,
  answerJson,
  answerWith,
  defineRoute,
  readNumber,
  refuseUnknown,
} from './route.ts';
import {
  ACCOUNT_LIST_SCHEMA,
  ACCOUNT_SCHEMA,
  ADD_ANYWAY,
  ERROR_SCHEMA,
  LABEL,
  NOTES,
  orNull,
  PRIORITY,
  PROJECT,
  PROXY_URL,
  SECRET,
} from './schemas.ts';
import { TEST_SCHEMA, TRY_SCHEMA, testAccount } from './try-account.ts';

export const CHANGE_SCHEMA = partial(
  {
    label: LABEL,
    tier: { enum: [...TIERS, null] },
    billing: { enum: [...BILLINGS, null] },
    project: orNull(PROJECT),
    priority: PRIORITY,
    notes: orNull(NOTES),
    proxyUrl: orNull(PROXY_URL),
    key: { ...SECRET, description: 'A new key, of the kind `api-key`.' },
    addAnyway: ADD_ANYWAY,
  },
  { title: 'AccountChange', description: 'What is absent stays; null clears.', minProperties: 1 },
);

const REMOVE_QUERY = partial({
  revoke: {
    enum: ['true', 'false'],
    default: 'false',
    description:
      'Also revokes access at the provider, for other apps that use the same sign-in too.',
  },
});

export const REVOCATION_SCHEMA = named('Revocation', {
  revocation: { enum: ['revoked', 'not-possible', 'failed'] },
  reason: optional(MESSAGE_SCHEMA),
});

const ONE_ACCOUNT = {
  200: { description: 'The account.', schema: ACCOUNT_SCHEMA, hasRevision: true },
} as const;

const TAKEN = {
  409: { description: 'Another account has that label.', schema: ERROR_SCHEMA },
} as const;

const ACCOUNT_PARAMETER = 'Id of the account; slashes in it are sent as they are.';

export function createAccountRoutes(options: AdminOptions): readonly ApiRoute[] {
  const { book } = options;
  const answerOne = (account: Account, status = 200) =>
    answerWith(status, writeAccount(account, options), account.record.revision);
  return [
    defineRoute({
      at: 'GET /api/accounts',
      access: 'viewer',
      title: 'lists the accounts, in their order of preference',
      answers: { 200: { description: 'All accounts.', schema: ACCOUNT_LIST_SCHEMA } },
      run: async () => answerJson(await listAccounts(options)),
    }),
    defineRoute({
      at: 'POST /api/accounts',
      access: 'operator',
      title: 'adds an account by key, refresh token or service account',
      body: NEW_ACCOUNT_SCHEMA,
      answers: {
        201: { ...ONE_ACCOUNT[200], description: 'The new account.' },
        200: { ...ONE_ACCOUNT[200], description: 'It was there; it has the credential now.' },
        ...TAKEN,
      },
      run: async ({ body, signal }) => {
        const { account, isNew } = await addAccount(body, options, signal);
        return answerOne(account, isNew ? 201 : 200);
      },
    }),
    defineRoute({
      at: 'GET /api/accounts/{id}',
      access: 'viewer',
      title: 'shows one account',
      parameter: ACCOUNT_PARAMETER,
      answers: ONE_ACCOUNT,
      run: async ({ parameter }) => answerOne(await findAccount(book, parameter)),
    }),
    defineRoute({
      at: 'PATCH /api/accounts/{id}',
      access: 'operator',
      title: 'changes an account',
      parameter: ACCOUNT_PARAMETER,
      body: CHANGE_SCHEMA,
      takesRevision: true,
      asksAgain: true,
      answers: { ...ONE_ACCOUNT, ...TAKEN },
      run: async ({ parameter, body, revision, caller, signal }) => {
        const { key: given, addAnyway, project: projectId, proxyUrl: proxy, ...rest } = body;
        const { record } = await findStored(book, parameter);
        if (given !== undefined && record.kind !== 'api-key') {
          throw invalidRequest(
            'key',
            told`key: does not belong to an account of kind ${record.kind}.`,
          );
        }
        const key = given === undefined ? undefined : readUpstreamKey(given, options);
        const expected = readNumber(
          revision,
          told`If-Match: send the revision of the account, such as "3".`,
        );
        const proxyUrl = proxy === null ? null : readAccountProxy(proxy);
        // A proxy reads what goes to an upstream without TLS, credentials included.
        if (proxyUrl != null && proxyUrl !== book.proxyUrl(parameter)) {
          await requireReauthentication(options.access, caller);
        }
        const upstream = record.upstreamId;
        const known = { upstream, projectId: record.projectId, proxyUrl: book.proxyUrl(parameter) };
        const tried =
          key === undefined
            ? undefined
            : await tryKey({ ...known, key, addAnyway }, options, signal);
        const changed = await book.change(parameter, { ...rest, projectId, proxyUrl }, expected);
        if (key === undefined) return answerOne(changed);
        await replaceKey(book, parameter, key);
        if (tried?.trial !== undefined) options.trials.note(parameter, tried.trial);
        if (tried?.models !== undefined) book.setModels(parameter, tried.models);
        return answerOne(await findAccount(book, parameter));
      },
    }),
    defineRoute({
      at: 'DELETE /api/accounts/{id}',
      access: 'operator',
      title: 'removes an account and its credential',
      parameter: ACCOUNT_PARAMETER,
      query: REMOVE_QUERY,
      answers: {
        200: {
          description: 'It was removed; whether access was revoked at the provider.',
          schema: REVOCATION_SCHEMA,
        },
        204: { description: 'It is gone.' },
      },
      run: async ({ parameter, query }) => {
        await findStored(book, parameter);
        if (query.revoke === 'true') {
          const { kind, ...rest } = await options.revoker.removeAndRevoke(parameter);
          return answerJson({ revocation: kind, ...rest });
        }
        await book.remove(parameter);
        return { kind: 'empty' };
      },
    }),
  ];
}

async function listAccounts(options: AccountFacts) {
  const accounts = inOrder(options.book.list());
  return { accounts: await mapInSteps(accounts, (account) => writeAccount(account, options)) };
}

/** @throws GatewayError not-found */
export async function findAccount(book: AdminOptions['book'], id: string): Promise<Account> {
  return (
    (await book.lookUp(id)) ??
    refuseUnknown(told`There is no account of this id. GET /api/accounts lists them.`)
  );
}

/** @throws GatewayError not-found, or forbidden for accounts that come with the process. */
export async function findStored(book: AdminOptions['book'], id: string): Promise<Account> {
  const account = await findAccount(book, id);
  if (account.origin === 'stored') return account;
  const source = SOURCES[account.origin];
  throw clientError(
    'forbidden',
    told`The account ${account.record.label} ${source}. It can be disabled until the next start.`,
  );
}

const SOURCES = {
  environment: told`comes from the environment: change UPSTREAM_API_KEYS or GEMINI_API_KEY where the gateway is started`,
  settings: told`is the external provider of the settings: change proxy.extprov`,
  sandbox: told`belongs to the sandbox, which exists only while there is no other account`,
} as const;

/** A new key ends whatever was held against the old one. */
async function replaceKey(book: AdminOptions['book'], id: string, key: string): Promise<void> {
  const known = await book.readCredential(id);
  const replaced =
    known && (await book.replaceCredential(id, { kind: 'api-key', key }, known.version));
  if (replaced === undefined || replaced === 'missing') {
    refuseUnknown(told`There is no account of this id. It was removed meanwhile.`);
  }
  if (replaced === 'stale') {
    throw gatewayError(
      'overloaded',
      told`Somebody else replaced the key at the same moment. Try again.`,
    );
  }
  book.apply(id, { kind: 'reauthenticated' });
  await book.flush();
}

const ORDER_SCHEMA = object({
  order: {
    type: 'array',
    minItems: 1,
    maxItems: 100_000,
    items: { type: 'string', maxLength: 512 },
    description: 'Ids, the most preferred first; accounts not named follow in their order.',
  },
});

export const ORDERED_SCHEMA = named('OrderedAccounts', {
  accounts: list(ACCOUNT_SCHEMA),
  fixed: list(
    { type: 'string' },
    'Named accounts whose place cannot be changed: they come with the process.',
  ),
});

export function createOrderRoute(options: AccountFacts): ApiRoute {
  const { book } = options;
  return defineRoute({
    at: 'POST /api/accounts/order',
    access: 'operator',
    shows: '/api/accounts',
    title: 'sets the order of the accounts',
    body: ORDER_SCHEMA,
    answers: { 200: { description: 'All accounts in their order.', schema: ORDERED_SCHEMA } },
    run: async ({ body }) => {
      const fixed = await orderAccounts(book, body.order);
      return answerJson({ ...(await listAccounts(options)), fixed });
    },
  });
}

/** Sets the priority of stored accounts by their places; others stay at 0. @throws GatewayError; StoreError */
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
  await book.order(stored.map(({ record }) => record.id));
  return named.filter(({ origin }) => origin !== 'stored').map(({ record }) => record.id);
}

const DISABLE_SCHEMA = partial({
  detail: { type: 'string', maxLength: 200, description: 'Why, for other people.' },
});

const CLEAR_SCHEMA = partial({
  model: { type: 'string', maxLength: 256, description: 'Only this model; all when absent.' },
});

export function createActionRoutes(options: AdminOptions): readonly ApiRoute[] {
  const { book, pool } = options;
  const answerOne = async (id: string) => {
    const account = await findAccount(book, id);
    return answerJson(writeAccount(account, options), account.record.revision);
  };
  const apply = async (id: string, event: HealthEvent) => {
    await findAccount(book, id);
    book.apply(id, event);
    // What is acknowledged is durable.
    await book.flush();
    return answerOne(id);
  };
  const shared = {
    parameter: ACCOUNT_PARAMETER,
    answers: { 200: { ...ONE_ACCOUNT[200], description: 'The account as it is now.' } },
  } as const;
  return [
    defineRoute({
      ...shared,
      at: 'POST /api/accounts/{id}/enable',
      access: 'operator',
      shows: '/api/accounts/{id}',
      title: 'enables an account',
      run: async ({ parameter }) => apply(parameter, { kind: 'enable' }),
    }),
    defineRoute({
      ...shared,
      at: 'POST /api/accounts/{id}/disable',
      access: 'operator',
      shows: '/api/accounts/{id}',
      title: 'disables an account until it is enabled again',
      body: DISABLE_SCHEMA,
      run: async ({ parameter, body }) => apply(parameter, { kind: 'disable', ...body }),
    }),
    defineRoute({
      ...shared,
      at: 'POST /api/accounts/{id}/clear-cooldowns',
      access: 'operator',
      shows: '/api/accounts/{id}',
      title: 'clears the cooldowns of an account',
      body: CLEAR_SCHEMA,
      run: async ({ parameter, body }) => {
        const account = await findAccount(book, parameter);
        book.setQuotas(parameter, learnedFigures(account, body.model));
        pool.overloads.end(account.record.upstreamId, body.model);
        return apply(parameter, { kind: 'clear-cooldown', ...body });
      },
    }),
    defineRoute({
      ...shared,
      at: 'POST /api/accounts/{id}/refresh',
      access: 'operator',
      shows: '/api/accounts/{id}',
      title: 'refreshes the token and the quota of an account now',
      run: async ({ parameter, signal }) => {
        await refreshAccount(await findAccount(book, parameter), options, signal);
        return answerOne(parameter);
      },
    }),
    defineRoute({
      ...shared,
      at: 'POST /api/accounts/{id}/test',
      access: 'operator',
      shows: '/api/accounts/{id}',
      title:
        'tests credential, model list and quota of an account, and on request a one-token response',
      body: TRY_SCHEMA,
      answers: { 200: { description: 'What worked and what did not.', schema: TEST_SCHEMA } },
      run: async ({ parameter, body, signal }) => {
        const { generate = false } = body;
        const { isUsable, steps } = await testAccount(
          await findAccount(book, parameter),
          { ...options, generate },
          signal,
        );
        return answerJson({ isUsable, steps: steps.map(({ failure: _, ...step }) => step) });
      },
    }),
  ];
}

/** Figures learned from refusals alone go with their cooldowns: each would keep the model out just as long. */
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
  throw upstreamError(
    'upstream-unavailable',
    told`The quota figures could not be read: ${outcome.message}`,
  );
}

export const UPSTREAMS_SCHEMA = named('Upstreams', {
  upstreams: list(
    object({
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
  ),
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
