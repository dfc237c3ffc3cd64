// The types that the parts of the pool share with dispatch: requests for a lease, leases, candidates.

import type { Account, Tier, TokenSource } from '../accounts/account.ts';
import type { AccountBook } from '../accounts/account-book.ts';
import type { NoAccountReason, SelectionLogEntry } from '../canonical/call-record.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import type { UpstreamModel } from '../canonical/model.ts';
import type { CallNeeds } from '../canonical/needs.ts';
import type { RateLimit } from '../canonical/quota.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Counters } from '../cluster/counters.ts';
import type { Clock } from '../lib/clock.ts';
import type { ExpiringStore } from '../lib/expiring-store.ts';
import type { WarnLog } from '../lib/log.ts';
import type { AccountAccess, Upstream } from '../upstreams/upstream.ts';
import type { Eligibility, FamilyModels } from './eligibility.ts';
import type { ConcurrencyLimits, Place } from './slots.ts';
import type { HealthBand } from './success-shares.ts';

type ProtectionRule = (
  account: Account,
  model: { readonly modelId: string; readonly routedModel: string },
) => boolean;

/** Calls that one window of an account's quota allows. */
export type CallLimit = (account: Account, modelId: string) => number | undefined;

interface ModelListFailure {
  readonly label: string;
  readonly id: string;
  readonly error: unknown;
  /** True where it could not be read the last time either. */
  readonly isRepeated: boolean;
}

export interface PoolOptions {
  readonly book: AccountBook;
  readonly upstreams: { get(id: string): Upstream | undefined };
  readonly tokens: TokenSource;
  readonly settings: () => PoolSettings;
  /** True for an account that is to keep what is left of a model's quota. Asked when accounts change. */
  readonly isProtected: ProtectionRule;
  /** Changes whenever `isProtected` or `upstreams` may answer otherwise for unchanged accounts. */
  readonly rulesVersion: () => unknown;
  /** What a share of a quota is in calls, where the upstream does not say; without it nobody knows. */
  readonly callLimitOf?: CallLimit | undefined;
  /** The most calls at once of accounts and upstreams; without it there is no limit. */
  readonly concurrency?: ConcurrencyLimits | undefined;
  /** Told how each lease ended, whatever it ended in. */
  readonly onOutcome?:
    | ((accountId: string, modelId: string, outcome: LeaseOutcome, draws: boolean) => void)
    | undefined;
  /** Told of every answer whose headers may speak of rate limits; `read` looks at them. */
  readonly onRateLimit?:
    | ((accountId: string, modelId: string, read: () => RateLimit | undefined) => void)
    | undefined;
  /** Which listed models stand for the catalogue's names; without it a name stands for itself alone. */
  readonly families?: (() => FamilyModels) | undefined;
  /** Lets session bindings survive a restart. */
  readonly sessionStore?: ExpiringStore | undefined;
  /** To the other processes that serve the same sessions. */
  readonly notices?: Cluster['notices'] | undefined;
  /** Those who draw with the same accounts; without it this process does alone. */
  readonly sharing?: ReservationSharing | undefined;
  readonly log?: WarnLog | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onModelListFailure: (failed: ModelListFailure) => void;
}

/** The other processes with the same accounts. */
export interface ReservationSharing {
  readonly cluster: Pick<Cluster, 'notices' | 'state' | 'subscribe'>;
  readonly counters: Pick<Counters, 'open'>;
}

export interface LeaseRequest {
  /** The routed model name; the pool asks each account's upstream for its own ids of it. */
  readonly model: string;
  /** The upstream whose accounts alone may serve it; absent for all but those that serve by name only. */
  readonly upstreamId?: string | undefined;
  /** Accounts already tried for this request. */
  readonly exclude?: ReadonlySet<string> | undefined;
  /** Scopes session bindings: one key never reads or moves another's. */
  readonly clientKeyId: string;
  readonly session?: string | undefined;
  /** `X-Preferred-Account`: an e-mail. */
  readonly preferredAccount?: string | undefined;
  /** The label of the account that alone may serve it: where it cannot, none does. */
  readonly onlyAccount?: string | undefined;
  /** `X-Model-Tier`. */
  readonly preferredTier?: Tier | undefined;
  /** What it would lose with whom ranks them; absent where nothing of it can be lost. */
  readonly needs?: CallNeeds | undefined;
  /** How long this request already waited for its session's account, in milliseconds. */
  readonly waitedMs?: number | undefined;
  /** The place that keeps a slot for this request, which waited for it. */
  readonly admitted?: Place | undefined;
  /** True for a look without a call: no session is bound or moved by it. */
  readonly isDryRun?: boolean | undefined;
}

/** One text for what is asked for: model names hold no line breaks. */
export function placeOf({ model, upstreamId }: Pick<LeaseRequest, 'model' | 'upstreamId'>): string {
  return upstreamId === undefined ? model : `${upstreamId}\n${model}`;
}

