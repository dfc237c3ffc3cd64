// Builds the accounts: tokens, quota, the pool, the sandbox's accounts.

import type { Account } from '../accounts/account.ts';
import { type AccountBook, createAccountBook } from '../accounts/account-book.ts';
import type { AccountStore } from '../accounts/account-store.ts';
import { AccountTrials, type Trial } from '../accounts/health.ts';
import { asGatewayError } from '../canonical/error.ts';
import type { Settings } from '../config/effective.ts';
import type { LiveConfig } from '../config/live.ts';
import type { FamiliesSettings } from '../config/settings.ts';
import type { Clock } from '../lib/clock.ts';
import { createId } from '../lib/ids.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import { createTokenSource, type OAuthTokenSource } from '../oauth/account-tokens.ts';
import { createOAuthOutbound, type OAuthFetch } from '../oauth/oauth-client.ts';
import { createPool, type Pool } from '../pool/create-pool.ts';
import type { LeaseOutcome } from '../pool/pool.ts';
import type { SessionStore } from '../pool/sessions.ts';
import { createQuotaEstimates } from '../quota/estimates.ts';
import { createProtection, type IsProtected } from '../quota/protection.ts';
import { QuotaRefresher } from '../quota/refresher.ts';
import { createFamilies, type Families } from '../routing/families.ts';
import type { Log } from '../server/settings.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import { neutralModelName } from '../wire/vocabulary.ts';
import type { Backend } from './backend.ts';

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
  readonly pool: Pool;
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
  const quota = new QuotaRefresher({
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

interface SandboxRestOptions {
  readonly book: AccountBook;
  readonly isBuiltIn: (upstreamId: string) => boolean;
  /** The upstreams that the settings name, without the built-in sandbox. */
  readonly namedUpstreams: () => readonly string[];
  /** Those of them that have no address to be asked at. */
  readonly unaddressed: () => readonly string[];
  /** Calls back after each change of the settings. */
  readonly subscribe: (listener: () => void) => unknown;
}

function restSandboxAccounts(options: SandboxRestOptions) {
  const { book, isBuiltIn, namedUpstreams, unaddressed } = options;
  const isMadeUp = ({ record }: Account): boolean => isBuiltIn(record.upstreamId);
  const isReal = (): boolean =>
    namedUpstreams().length > 0 || book.list().some((account) => !isMadeUp(account));
  let missing: Sentence | undefined;
  const settle = (): void => {
    const hasReal = isReal();
    const madeUp = book.list().filter(isMadeUp);
    const hasSignedIn = madeUp.some(({ origin }) => origin === 'stored');
    for (const account of madeUp) {
      const rests = hasReal || (hasSignedIn && account.origin === 'sandbox');
      const isActive = account.health.status.kind !== 'disabled';
      if (rests && isActive) book.apply(account.record.id, { kind: 'stand-by' });
      if (!rests && isStandingBy(account)) book.apply(account.record.id, { kind: 'enable' });
    }
    findMissing();
  };
  const findMissing = (): void => {
    const mute = unaddressed();
    const serves = book
      .list()
      .some((account) =>
        isMadeUp(account)
          ? account.health.status.kind !== 'disabled'
          : !mute.includes(account.record.upstreamId),
      );
    missing = serves ? undefined : sayMissing(namedUpstreams(), mute);
  };
  settle();
  options.subscribe(settle);
  const unsubscribe = book.subscribe(({ kind }) => {
    if (kind === 'added' || kind === 'removed') settle();
    if (kind === 'health') findMissing();
  });
  const isOnCall = (name: string): boolean =>
    book
      .list()
      .some((account) => isStandingBy(account) && account.record.label.toLowerCase() === name);
  return {
    /**
     * What keeps requests from an answer: an upstream is named, and has no account or no address. Who asks
     * for an account that stands by is answered by that.
     */
    missing: (account?: string): Sentence | undefined =>
      account !== undefined && isOnCall(account.toLowerCase()) ? undefined : missing,
    close: unsubscribe,
  };
}

function isStandingBy({ health: { status } }: Account): boolean {
  return status.kind === 'disabled' && status.reason === 'standing-by';
}

function sayMissing(
  upstreams: readonly string[],
  unaddressed: readonly string[],
): Sentence | undefined {
  if (upstreams.length === 0) return undefined;
  if (unaddressed.length > 0) {
    return told`The upstream ${unaddressed.join(', ')} has no address: set UPSTREAM_BASE_URL where UPSTREAM_PROFILE is set.`;
  }
  return told`No account is configured for the upstream ${upstreams.join(', ')}: set UPSTREAM_API_KEYS where the environment names it, or add an account in the console or with isthmus accounts add.`;
}

interface QuotaWatchOptions {
  readonly book: AccountBook;
  readonly upstreams: { get(id: string): Upstream | undefined };
  readonly settings: () => Settings;
  /** One spelling for every way to write a model's name. */
  readonly normalizeName: (name: string) => string;
  readonly refresher: () => QuotaRefresher;
  readonly now: () => number;
}

function createQuotaWatch(options: QuotaWatchOptions) {
  const { book, upstreams, settings, normalizeName, refresher, now } = options;
  const estimates = createQuotaEstimates({
    book,
    now,
    limitOf(upstreamId, asked) {
      const { limits = [] } = settings().upstreams.find(({ id }) => id === upstreamId) ?? {};
      const name = normalizeName(asked);
      return (
        limits.find(({ modelId }) => modelId === asked) ??
        limits.find(({ modelId }) => normalizeName(modelId) === name)
      );
    },
  });
  const drawsImages = (accountId: string, modelId: string): boolean => {
    const upstream = upstreams.get(book.find(accountId)?.record.upstreamId ?? '');
    return upstream?.capabilities(modelId, undefined).drawsImages ?? false;
  };
  const noteOutcome = (accountId: string, modelId: string, outcome: LeaseOutcome): void => {
    if (outcome.kind === 'success') estimates.noteUse(accountId, modelId, 1);
    if (outcome.kind === 'failure') {
      estimates.noteRefusal(accountId, modelId, outcome.failure);
      const { kind } = outcome.failure;
      if (kind === 'quota-exhausted' || kind === 'rate-limited') refresher().noteChanged(accountId);
      return;
    }
    // A drawing the client did not wait for may be counted like any other: only the upstream knows.
    if (drawsImages(accountId, modelId)) refresher().noteChanged(accountId);
  };
  return { noteOutcome, callLimitOf: estimates.callLimitOf };
}
