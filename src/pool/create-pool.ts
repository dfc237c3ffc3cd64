// The account pool: chooses accounts of the book for requests, and keeps what that needs current.

import type { Account, TokenSource } from '../accounts/account.ts';
import type { AccountBook, BookChange } from '../accounts/account-book.ts';
import type { Clock } from '../lib/clock.ts';
import type { WriteBehindLog } from '../lib/write-behind.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import { createOwnIds, type OwnIdsOptions } from './eligibility.ts';
import { createLeasing, type LeaseSources, viewOf } from './lease.ts';
import { createModelIndexes, type ProtectionRule } from './model-index.ts';
import { createAccountLabels, createOfferedCount, ModelLists } from './model-lists.ts';
import { createOverloads, type UpstreamRests } from './overload.ts';
import type { Pool, PoolSettings } from './pool.ts';
import { probeAccounts } from './probes.ts';
import { type CallLimit, createQuotaReservations } from './quota-reservations.ts';
import { type SessionBindings, type SessionStore, SessionTable } from './sessions.ts';
import { type AccountCondition, SuccessShares } from './success-shares.ts';

export interface PoolOptions {
  readonly book: AccountBook;
  readonly upstreams: { get(id: string): Upstream | undefined };
  readonly tokens: TokenSource;
  readonly settings: () => PoolSettings;
  /** True for an account that is to keep what is left of a model's quota. Asked when accounts change. */
  readonly isProtected: ProtectionRule;
  /**
   * Gives another value when `isProtected` or `upstreams` may answer otherwise for unchanged accounts,
   * such as the settings they were made from.
   */
  readonly rulesVersion: () => unknown;
  /** What a share of a quota is in calls, where the upstream does not say; without it nobody knows. */
  readonly callLimitOf?: CallLimit | undefined;
  /** Told how each lease ended. */
  readonly onOutcome?: LeaseSources['onOutcome'];
  /** Which listed models stand for the catalogue's names; without it a name stands for itself alone. */
  readonly families?: OwnIdsOptions['families'];
  /** Lets session bindings survive a restart. */
  readonly sessionStore?: SessionStore | undefined;
  readonly log?: WriteBehindLog | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  /** Told of model lists that could not be read. */
  readonly onModelListFailure: (label: string, error: unknown, accountId: string) => void;
}

export interface AccountPool extends Pool {
  readonly sessions: SessionBindings;
  /** Takes up the sessions of the last run; before the first lease. Never rejects. */
  loadSessions(): Promise<void>;
  /** The models that rest because their upstream is overloaded. */
  readonly rests: UpstreamRests;
  /** How the last attempts on an account went. */
  conditionOf(accountId: string): AccountCondition;
  /** Milliseconds since the epoch; undefined when the account was not used since the start. */
  lastUsedAt(accountId: string): number | undefined;
}

export function createPool(options: PoolOptions): AccountPool {
  const { book, upstreams, tokens, settings, clock } = options;
  const onFailure = options.onModelListFailure;
  const limitOf = options.callLimitOf ?? (() => undefined);
  const reservations = createQuotaReservations({ upstreams, limitOf });
  const ownIdOf = createOwnIds(options);
  const indexes = createModelIndexes({ ...options, ownIdOf, reservations });
  const labels = createAccountLabels(book.list());
  const offered = createOfferedCount({ ...options, accounts: book.list(), ownIdOf });
  const sessions = new SessionTable({
    clock,
    idleMs: () => settings().sessionIdleMs,
    store: options.sessionStore,
    log: options.log,
  });
  const shares = new SuccessShares();
  const unsubscribe = book.subscribe((change) => {
    indexes.take(change);
    if (change.kind === 'removed' || change.kind === 'reauthenticated') {
      shares.forget(change.account.record.id);
    }
    if (change.kind === 'removed') {
      sessions.forgetAccount(change.account.record.id);
      reservations.forget(change.account.record.id);
    }
    for (const view of [labels, offered]) follow(view, change);
    // What an unknown list means depends on whether the account stands by.
    if (change.kind === 'health') offered.put(change.account);
  });
  const lists = new ModelLists({ book, upstreams, tokens, clock, onFailure });
  const overloads = createOverloads(clock);
  const probes = probeAccounts({ book, upstreams, tokens, shares, clock });
  const lease = createLeasing({
    ...options,
    indexes,
    labels,
    sessions,
    overloads,
    shares,
    reservations,
    onDoubt: (accountId, model) => probes.doubt(accountId, model),
  });
  const checkClock = createClockSkewWatch({
    book,
    clock,
    endRestsSince: (moment) => overloads.endSince(moment),
  });
  return {
    lease(request) {
      checkClock();
      return lease(request);
    },
    sessions,
    loadSessions: () => sessions.load((accountId) => book.find(accountId) !== undefined),
    rests: overloads,
    conditionOf: (accountId) => shares.conditionOf(accountId, clock.now()),
    lastUsedAt: (accountId) => indexes.lastUsedAt(accountId),
    accounts: () => book.list().map(viewOf),
    describe(model) {
      for (const account of book.list()) {
        const id = ownIdOf(account, model);
        const listed = id === undefined ? undefined : account.models?.get(id);
        if (listed !== undefined) return listed;
      }
      return undefined;
    },
    offered: () => offered.offered,
    ensureModels: () => lists.ensure(),
    async close() {
      unsubscribe();
      probes.close();
      lists.close();
      await sessions.close();
    },
  };
}

interface AccountFollower {
  put(account: Account): void;
  remove(accountId: string): void;
}

function follow(follower: AccountFollower, { kind, account }: BookChange): void {
  if (kind === 'removed') follower.remove(account.record.id);
  else if (kind !== 'health' && kind !== 'quotas') follower.put(account);
}

/** Less is a correction as time servers make them. */
const TOLERANCE_MS = 1000;
/** An account that was refused its credential is out for no longer. */
const MAX_REFUSAL_MS = 60_000;

interface ClockSkewOptions {
  readonly book: Pick<AccountBook, 'list' | 'apply' | 'setQuotas'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Ends what rests beside the accounts and began after this moment. */
  readonly endRestsSince: (moment: number) => void;
}

/**
 * Looks at the clock before a choice is made. When it was set back, what began in the future is over,
 * and what was read then counts no more: the upstream says anew what still holds.
 */
function createClockSkewWatch(options: ClockSkewOptions): () => void {
  const { clock } = options;
  let seen = clock.now();
  endFutureWaits(options, seen);
  return () => {
    const now = clock.now();
    if (now < seen - TOLERANCE_MS) endFutureWaits(options, now);
    seen = now;
  };
}

function endFutureWaits({ book, endRestsSince }: ClockSkewOptions, now: number): void {
  const future = now + TOLERANCE_MS;
  endRestsSince(future);
  for (const { record, health, quotas } of book.list()) {
    const { status } = health;
    if (status.kind === 'blocked' && status.since > future) {
      book.apply(record.id, { kind: 'verified' });
    }
    if (health.outUntil > future + MAX_REFUSAL_MS) {
      book.apply(record.id, { kind: 'clear-cooldown' });
    }
    // A refusal that came before the last one does not count, and all of them would.
    if (health.revokedAt > future) book.apply(record.id, { kind: 'refreshed' });
    for (const [model, { since }] of health.models) {
      if (since > future) book.apply(record.id, { kind: 'clear-cooldown', model });
    }
    const readLater = [...quotas].filter(([, { fetchedAt }]) => fetchedAt > future);
    book.setQuotas(record.id, new Map(readLater.map(([model]) => [model, undefined])));
  }
}
