// The accounts with all that keeps them usable: tokens, quota figures, and the pool that lends them.

import type { AccountBook } from '../accounts/account-book.ts';
import type { AccountStore } from '../accounts/account-store.ts';
import { createAccountBook } from '../accounts/create-account-book.ts';
import { AccountTrials, type Trial } from '../accounts/trials.ts';
import { asGatewayError } from '../canonical/error.ts';
import type { FamiliesSettings } from '../config/family-schema.ts';
import type { LiveConfig } from '../config/live.ts';
import type { Clock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { type Sentence, told } from '../lib/told.ts';
import { createOAuthOutbound, type OAuthFetch } from '../oauth/oauth-fetch.ts';
import { createTokenSource, type OAuthTokenSource } from '../oauth/token-source.ts';
import { type AccountPool, createPool } from '../pool/create-pool.ts';
import type { SessionStore } from '../pool/session-store.ts';
import { createProtection, type IsProtected } from '../quota/protection.ts';
import { createQuotaRefresher, type QuotaRefresher } from '../quota/refresher.ts';
import { createFamilies, type Families } from '../routing/families.ts';
import type { Log } from '../server/log.ts';
import { neutralModelName } from '../wire/vocabulary.ts';
import type { Backend } from './backend.ts';
import { createQuotaWatch } from './quota-watch.ts';
import { restSandboxAccounts } from './rest-sandbox.ts';

export interface AccountsOptions {
  readonly config: Pick<LiveConfig, 'current' | 'subscribe'>;
  readonly backend: Pick<
    Backend,
    'upstreams' | 'oauth' | 'seeds' | 'isBuiltIn' | 'namedUpstreams' | 'unaddressed'
  >;
  readonly store: AccountStore;
  readonly sessionStore: SessionStore;
  /** A model's name as it may be kept. */
  readonly cleanModel: (model: string) => string;
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
  /** As the settings are now. */
  readonly families: () => Families;
  readonly trials: AccountTrials;
  /** What a request lacks that asks for the account of this name, or for none; undefined when nothing. */
  missing(account?: string): Sentence | undefined;
  /** In reverse order of opening; the store stays open. */
  close(): Promise<void>;
}

/** @throws StoreError when the stored accounts cannot be read */
export async function openAccounts(options: AccountsOptions): Promise<Accounts> {
  const { config, backend, userAgent, clock, random, log } = options;
  const { upstreams, oauth, seeds } = backend;
  const settings = () => config.current();
  const book = await createAccountBook({ ...options, seeds, createId });
  const subscribe = config.subscribe;
  const sandboxRest = restSandboxAccounts({ ...backend, book, subscribe });
  const trials = followTrials(book, clock);
  const outbound = createOAuthOutbound({ userAgent });
  const { fetch } = outbound;
  const tokens = createTokenSource({ book, oauth, clock, random, fetch, log });
  const normalizeName = (name: string): string => neutralModelName(name.toLowerCase());
  const isProtected = createProtection({
    ...{ normalizeName, now: () => clock.now() },
    settings: () => settings().quota.protection,
  });
  const quota = createQuotaRefresher({
    ...{ book, upstreams, tokens, normalizeName, clock, random, log },
    settings: () => settings().quota,
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
  const families = currentFamilies(() => settings().families);
  const pool = createPool({
    ...{ families, book, upstreams, tokens, isProtected },
    settings: () => settings().pool,
    rulesVersion: settings,
    onOutcome: (...ended) => watchQuota.noteOutcome(...ended),
    callLimitOf: watchQuota.callLimitOf,
    ...{ sessionStore: options.sessionStore, log, clock, random },
    onModelListFailure: noteFailedLists({ trials, clock, log }),
  });
  await pool.loadSessions();
  return {
    book,
    tokens,
    fetch,
    isProtected,
    quota,
    pool,
    families,
    trials,
    missing: (account) => sandboxRest.missing(account),
    async close() {
      sandboxRest.close();
      quota.close();
      await pool.close();
      await tokens.close();
      await outbound.close();
      await book.close();
    },
  };
}

/** What it remembers of lists is good for one setting. */
function currentFamilies(settings: () => FamiliesSettings): () => Families {
  let source = settings();
  let families = createFamilies(source);
  return () => {
    const latest = settings();
    if (latest !== source) families = createFamilies(latest);
    source = latest;
    return families;
  };
}

/** The free part of a trial is what the pool does anyway: it reads the model list of every account. */
function followTrials(book: AccountBook, clock: Pick<Clock, 'now'>): AccountTrials {
  const trials = new AccountTrials();
  book.subscribe(({ kind, account: { record, models } }) => {
    if (kind === 'removed' || kind === 'reauthenticated') trials.forget(record.id);
    if (kind !== 'models' || models === undefined) return;
    const message = told`The upstream offers ${models.size} models.`;
    noteModels(trials, record.id, { at: clock.now(), isGood: true, message });
  });
  return trials;
}

function noteModels(
  trials: AccountTrials,
  id: string,
  trial: Pick<Trial, 'at' | 'isGood' | 'message'>,
): void {
  trials.note(id, { what: 'models', durationMs: 0, ...trial });
}

function noteFailedLists({
  trials,
  clock,
  log,
}: Pick<AccountsOptions, 'clock' | 'log'> & { readonly trials: AccountTrials }) {
  return (account: string, error: unknown, id: string): void => {
    log.warn({ account, error }, 'The model list of an account could not be read.');
    const { message, failure } = asGatewayError(error);
    noteModels(trials, id, { at: clock.now(), isGood: false, message: failure?.detail ?? message });
  };
}
