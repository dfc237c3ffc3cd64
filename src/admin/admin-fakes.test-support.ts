// Fakes of everything behind the admin API.

import { openSealedValues } from '../../test/support/sealed-values.ts';
import type { AccountBook } from '../accounts/account-book.ts';
import { AccountTrials } from '../accounts/health.ts';
import { GatewayError, invalidRequest } from '../canonical/error.ts';
import { checkConfig } from '../config/check-config.ts';
import { resolveSettings } from '../config/effective.ts';
import { readEnvironment } from '../config/env.ts';
import { mergePatch } from '../config/file.ts';
import type { SettingOverride, VariableOrigin } from '../config/origins.ts';
import { ConfigError } from '../config/values.ts';
import type { JsonObject } from '../lib/json.ts';
import { asSentence } from '../lib/localized-message.ts';
import type { AccountTransfer, ImportResult } from '../oauth/imports.ts';
import { Overloads } from '../pool/overload.ts';
import type { SessionTable } from '../pool/sessions.ts';
import type { SuccessShares } from '../pool/success-shares.ts';
import { createProtocols } from '../protocols/index.ts';
import { createRouter } from '../routing/router.ts';
import type { AdminOptions, SignInProgress } from './options.ts';

export const NOW = 1_700_000_000_000;

/** What must never stand in an answer. */
export const SECRETS = {
  key: 'sk-canary-key-0123456789',
  refreshToken: 'canary-refresh-token-0123456789',
  proxy: 'http://proxy-user:canary-proxy-password@proxy.example:3128',
} as const;

export interface Fakes {
  readonly refreshed: string[];
  readonly revoked: string[];
  readonly sessions: ReturnType<SessionTable['sessions']>[number][];
  readonly overloads: Overloads;
  /** States that can still be completed. */
  readonly states: Set<string>;
  /** What came to the imports. */
  readonly imported: object[];
  readonly warnings: object[];
  config: JsonObject;
  overrides: readonly SettingOverride[];
  variables: readonly VariableOrigin[];
  /** Thrown when the config file is written. */
  writeFault: Error | undefined;
  /** Ids of accounts whose credential fails. */
  readonly broken: Set<string>;
  /** Keys that the upstream does not take. */
  readonly refusedKeys: Set<string>;
  /** The models that the upstream lists. */
  listed: readonly string[];
  /** How the last requests went, of every account. */
  condition: ReturnType<SuccessShares['conditionOf']>;
  provider: ReturnType<AdminOptions['provider']>;
}

export function createFakes(): Fakes {
  return {
    refreshed: [],
    revoked: [],
    sessions: [],
    overloads: new Overloads({ now: () => NOW }),
    states: new Set(),
    imported: [],
    warnings: [],
    config: {},
    overrides: [],
    variables: [],
    writeFault: undefined,
    broken: new Set(),
    refusedKeys: new Set(),
    listed: ['alpha-3-flash'],
    provider: undefined,
    condition: {
      attempts: 0,
      share: undefined,
      lastSuccessAt: undefined,
      lastFailure: undefined,
    },
  };
}

interface Parts {
  readonly book: AccountBook;
  readonly clock: AdminOptions['clock'];
  readonly fakes: Fakes;
}

/** What stands behind the API, but for who is let in: each fake does what `Fakes` says, and notes there what it was asked. */
export function createFakeOptions({ book, clock, fakes }: Parts): Omit<AdminOptions, 'access'> {
  const router = createRouter({
    mapping: () => ({}),
    targets: () => targetsIn(fakes.config),
    offered: Object.assign(new Set<string>(), {
      isComplete: true,
      servedAs: (name: string) => name,
    }),
  });
  return {
    version: '9.9.9',
    clock,
    revisionKey: 'test',
    book,
    upstreams: {
      proxyOf: () => undefined,
      list: () => [{ id: 'main', profile: 'generic', oauth: { clientId: 'id' } }],
      get: (id) =>
        id === 'main'
          ? {
              listModels: async ({ credential }) => {
                if (fakes.refusedKeys.has(credential)) throw keyRefused();
                return fakes.listed.map((id) => ({ id }));
              },
              answerOnce: async (_access, { models }) => models[0]?.id,
            }
          : undefined,
    },
    tokens: {
      accessFor: async ({ record: { id } }) => {
        if (fakes.broken.has(id)) throw upstreamAuth();
        return { accountId: id, credential: SECRETS.key, credentialKind: 'api-key' };
      },
    },
    quota: {
      refreshNow: async (id) => {
        fakes.refreshed.push(id);
        return { kind: 'read', models: 1 };
      },
    },
    isProtected: (_account, { modelId }) => modelId === 'guarded',
    ownKeys: () => [],
    trials: new AccountTrials(),
    usualBilling: () => 'metered',
    prices: { own: () => ({}), find: () => undefined },
    signIns: createFakeSignIns(book, fakes),
    signInProgress: openSealedValues<SignInProgress>({ clock }),
    callbackUrl: () => 'http://127.0.0.1:8045/oauth/callback',
    transfer: createFakeTransfer(book, fakes),
    revoker: {
      removeAndRevoke: async (id) => {
        await book.remove(id);
        fakes.revoked.push(id);
        return { kind: 'revoked' };
      },
    },
    pool: {
      lastUsedAt: () => undefined,
      conditionOf: () => fakes.condition,
      nameOf: () => undefined,
      unservedModels: () => [],
      overloads: fakes.overloads,
      sessions: {
        sessions: () => fakes.sessions,
        bound: () => fakes.sessions[0],
        forget: (id) => removeFrom(fakes.sessions, (session) => session.id === id),
        forgetAll: () => fakes.sessions.splice(0).length,
      },
    },
    config: createFakeConfig(fakes),
    origins: { overrides: () => fakes.overrides, variables: () => fakes.variables },
    router,
    provider: () => fakes.provider,
    models: {
      list: async () => [
        {
          id: 'alpha-3-flash',
          displayName: 'Flash',
          description: '',
          createdAt: 0,
          inputTokenLimit: 1,
          outputTokenLimit: 1,
          supportsThinking: true,
          drawsImages: false,
          tasks: ['generate'],
        },
      ],
    },
    protocols: createProtocols(),
    dispatcher: {
      explain: async (call) => ({
        route: { target: call.model, webSearch: false, steps: [] },
        accountId: 'a',
        considered: [],
        upstreamId: 'main',
        upstreamModel: call.model,
        lane: 'translate',
        canonical: call.request,
        upstreamBody: {},
        receipt: [],
      }),
    },
    log: { warn: (fields) => void fakes.warnings.push(fields) },
  };
}

