// Builds the accounts: tokens, quota, the pool, the sandbox's accounts.

import type { Account } from '../accounts/account.ts';
import { type AccountBook, createAccountBook } from '../accounts/account-book.ts';
import type { AccountStore } from '../accounts/account-store.ts';
import { AccountTrials, isStandingBy, sayListed } from '../accounts/health.ts';
import { asGatewayError } from '../canonical/error.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { Counters } from '../cluster/counters.ts';
import { createHearing } from '../cluster/hearing.ts';
import type { Settings } from '../config/effective.ts';
import type { LiveConfig } from '../config/live.ts';
import type { Clock } from '../lib/clock.ts';
import type { ExpiringStore } from '../lib/expiring-store.ts';
import { createId } from '../lib/ids.ts';
import { asSentence, type Sentence, told } from '../lib/localized-message.ts';
import { derived } from '../lib/once.ts';
import type { ProxyChoice } from '../lib/outbound-proxy.ts';
import { createTokenSource, type TokenSourceOptions } from '../oauth/account-tokens.ts';
import { createOAuthOutbound } from '../oauth/oauth-client.ts';
import { createPool } from '../pool/create-pool.ts';
import type { LeaseOutcome } from '../pool/pool.ts';
import type { ConcurrencyLimits } from '../pool/slots.ts';
import { createQuotaEstimates, createRateReadings } from '../quota/estimates.ts';
import { createProtection } from '../quota/protection.ts';
import { QuotaRefresher } from '../quota/refresher.ts';
import { createFamilies } from '../routing/families.ts';
import type { Log } from '../server/settings.ts';
import { neutralModelName } from '../wire/vocabulary.ts';
import type { Backend } from './backend.ts';
import { createPricing } from './pricing.ts';

