// The accounts with all that keeps them usable: tokens, quota figures, and the pool that lends them.

import type { AccountBook } from '../accounts/account-book.ts';
import type { AccountStore } from '../accounts/account-store.ts';
import { createAccountBook } from '../accounts/create-account-book.ts';
import type { LiveConfig } from '../config/live.ts';
import type { Clock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { createOAuthOutbound, type OAuthFetch } from '../oauth/oauth-fetch.ts';
import { createTokenSource, type OAuthTokenSource } from '../oauth/token-source.ts';
import { type AccountPool, createPool } from '../pool/create-pool.ts';
import { createProtection, type IsProtected } from '../quota/protection.ts';
import { createQuotaRefresher, type QuotaRefresher } from '../quota/refresher.ts';
import type { Log } from '../server/log.ts';
import { neutralModelName } from '../wire/vocabulary.ts';
import type { Backend } from './backend.ts';
import { createQuotaWatch } from './quota-watch.ts';
import { restSandboxAccounts } from './rest-sandbox.ts';

export interface AccountsOptions {
  readonly config: Pick<LiveConfig, 'current' | 'subscribe'>;
  readonly backend: Pick<Backend, 'upstreams' | 'oauth' | 'seeds'>;
  readonly store: AccountStore;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

export interface Accounts {
  readonly book: AccountBook;
  readonly tokens: OAuthTokenSource;
  /** For every other call to an identity provider. */
  readonly fetch: OAuthFetch;
  readonly isProtected: IsProtected;
  readonly quota: QuotaRefresher;
  readonly pool: AccountPool;
  /** In reverse order of opening; the store stays open. */
  close(): Promise<void>;
}

/** @throws StoreError when the stored accounts cannot be read */
export async function openAccounts(options: AccountsOptions): Promise<Accounts> {
  const { config, backend, store, userAgent, clock, random, log } = options;
  const { upstreams, oauth, seeds } = backend;
  const settings = () => config.current();
  const book = await createAccountBook({ store, seeds, clock, random, createId, log });
  restSandboxAccounts(book);
  const outbound = createOAuthOutbound({ userAgent });
  const { fetch } = outbound;
  const tokens = createTokenSource({ book, oauth, clock, random, fetch, log });
  const normalizeName = (name: string): string => neutralModelName(name.toLowerCase());
  const isProtected = createProtection({
    settings: () => settings().quota.protection,
    now: () => clock.now(),
    normalizeName,
  });
  const quota = createQuotaRefresher({
    book,
    upstreams,
    tokens,
    settings: () => settings().quota,
    normalizeName,
    clock,
    random,
    log,
  });
  config.subscribe(() => quota.reschedule());
  const watchQuota = createQuotaWatch({
    book,
    upstreams,
    settings,
    normalizeName,
    refresher: () => quota,
    now: () => clock.now(),
  });
  const pool = createPool({
    book,
    upstreams,
    tokens,
    settings: () => settings().pool,
    isProtected,
    rulesVersion: settings,
    onOutcome: (...ended) => watchQuota.noteOutcome(...ended),
    callLimitOf: watchQuota.callLimitOf,
    clock,
    random,
    onModelListFailure: (account, error) =>
      log.warn({ account, error }, 'The model list of an account could not be read.'),
  });
  return {
    book,
    tokens,
    fetch,
    isProtected,
    quota,
    pool,
    async close() {
      quota.close();
      await pool.close();
      await tokens.close();
      await outbound.close();
      await book.close();
    },
  };
}