export type LeaseResult =
  | { readonly kind: 'lease'; readonly lease: Lease }
  /** Mode `cache-first`: the session's own account is free again soon. Wait so long and lease again. */
  | {
      readonly kind: 'wait';
      readonly waitMs: number;
      readonly selectionLog: readonly SelectionLogEntry[];
    }
  /** What could serve it has as many calls under way as it takes: wait for a slot, and lease again. */
  | {
      readonly kind: 'busy';
      readonly places: readonly Place[];
      readonly selectionLog: readonly SelectionLogEntry[];
    }
  | {
      readonly kind: 'none';
      readonly reason: NoAccountReason;
      /** Soonest recovery in milliseconds, when one is known. */
      readonly retryAfterMs?: number | undefined;
      readonly selectionLog: readonly SelectionLogEntry[];
    };

export interface Lease {
  readonly account: AccountView;
  readonly upstream: Upstream;
  readonly modelId: string;
  readonly listedModel: UpstreamModel | undefined;
  /** How well the account served the model lately. */
  band(): HealthBand;
  readonly selectionLog: readonly SelectionLogEntry[];
  /** False when `X-Preferred-Account` was given and another account was chosen. */
  readonly preferenceFollowed: boolean;
  /** False for credentials that cannot be renewed, such as API keys. */
  readonly canRefresh: boolean;
  /** The credential to use now; refreshed first when `refresh` is true. */
  access(options: {
    readonly refresh: boolean;
    readonly signal: AbortSignal;
  }): Promise<AccountAccess>;
  /** Tells the pool that the upstream answers: what that ends need not wait for the end of the answer. */
  noteAnswer(): void;
  /** Tells what an answer says of the rate limits; `read` is called where it is wanted. */
  noteRateLimit(read: () => RateLimit | undefined): void;
  /** Tells the pool how the attempt ended and frees its slot. Call exactly once. */
  release(outcome: LeaseOutcome): void;
}

export type LeaseOutcome =
  | { readonly kind: 'success' }
  | {
      readonly kind: 'failure';
      readonly failure: UpstreamFailure;
      /** Stands for what was asked: the same request of one key counts once in a while. */
      readonly fingerprint?: string | undefined;
    }
  /** The failure says nothing of the account: the client left, or it was the client's own. */
  | { readonly kind: 'neutral' }
  /** A second account refused the same alike: nothing is held against either until one token is asked for. */
  | { readonly kind: 'doubted' };

export interface AccountView {
  readonly id: string;
  /** E-mail or label; of a lease the name by which records tell it from others. */
  readonly label: string;
  readonly upstreamId: string;
  readonly tier: Tier | undefined;
  /** Models the account offers; undefined until its list was read. */
  readonly models: ReadonlyMap<string, UpstreamModel> | undefined;
}

/** Settings the operator may change at run time. */
interface PoolSettings {
  /** `balance`: while the account is free; `cache-first`: waits for it; `performance-first`: no binding. */
  readonly mode: 'balance' | 'cache-first' | 'performance-first';
  readonly maxWaitMs: number;
  /** Id or label of the account that gets every request while it can be used. */
  readonly fixedAccount: string | undefined;
  /** How long a session without requests keeps its account. */
  readonly sessionIdleMs: number;
}

/** How busy an account is; one object an account, shared by the models. */
export interface AccountLoad {
  inFlight: number;
  /** The number of its last use among all uses of the pool; 0 when never used. */
  lastUse: number;
  /** Milliseconds since the epoch; undefined when never used. */
  lastUsedAt: number | undefined;
}

/** Immutable but for its load and its place: what is found anew makes a new candidate. */
export interface Candidate {
  readonly account: Account;
  readonly upstreamId: string;
  /** The account's own id of the model; undefined when it does not offer it. */
  readonly modelId: string | undefined;
  /** Whether the model makes pictures: such calls are few and dear, and reserved. */
  readonly draws: boolean;
  readonly eligibility: Eligibility;
  readonly load: AccountLoad;
  /** Where it stands while it is eligible. */
  place:
    | {
        readonly group: CandidateGroup;
        readonly ranks: Rank[];
        readonly rank: Rank;
        index: number;
      }
    | undefined;
}

/** The accounts that would send the same model id to the same upstream: an overload is theirs together. */
export interface CandidateGroup {
  readonly upstreamId: string;
  readonly modelId: string;
  /** One list of ranks a tier, in the order of `TIERS_BY_ROOM`; highest priority first, none empty. */
  readonly tiers: readonly Rank[][];
  size: number;
  /** So many of them name the model in their list; where none does, that the upstream has it is a guess. */
  listed: number;
}

/** Accounts of the same priority and tier. */
export interface Rank {
  readonly priority: number;
  readonly members: Candidate[];
}

/** The accounts with the most room first. */
export const TIERS_BY_ROOM: readonly (Tier | undefined)[] = ['ultra', 'pro', 'free', undefined];
