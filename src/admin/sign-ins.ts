// `/api/oauth`: begins sign-ins, takes their results, and says how they go.

import type { XStatic } from 'typebox/schema';
import { invalidRequest } from '../canonical/error.ts';
import { told } from '../lib/told.ts';
import { readUpstream } from './account-input.ts';
import { findStored } from './accounts.ts';
import { type ApiRoute, answerJson, answerWith, defineRoute, refuseUnknown } from './api-route.ts';
import type { AdminOptions } from './options.ts';
import { ACCOUNT_SCHEMA, LABEL } from './schemas.ts';
import type { SignInProgress, SignInTracker } from './sign-in-tracker.ts';
import { type AccountFacts, writeAccount, writeTime } from './write-account.ts';

export interface SignInOptions
  extends Omit<AccountFacts, 'upstreams'>,
    Pick<AdminOptions, 'upstreams'> {
  readonly tracker: SignInTracker;
}

export const START_SCHEMA = {
  type: 'object',
  required: ['upstream'],
  additionalProperties: false,
  properties: {
    upstream: { type: 'string', description: 'Id of an upstream with an OAuth client.' },
    redirect: {
      enum: ['loopback', 'public', 'manual'],
      default: 'loopback',
      description:
        '`loopback` comes back to this gateway on this machine, unless `redirect_url` is configured; ' +
        '`public` asks for that; with `manual` a person pastes the address or the code.',
    },
    accountId: { type: 'string', description: 'An account that signs in again.' },
    label: { ...LABEL, description: 'Names the account when the provider does not.' },
  },
} as const;

export const STARTED_SCHEMA = {
  title: 'StartedSignIn',
  type: 'object',
  required: ['state', 'authorizationUrl', 'redirectUrl', 'expiresAt'],
  additionalProperties: false,
  properties: {
    state: { type: 'string' },
    authorizationUrl: { type: 'string', description: 'The address a person opens.' },
    redirectUrl: { type: 'string' },
    expiresAt: { type: 'string', format: 'date-time' },
  },
} as const;

const COMPLETE_SCHEMA = {
  type: 'object',
  description: 'Either `url`, the whole address the browser ended on, or `code` with `state`.',
  additionalProperties: false,
  properties: {
    state: { type: 'string', minLength: 1, maxLength: 512 },
    code: { type: 'string', minLength: 1, maxLength: 4096 },
    url: { type: 'string', minLength: 1, maxLength: 16_384 },
  },
} as const;

export const SIGN_IN_SCHEMA = {
  title: 'SignIn',
  type: 'object',
  required: ['status'],
  additionalProperties: false,
  properties: {
    status: { enum: ['pending', 'done', 'failed'] },
    expiresAt: { type: 'string', format: 'date-time' },
    account: ACCOUNT_SCHEMA,
    message: { type: 'string', description: 'Why it failed.' },
  },
} as const;

const STATE_PARAMETER = 'The state the sign-in was begun with.';

export function createSignInRoutes(options: SignInOptions): readonly ApiRoute[] {
  const { book, tracker, upstreams } = options;
  return [
    defineRoute({
      method: 'POST',
      path: '/api/oauth/start',
      title: 'begins a sign-in and gives the address to open',
      body: START_SCHEMA,
      answers: { 201: { description: 'The sign-in.', schema: STARTED_SCHEMA } },
      run: async ({ body }) => {
        const upstreamId = readUpstream(body.upstream, upstreams);
        checkRedirect(body, upstreams);
        checkAccount(body, book);
        const { accountId: reauthenticate, label } = body;
        const started = await tracker.start({ upstreamId, reauthenticate, label });
        const { state, authorizationUrl, redirectUri, expiresAt } = started;
        return answerWith(201, {
          state,
          authorizationUrl,
          redirectUrl: redirectUri,
          expiresAt: writeTime(expiresAt),
        });
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/oauth/complete',
      title: 'ends a sign-in with a pasted code or address',
      body: COMPLETE_SCHEMA,
      answers: { 200: { description: 'The sign-in is done.', schema: SIGN_IN_SCHEMA } },
      run: async ({ body }) => {
        const account = await tracker.complete(readResult(body));
        return answerJson({ status: 'done', account: writeAccount(account, options) });
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/oauth/{state}',
      title: 'says how a sign-in goes',
      parameter: STATE_PARAMETER,
      answers: { 200: { description: 'The sign-in.', schema: SIGN_IN_SCHEMA } },
      run: async ({ parameter }) => {
        const view = tracker.find(parameter);
        if (view === undefined)
          return refuseUnknown(
            told`There is no sign-in of this state. It was cancelled, or it is too old. Begin a new one.`,
          );
        return answerJson(writeSignIn(view, options));
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/oauth/{state}',
      title: 'cancels a sign-in',
      parameter: STATE_PARAMETER,
      answers: { 204: { description: 'It is cancelled.' } },
      run: async ({ parameter }) => {
        if (tracker.cancel(parameter)) return { kind: 'empty' };
        return refuseUnknown(
          told`There is no waiting sign-in of this state. It was cancelled, or it is too old. Begin a new one.`,
        );
      },
    }),
  ];
}

function checkAccount(
  { accountId, upstream }: XStatic<typeof START_SCHEMA>,
  book: AdminOptions['book'],
): void {
  if (accountId === undefined) return;
  const { record } = findStored(book, accountId);
  if (record.kind !== 'oauth') {
    throw invalidRequest(
      'accountId',
      told`accountId: is an account of kind ${record.kind}, which does not sign in.`,
    );
  }
  if (record.upstreamId !== upstream) {
    throw invalidRequest(
      'accountId',
      told`accountId: belongs to the upstream ${record.upstreamId}.`,
    );
  }
}

/** What was pasted: all of it belongs to one sign-in. */
function readResult({ state, code, url }: XStatic<typeof COMPLETE_SCHEMA>) {
  const response = url ?? code;
  if (response === undefined || (url !== undefined && code !== undefined)) {
    throw invalidRequest(
      'code',
      told`Send either url, the address the browser ended on, or code with state.`,
    );
  }
  return { response, ...(state === undefined ? {} : { state }) };
}

/** @throws GatewayError when a public address is wanted and none is configured. */
function checkRedirect(
  { upstream, redirect }: XStatic<typeof START_SCHEMA>,
  upstreams: AdminOptions['upstreams'],
): void {
  if (redirect !== 'public') return;
  const choice = upstreams.list().find(({ id }) => id === upstream);
  if (choice?.oauth?.redirectUrl !== undefined) return;
  throw invalidRequest(
    'redirect',
    told`redirect: no public address is configured. Set upstreams.${upstream}.oauth.redirect_url, or use loopback or manual.`,
  );
}

function writeSignIn(view: SignInProgress, options: SignInOptions): XStatic<typeof SIGN_IN_SCHEMA> {
  switch (view.kind) {
    case 'pending':
      return { status: 'pending', expiresAt: writeTime(view.expiresAt) };
    case 'failed':
      return { status: 'failed', message: view.message };
    case 'done': {
      const account = options.book.find(view.accountId);
      if (account !== undefined) return { status: 'done', account: writeAccount(account, options) };
      return { status: 'failed', message: told`The account was removed after it had signed in.` };
    }
    default:
      return view satisfies never;
  }
}
