// A lease: one account lent to one attempt, and what the attempt's end means for the account.

import type { Account } from '../accounts/account.ts';
import type { AccountBook } from '../accounts/account-book.ts';
import type { TokenSource } from '../accounts/token-source.ts';
import { GatewayError, type UpstreamFailure } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import { told } from '../lib/told.ts';
import type { AccountAccess, Upstream } from '../upstreams/upstream.ts';
import type { AccountLoad } from './candidate.ts';
import type { OverloadOutcome, Overloads } from './overload.ts';
import type { AccountView, Considered, Lease, LeaseOutcome, LeaseRequest } from './pool.ts';
import type { Claim } from './quota-ledger.ts';
import type { SuccessShares } from './success-shares.ts';

export interface LeaseSources {
  readonly book: Pick<AccountBook, 'find' | 'apply'>;
  readonly tokens: TokenSource;
  readonly overloads: Overloads;
  readonly shares: SuccessShares;
  readonly clock: Pick<Clock, 'now'>;
  /** An account whose refusal may be the request's own. */
  readonly onDoubt: (accountId: string, modelId: string) => void;
  /** Told how each lease ended, whatever it ended in. */
  readonly onOutcome?:
    | ((accountId: string, modelId: string, outcome: LeaseOutcome) => void)
    | undefined;
}

export interface LeasedAccount {
  readonly account: Account;
  readonly upstream: Upstream;
  readonly modelId: string;
  readonly load: AccountLoad;
  readonly considered: readonly Considered[];
  readonly preferenceFollowed: boolean;
  /** Whose request it is. */
  readonly asker: Pick<LeaseRequest, 'clientKeyId' | 'session'>;
  /** True for a look without a call. */
  readonly isDryRun?: boolean | undefined;
  /** What the call will use of the quota, where that is reserved. */
  readonly reservation?: Claim | undefined;
}

export function openLease(leased: LeasedAccount, sources: LeaseSources): Lease {
  const { account, upstream, modelId, load, considered, preferenceFollowed } = leased;
  const startedAt = sources.clock.now();
  let isOpen = true;
  let hasAnswered = false;
  let wasWithdrawn = false;
  /** What the upstream refused, when the credential is asked for again. */
  let lastGiven: string | undefined;
  const isCounted = leased.isDryRun !== true;
  load.inFlight += 1;
  if (isCounted) sources.overloads.noteStart(upstream.id, modelId, startedAt);
  return {
    account: viewOf(account),
    upstream,
    modelId,
    listedModel: account.models?.get(modelId),
    considered,
    preferenceFollowed,
    canRefresh: account.record.kind !== 'api-key',
    async access(options): Promise<AccountAccess> {
      const current = sources.book.find(account.record.id);
      if (current !== undefined && mayServe(current)) {
        const given = await sources.tokens.accessFor(current, { ...options, refused: lastGiven });
        lastGiven = given.credential;
        return given;
      }
      wasWithdrawn = true;
      throw withdrawn();
    },
    noteAnswer() {
      if (!isOpen || hasAnswered) return;
      hasAnswered = true;
      if (isCounted) noteOverload(leased, 'success', sources);
      const { book } = sources;
      book.apply(account.record.id, { kind: 'success', model: modelId, startedAt });
    },
    release(outcome) {
      if (!isOpen) return;
      isOpen = false;
      load.inFlight -= 1;
      if (isCounted && !hasAnswered) noteOverload(leased, overloadOutcome(outcome), sources);
      if (outcome.kind === 'success') leased.reservation?.settle(sources.clock.now());
      else leased.reservation?.release();
      if (wasWithdrawn) return;
      settle({ leased, outcome, startedAt }, sources);
      sources.onOutcome?.(account.record.id, modelId, outcome);
    },
  };
}

function noteOverload(
  { upstream, modelId }: LeasedAccount,
  outcome: OverloadOutcome,
  { overloads, clock }: LeaseSources,
): void {
  overloads.noteEnd(upstream.id, modelId, { now: clock.now(), outcome });
}

function overloadOutcome(outcome: LeaseOutcome): OverloadOutcome {
  if (outcome.kind === 'success') return 'success';
  if (outcome.kind === 'neutral') return 'unknown';
  const isOverload = outcome.kind === 'failure' && outcome.failure.kind === 'overloaded';
  return isOverload ? 'overloaded' : 'answered';
}

export function viewOf({ record, models }: Account): AccountView {
  const { id, label, tier, upstreamId } = record;
  return { id, label, tier, upstreamId, models };
}

const LONGEST_REST_MS = 60_000;
const SERVED_LATELY_MS = 300_000;

interface Settlement {
  readonly leased: LeasedAccount;
  readonly outcome: LeaseOutcome;
  readonly startedAt: number;
}

function settle({ leased, outcome, startedAt }: Settlement, sources: LeaseSources): void {
  const { book, shares, clock } = sources;
  const { account, modelId: model, asker } = leased;
  const { id, kind } = account.record;
  const end = { ...asker, accountId: id, model, at: clock.now() };
  switch (outcome.kind) {
    case 'neutral':
      return;
    case 'doubted':
      sources.onDoubt(id, model);
      return;
    case 'success':
      shares.note({ ...end, failure: undefined });
      book.apply(id, { kind: 'success', model, startedAt });
      return;
    case 'failure': {
      const { failure, fingerprint } = outcome;
      shares.note({ ...end, failure, fingerprint });
      restLowered(end, failure, shares);
      if (failure.kind === 'model-not-found' && !isMissing(leased, sources)) return;
      const servedAt = shares.servedAt(id, failure.kind === 'unauthenticated' ? undefined : model);
      const isKey = kind === 'api-key';
      book.apply(id, { kind: 'failure', model, failure, startedAt, servedAt, isKey });
      return;
    }
    default:
      outcome satisfies never;
  }
}

/** A wait that a single answer asks for is one prompt's; where most fail, others go before the account. */
function restLowered(
  { accountId, model, at }: { accountId: string; model: string; at: number },
  { kind, retryAfterMs }: UpstreamFailure,
  shares: SuccessShares,
): void {
  if (kind !== 'overloaded' || retryAfterMs === undefined) return;
  const share = shares.shareOf(accountId, model, at);
  if (share !== undefined && share < 0.5) {
    shares.rest(accountId, model, at + Math.min(retryAfterMs, LONGEST_REST_MS));
  }
}

/** A 404 tells that the account has no such model only where neither its list nor an answer says otherwise. */
/** Whoever stands by was asked for by name. */
function mayServe({ health: { status } }: Account): boolean {
  return status.kind !== 'disabled' || status.reason === 'standing-by';
}

function isMissing({ account, modelId }: LeasedAccount, { shares, clock }: LeaseSources): boolean {
  const servedAt = shares.servedAt(account.record.id, modelId) ?? Number.NEGATIVE_INFINITY;
  const isListed = account.models?.has(modelId) ?? true;
  return !isListed && servedAt < clock.now() - SERVED_LATELY_MS;
}

/** The account was removed or disabled after it was chosen: another one serves. */
function withdrawn(): GatewayError {
  return new GatewayError({
    kind: 'upstream-auth',
    source: 'gateway',
    message: told`The account was taken out of use while the request was under way.`,
    failure: { kind: 'credential-revoked' },
  });
}
