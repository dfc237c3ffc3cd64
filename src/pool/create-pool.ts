// The account pool: chooses accounts of the book for requests, and keeps what that needs current.

import type { Account } from '../accounts/account.ts';
import type { AccountBook, BookChange } from '../accounts/account-book.ts';
import type { UpstreamModel } from '../canonical/model.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import { AccountLabels } from './account-labels.ts';
import { createOwnIds, nearest } from './eligibility.ts';
import { Leasing, type LeasingParts } from './lease.ts';
import { ModelIndexes } from './model-index.ts';
import { ModelLists, OfferedNames } from './model-lists.ts';
import { Overloads } from './overload.ts';
import type { AccountView, LeaseRequest, LeaseResult, PoolOptions } from './pool.ts';
import { Probes } from './probes.ts';
import { QuotaReservations } from './quota-reservations.ts';
import { type SessionName, SessionTable } from './sessions.ts';
import { Slots } from './slots.ts';
import { SuccessShares } from './success-shares.ts';

export type Pool = ReturnType<typeof createPool>;

export function createPool(options: PoolOptions) {
  const { book, settings, clock, sessionStore: store, notices, log } = options;
  const reservations = openReservations(options, (account) =>
    indexes.take({ kind: 'quotas', account }),
  );
  const ownIdOf = createOwnIds(options);
  const indexes = new ModelIndexes(options, ownIdOf, reservations);
  const labels = new AccountLabels(book.list());
  const offered = new OfferedNames(options, ownIdOf);
  const idleMs = () => settings().sessionIdleMs;
  const sessions = new SessionTable({ clock, idleMs, store, notices, log });
  const shares = new SuccessShares();
  const unsubscribe = book.subscribe((change) =>
    followChange(change, { indexes, shares, sessions, reservations, labels, offered }),
  );
  const lists = new ModelLists(options, (model) => offered.holds(model));
  const overloads = new Overloads(clock);
  const probes = new Probes(options, shares);
  const slots = new Slots(options.concurrency ?? NO_LIMITS, clock);
  const parts = { indexes, labels, sessions, overloads, shares, reservations, probes, slots };
  const leasing = new Leasing({ ...options, ...parts });
  let seenAt = clock.now();
  endFutureWaits({ book, overloads }, seenAt);
  return {
    /** Picks an account that can serve the request now, or says why none can. Never waits. */
    lease(request: LeaseRequest): LeaseResult {
      const now = clock.now();
      if (now < seenAt - TOLERANCE_MS) endFutureWaits({ book, overloads }, now);
      seenAt = now;
      try {
        return leasing.lease(request, now);
      } finally {
        // What was kept for it is its own now, or is of no use to it.
        if (request.admitted !== undefined) slots.leave(request.admitted);
      }
    },
    /** Where requests wait that all who could serve them are too busy for. */
    slots: slots as Pick<Slots, 'wait'>,
    sessions,
    /** The upstream of the account that a session is bound to; undefined while it is bound to none. */
    upstreamOfSession: (name: SessionName) =>
      book.find(sessions.find(name)?.home ?? '')?.record.upstreamId,
    /** The account that the settings or the client want; undefined where they want none. */
    wantedAccount(preferredAccount: string | undefined) {
      const names = [settings().fixedAccount, preferredAccount].filter(
        (name) => name !== undefined,
      );
      const found = names
        .flatMap((name) => [name, ...labels.idsOf(name)])
        .map((id) => book.find(id));
      return found.find((account) => account !== undefined)?.record;
    },
    lacking: (request: LeaseRequest) => leasing.lacking(request, clock.now()),
    /** How many accounts could serve it now, but for limits of the moment. */
    usableAccounts: (request: LeaseRequest) => indexes.of(request, clock.now()).eligibleCount,
    /** The first models that accounts offer and none can serve for a minute or more, unless that is meant. */
    unservedModels: (most: number) => indexes.unserved(most, clock.now()),
    /** Restores the sessions of the last run; to be called before the first lease. Never rejects. */
    loadSessions: () => sessions.load((accountId) => book.find(accountId) !== undefined),
    /** The throttled models of overloaded upstreams. */
    overloads,
    conditionOf: (accountId: string) => shares.conditionOf(accountId),
    /** How accounts did in the last run, by their names in records; for those that were not asked since. */
    recallAttempts: (sums: readonly RecalledAttempts[]) => recallAttempts(sums, { labels, shares }),
    /** What records call an account. */
    nameOf: (accountId: string) => labels.nameOf(accountId),
    /** What the fixed account of the settings does not do, where no account is called so. */
    warnOfFixedAccount: () => warnOfName(settings().fixedAccount, { book, labels }),
    lastUsedAt: (accountId: string) => indexes.lastUsedAt(accountId),
    /** Accounts as the banner and the model lists see them. */
    accounts: () => book.list().map(viewOf),
    /** The entry of a routed model in the accounts' own lists; undefined when none offers or lists it. */
    describe: (model: string) => describeModel(model, options, ownIdOf),
    offered,
    heard: () => book.heard(),
    /** A promise while a model list was never read. Never rejects: unknown lists may offer anything. */
    ensureModels: lists.ensure,
    async close() {
      unsubscribe();
      reservations.close();
      probes.close();
      lists.close();
      await sessions.close();
    },
  };
}

