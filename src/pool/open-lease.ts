// A lease: one account lent to one attempt, and what the attempt's end means for the account.

import type { Account } from '../accounts/account.ts';
import type { AccountBook } from '../accounts/account-book.ts';
import type { TokenSource } from '../accounts/token-source.ts';
import { GatewayError } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import { told } from '../lib/told.ts';
import type { AccountAccess, Upstream } from '../upstreams/upstream.ts';
import type { AccountLoad } from './candidate.ts';
import type { Overloads } from './overload.ts';
import type { AccountView, Considered, Lease, LeaseOutcome } from './pool.ts';
import type { Claim } from './quota-ledger.ts';

export interface LeaseSources {
  readonly book: Pick<AccountBook, 'find' | 'apply'>;
  readonly tokens: TokenSource;
  readonly overloads: Overloads;
  readonly clock: Pick<Clock, 'now'>;
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
  /** What the call will use of the quota, where that is reserved. */
  readonly reservation?: Claim | undefined;
}

export function openLease(leased: LeasedAccount, sources: LeaseSources): Lease {
  const { account, upstream, modelId, load, considered, preferenceFollowed } = leased;
  const startedAt = sources.clock.now();
  let isOpen = true;
  let wasWithdrawn = false;
  /** What the upstream refused, when the credential is asked for again. */
  let lastGiven: string | undefined;
  load.inFlight += 1;
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
      if (current !== undefined && current.health.status.kind !== 'disabled') {
        const given = await sources.tokens.accessFor(current, { ...options, refused: lastGiven });
        lastGiven = given.credential;
        return given;
      }
      wasWithdrawn = true;
      throw withdrawn();
    },
    release(outcome) {
      if (!isOpen) return;
      isOpen = false;
      load.inFlight -= 1;
      if (outcome.kind === 'success') leased.reservation?.settle(sources.clock.now());
      else leased.reservation?.release();
      if (wasWithdrawn) return;
      settle({ leased, outcome, startedAt }, sources);
      sources.onOutcome?.(account.record.id, modelId, outcome);
    },
  };
}

export function viewOf({ record, models }: Account): AccountView {
  const { id, label, tier, upstreamId } = record;
  return { id, label, tier, upstreamId, models };
}

interface Settlement {
  readonly leased: LeasedAccount;
  readonly outcome: LeaseOutcome;
  readonly startedAt: number;
}

function settle(
  { leased, outcome, startedAt }: Settlement,
  { book, overloads, clock }: LeaseSources,
): void {
  const { account, upstream, modelId: model } = leased;
  const { id } = account.record;
  switch (outcome.kind) {
    case 'neutral':
      return;
    case 'success':
      overloads.noteAnswer(upstream.id, model, startedAt);
      book.apply(id, { kind: 'success', model, startedAt });
      return;
    case 'failure': {
      const { failure } = outcome;
      if (failure.kind === 'overloaded') {
        const { retryAfterMs } = failure;
        overloads.add(upstream.id, model, { now: clock.now(), startedAt, retryAfterMs });
      }
      book.apply(id, { kind: 'failure', model, failure, startedAt });
      return;
    }
    default:
      outcome satisfies never;
  }
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