interface AccountsOptions {
  readonly config: Pick<LiveConfig, 'current' | 'subscribe'>;
  readonly backend: Backend;
  readonly store: AccountStore;
  readonly sessionStore: ExpiringStore;
  readonly cluster: Cluster;
  readonly turns: TokenSourceOptions['turns'];
  readonly isLeading: (() => boolean) | undefined;
  /** A model's name as it may be kept. */
  readonly cleanModel: (model: string) => string;
  readonly userAgent: string;
  /** The proxy of the gateway as it is now. */
  readonly proxyFor: ProxyChoice;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/** One spelling for every way to write a model's name. */
const normalizeName = (name: string): string => neutralModelName(name.toLowerCase());

/** An answer waits so long for other processes to learn what it met. */
const HEARD_MS = 50;

/** @throws StoreError when the stored accounts cannot be read */
export async function openAccounts(options: AccountsOptions) {
  const { config, backend, userAgent, proxyFor, clock, random, log } = options;
  const { upstreams, oauth, seeds } = backend;
  const { current } = config;
  const now = () => clock.now();
  const stored = await options.store.list();
  const { notices } = options.cluster;
  const hearing = createHearing({ ...options, subject: 'accounts', mostMs: HEARD_MS });
  const book = createAccountBook({ ...options, notices, hearing, stored, seeds, createId });
  const sandboxRest = restSandboxAccounts(options, book);
  const trials = new AccountTrials();
  followTrials(trials, book, clock);
  const outbound = createOAuthOutbound({ userAgent, proxyFor });
  const { fetch } = outbound;
  const tokens = createTokenSource({ ...options, book, oauth, fetch });
  const isProtected = createProtection({
    ...{ normalizeName, now },
    settings: () => current().quota.protection,
  });
  const quota = new QuotaRefresher({
    ...{ book, upstreams, tokens, normalizeName, clock, random, log },
    isLeading: options.isLeading,
    settings: () => current().quota,
  });
  config.subscribe(() => quota.reschedule());
  followUpstreams(options, book);
  const families = derived(current, (settings) => createFamilies(settings.families));
  const counters = new Counters({ bank: options.cluster.bank, clock });
  const pool = createPool({
    ...{ families, book, upstreams, tokens, isProtected, log, clock, random },
    settings: derived(current, (settings) => settings.pool),
    rulesVersion: current,
    concurrency: createConcurrencyLimits(current, (id) => book.find(id)?.record.upstreamId),
    ...watchQuota(options, book, quota),
    sessionStore: options.sessionStore,
    notices,
    sharing: options.turns && { cluster: options.cluster, counters },
    onModelListFailure({ label: account, id, error, isRepeated }) {
      if (!isRepeated)
        log.warn({ account, error }, 'The model list of an account could not be read.');
      const { sentence, failure } = asGatewayError(error);
      const message = asSentence(failure?.detail ?? sentence);
      noteModels(trials, id, { at: now(), isGood: false, message });
    },
  });
  const pricing = createPricing({ current, book, isBuiltIn: backend.isBuiltIn });
  return {
    book,
    tokens,
    /** For every other call to an identity provider. */
    fetch,
    isProtected,
    quota,
    pool,
    /** As the settings are now. */
    families,
    trials,
    pricing,
    missing: sandboxRest.missing,
    /** In reverse order of opening; the store stays open. */
    async close(): Promise<void> {
      sandboxRest.close();
      quota.close();
      await pool.close();
      counters.close();
      await tokens.close();
      await outbound.close();
      await book.close();
    },
  };
}

/** An upstream with another address or profile is another service, of which what is known of its accounts says nothing. */
function followUpstreams({ config, backend }: AccountsOptions, book: AccountBook): void {
  const { upstreams } = backend;
  const known = new Map(upstreams.list().map((one) => [one.id, one]));
  config.subscribe(() => {
    const changed = upstreams.list().filter((one) => (known.get(one.id) ?? one) !== one);
    for (const one of upstreams.list()) known.set(one.id, one);
    if (changed.length === 0) return;
    for (const { record } of book.list()) {
      const isMoved = changed.some(({ id }) => id === record.upstreamId);
      if (isMoved) book.apply(record.id, { kind: 'reauthenticated' });
    }
  });
}

/** What the settings say of calls at once, by upstream and account. */
function createConcurrencyLimits(
  current: () => Settings,
  upstreamOf: (accountId: string) => string | undefined,
): ConcurrencyLimits {
  const limits = derived(
    current,
    ({ upstreams }) =>
      new Map(
        upstreams.flatMap((one) => {
          const { id, maxConcurrency: all, maxConcurrencyPerAccount: each } = one;
          return all === undefined && each === undefined ? [] : [[id, { all, each }] as const];
        }),
      ),
  );
  return {
    isLimited: derived(limits, ({ size }) => size > 0),
    ofUpstream: (id) => limits().get(id)?.all,
    ofAccount: (id) => limits().get(upstreamOf(id) ?? '')?.each,
  };
}

/** The free part of a trial is what the pool does anyway: it reads the model list of every account. */
function followTrials(trials: AccountTrials, book: AccountBook, clock: Pick<Clock, 'now'>): void {
  book.subscribe(({ kind, account: { record, models } }) => {
    if (kind === 'removed' || kind === 'reauthenticated') trials.forget(record.id);
    if (kind !== 'models' || models === undefined) return;
    noteModels(trials, record.id, {
      at: clock.now(),
      isGood: true,
      message: sayListed(models.size),
    });
  });
}

function noteModels(
  trials: AccountTrials,
  id: string,
  trial: { readonly at: number; readonly isGood: boolean; readonly message: Sentence },
): void {
  trials.note(id, { what: 'models', durationMs: 0, ...trial });
}

function restSandboxAccounts({ config, backend }: AccountsOptions, book: AccountBook) {
  const { isBuiltIn, namedUpstreams, unaddressed } = backend;
  const isMadeUp = ({ record }: Account): boolean => isBuiltIn(record.upstreamId);
  let missing: Sentence | undefined;
  const settle = (): void => {
    const madeUp = book.list().filter(isMadeUp);
    const hasReal = namedUpstreams().length > 0 || book.list().length > madeUp.length;
    const hasSignedIn = madeUp.some(({ origin }) => origin === 'stored');
    for (const account of madeUp) {
      const isStandby = hasReal || (hasSignedIn && account.origin === 'sandbox');
      if (isStandby && !isDisabled(account)) book.apply(account.record.id, { kind: 'stand-by' });
      if (!isStandby && isStandingBy(account)) book.apply(account.record.id, { kind: 'enable' });
    }
    findMissing();
  };
  const findMissing = (): void => {
    const mute = unaddressed();
    const serves = book
      .list()
      .some((account) =>
        isMadeUp(account) ? !isDisabled(account) : !mute.includes(account.record.upstreamId),
      );
    missing = serves ? undefined : sayMissing(namedUpstreams(), mute);
  };
  settle();
  config.subscribe(settle);
  const unsubscribe = book.subscribe(({ kind }) => {
    if (kind === 'added' || kind === 'removed') settle();
    if (kind === 'health') findMissing();
  });
  const isOnCall = (name: string): boolean =>
    book
      .list()
      .some((account) => isStandingBy(account) && account.record.label.toLowerCase() === name);
  return {
    /** Why there can be no answer: a named upstream has no account or no address. */
    missing: (account?: string): Sentence | undefined =>
      missing !== undefined && account !== undefined && isOnCall(account.toLowerCase())
        ? undefined
        : missing,
    close: unsubscribe,
  };
}

function isDisabled({ health: { status } }: Account): boolean {
  return status.kind === 'disabled';
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

function watchQuota(
  { config, clock }: Pick<AccountsOptions, 'config' | 'clock'>,
  book: AccountBook,
  refresher: QuotaRefresher,
) {
  const configured = derived(
    config.current,
    (settings) =>
      new Map(
        settings.upstreams.flatMap(({ id, limits }) =>
          limits.length === 0 ? [] : [[id, limits] as const],
        ),
      ),
  );
  const limitAmong = (all: ReturnType<typeof configured>, upstreamId: string, asked: string) => {
    const limits = all.get(upstreamId);
    if (limits === undefined) return undefined;
    const name = normalizeName(asked);
    return (
      limits.find(({ modelId }) => modelId === asked) ??
      limits.find(({ modelId }) => normalizeName(modelId) === name)
    );
  };
  const { noteUse, noteRefusal, forgetChanged, callLimitOf } = createQuotaEstimates({
    book,
    now: () => clock.now(),
    isConfigured: derived(configured, ({ size }) => size > 0),
    limitOf: (...asked) => limitAmong(configured(), ...asked),
  });
  let known = configured();
  config.subscribe(() => {
    const before = known;
    known = configured();
    if (before.size > 0) forgetChanged((...asked) => limitAmong(before, ...asked));
  });
  const onOutcome = (
    accountId: string,
    modelId: string,
    outcome: LeaseOutcome,
    draws: boolean,
  ): void => {
    if (outcome.kind === 'success') noteUse(accountId, modelId, 1);
    if (outcome.kind === 'failure') {
      noteRefusal(accountId, modelId, outcome.failure);
      const { kind } = outcome.failure;
      if (kind === 'quota-exhausted' || kind === 'rate-limited') refresher.noteChanged(accountId);
      return;
    }
    // A drawing the client did not wait for may be counted like any other: only the upstream knows.
    if (draws) refresher.noteChanged(accountId);
  };
  const { note: onRateLimit } = createRateReadings({ book, now: () => clock.now() });
  return { onOutcome, onRateLimit, callLimitOf };
}