function warnOfName(
  name: string | undefined,
  { book, labels }: Pick<PoolOptions, 'book'> & Pick<LeasingParts, 'labels'>,
): Sentence | undefined {
  if (name === undefined || book.find(name) || labels.idsOf(name).size > 0) return undefined;
  return told`proxy.pool.fixed_account names no account: none has the id or label "${name}", so that all accounts are used.`;
}

/** How the attempts on one account went within a while. */
interface RecalledAttempts {
  readonly account: string;
  /** The beginning of the while, in milliseconds since the epoch. */
  readonly at: number;
  readonly good: number;
  readonly failed: number;
}

function recallAttempts(
  sums: readonly RecalledAttempts[],
  { labels, shares }: Pick<LeasingParts, 'labels' | 'shares'>,
): void {
  for (const sum of sums.toSorted((left, right) => right.at - left.at)) {
    for (const id of labels.idsOf(sum.account)) {
      if (labels.nameOf(id) === sum.account) shares.recall(id, sum);
    }
  }
}

/** @param onChange told of accounts that have nothing left now, or have something again */
function openReservations(
  { book, clock, sharing, callLimitOf }: PoolOptions,
  onChange: (account: Account) => void,
): QuotaReservations {
  return new QuotaReservations({
    ...{ sharing, limitOf: callLimitOf ?? (() => undefined) },
    find: (id) => book.find(id),
    now: () => clock.now(),
    onChange(accountId) {
      const account = book.find(accountId);
      if (account !== undefined) onChange(account);
    },
  });
}

function describeModel(
  model: string,
  { book, upstreams, families }: Pick<PoolOptions, 'book' | 'upstreams' | 'families'>,
  ownIdOf: ReturnType<typeof createOwnIds>,
): UpstreamModel | undefined {
  const offers = book.list().flatMap((account) => {
    const id = ownIdOf(account, model);
    const listed = id === undefined ? undefined : account.models?.get(id);
    return listed === undefined ? [] : [{ listed, upstreamId: account.record.upstreamId }];
  });
  const found = nearest(offers, ({ listed }) => families?.().lossOf(model, listed.id));
  if (found === undefined) return undefined;
  const { listed, upstreamId } = found;
  // Few lists say it, and clients of ours take no word for no.
  const thinking = upstreams.get(upstreamId)?.capabilities(listed.id, listed).thinking;
  return { ...listed, supportsThinking: thinking && thinking.kind !== 'none' };
}

const NO_LIMITS = {
  isLimited: () => false,
  ofUpstream: () => undefined,
  ofAccount: () => undefined,
};

function viewOf({ record: { id, label, tier, upstreamId }, models }: Account): AccountView {
  return { id, label, tier, upstreamId, models };
}

interface Followers
  extends Pick<LeasingParts, 'indexes' | 'shares' | 'sessions' | 'reservations' | 'labels'> {
  readonly offered: OfferedNames;
}

/** Tells all who keep something of an account that it has changed. */
function followChange(change: BookChange, followers: Followers): void {
  const { indexes, shares, sessions, reservations, labels, offered } = followers;
  const { kind, account } = change;
  const { id } = account.record;
  indexes.take(change);
  if (kind === 'removed' || kind === 'reauthenticated') shares.forget(id);
  if (kind === 'removed') {
    sessions.forgetAccount(id);
    reservations.forget(id);
    labels.remove(id);
    offered.remove(id);
  } else if (kind !== 'quotas') {
    // What an unknown list means depends on whether the account stands by.
    offered.put(account);
    if (kind !== 'health') labels.put(account);
  }
}

/** Less is a correction as time servers make them. */
const TOLERANCE_MS = 1000;
/** An account that was refused its credential is out for no longer. */
const MAX_REFUSAL_MS = 60_000;

interface Waits {
  readonly book: Pick<AccountBook, 'list' | 'apply' | 'setQuotas'>;
  readonly overloads: Pick<Overloads, 'endSince'>;
}

/** For a clock that was set back: forgets waits and figures of the future. The upstream tells them again. */
function endFutureWaits({ book, overloads }: Waits, now: number): void {
  const future = now + TOLERANCE_MS;
  overloads.endSince(future);
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