function targetsIn(file: JsonObject) {
  const checked = checkConfig(file);
  return (checked.kind === 'good' && checked.config.proxy?.targets) || {};
}

function createFakeConfig(fakes: Fakes): AdminOptions['config'] {
  return {
    raw: () => fakes.config,
    reload: async () => undefined,
    async preview(patch) {
      const checked = checkConfig(mergePatch(fakes.config, patch));
      if (checked.kind === 'bad') throw new ConfigError('gui_config.json', checked.problems);
      const environment = readEnvironment({ variables: {}, readText: () => '' });
      return resolveSettings({ environment, file: checked.config });
    },
    update: async (patch) => {
      const next = mergePatch(fakes.config, patch);
      const checked = checkConfig(next);
      if (checked.kind === 'bad') throw new ConfigError('gui_config.json', checked.problems);
      if (fakes.writeFault !== undefined) throw fakes.writeFault;
      fakes.config = next;
      // Nothing here reads the settings.
      return {} as Awaited<ReturnType<AdminOptions['config']['update']>>;
    },
  };
}

function createFakeSignIns(book: AccountBook, fakes: Fakes): AdminOptions['signIns'] {
  let count = 0;
  return {
    start: async ({ redirectUri }) => {
      count += 1;
      const state = `state-${count}`;
      fakes.states.add(state);
      return {
        state,
        authorizationUrl: `https://provider.example/authorize?state=${state}`,
        redirectUri,
        expiresAt: NOW + 600_000,
      };
    },
    complete: async ({ state, response }) => {
      const parameters = new URLSearchParams(response.slice(response.indexOf('?') + 1));
      if (!fakes.states.delete(state ?? '')) throw invalidRequest('state', 'It is not waiting.');
      if (parameters.has('error')) throw invalidRequest('response', 'The sign-in was declined.');
      const account = await book.add({
        upstreamId: 'main',
        label: `${state}@example.com`,
        credential: { kind: 'oauth', refreshToken: SECRETS.refreshToken },
      });
      return { kind: 'added', account };
    },
  };
}

/** Adds an account for every import that does not hold the word `refused`. */
function createFakeTransfer(book: AccountBook, fakes: Fakes): AccountTransfer {
  const add = async (upstreamId: string, text: string): Promise<readonly ImportResult[]> => {
    if (text.includes('refused')) {
      return [
        {
          index: 1,
          label: undefined,
          outcome: 'failed',
          reason: asSentence('the provider refused it'),
        },
      ];
    }
    const label = `imported-${fakes.imported.length}@example.com`;
    const credential = { kind: 'oauth', refreshToken: SECRETS.refreshToken } as const;
    const { record } = await book.add({ upstreamId, label, credential });
    return [{ index: 1, label, outcome: 'added', accountId: record.id }];
  };
  const take = (request: { readonly upstreamId: string; readonly text: string }) => {
    fakes.imported.push(request);
    return add(request.upstreamId, request.text);
  };
  return {
    importRefreshTokens: take,
    importServiceAccounts: take,
    importAccounts: (request) => take({ upstreamId: 'main', ...request }),
    exportAccounts: async ({ accountIds }) => ({
      sealed: 'sealed-export:v1:canary-free',
      count: accountIds?.length ?? book.list().length,
    }),
  };
}

function upstreamAuth(): GatewayError {
  return new GatewayError({
    kind: 'upstream-auth',
    source: 'upstream',
    message: 'The provider refused the credential.',
    failure: { kind: 'unauthenticated', detail: 'Token expired.' },
    cause: new Error(`detail with ${SECRETS.refreshToken}`),
  });
}

function removeFrom<Item>(list: Item[], matches: (item: Item) => boolean): boolean {
  const at = list.findIndex(matches);
  if (at !== -1) list.splice(at, 1);
  return at !== -1;
}

function keyRefused(): GatewayError {
  return new GatewayError({
    kind: 'upstream-auth',
    source: 'upstream',
    message: 'The upstream refused the credential.',
    failure: { kind: 'unauthenticated', detail: 'API key not valid.' },
  });
}
