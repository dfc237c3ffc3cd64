// Reserves what calls of image models will use of an account's quota, before they are sent.

import type { Account, QuotaReading } from '../accounts/account.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import { isExhausted, knownQuota } from './known-quota.ts';
import { type Claim, type KnownCount, QuotaLedger } from './quota-ledger.ts';

/** Calls that one window of an account's quota allows. */
export type CallLimit = (account: Account, modelId: string) => number | undefined;

export interface QuotaReservations {
  /** False when calls under way have reserved all that is left. True where nobody knows how much that is. */
  hasRoom(account: Account, modelId: string, now: number): boolean;
  /** Undefined for models whose calls are not reserved. */
  reserve(account: Account, modelId: string, now: number): Reservation | undefined;
  forget(accountId: string): void;
}

export interface Reservation extends Claim {
  /** True while nothing is left beside what is reserved. */
  readonly leavesNone: boolean;
}

export interface QuotaReservationsOptions {
  readonly upstreams: { get(id: string): Pick<Upstream, 'capabilities'> | undefined };
  /** The operator's figure or a learned one, for upstreams that do not count to the call. */
  readonly limitOf: CallLimit;
}

const MOST_MODELS = 1000;

/**
 * Only models that draw: their quotas are of few calls, and each call is dear. They live in memory
 * alone: what was under way when the process ended is under way no more, and the figures that are
 * read again show what it used.
 */
export function createQuotaReservations(options: QuotaReservationsOptions): QuotaReservations {
  const { limitOf } = options;
  const draws = rememberDrawing(options.upstreams);
  const ledgers = new Map<string, Map<string, AccountLedger>>();
  const ledgerOf = (account: Account, modelId: string): AccountLedger => {
    const { id } = account.record;
    const byModel = ledgers.get(id) ?? new Map<string, AccountLedger>();
    ledgers.set(id, byModel);
    const known = byModel.get(modelId);
    if (known !== undefined) return known;
    const ledger = new AccountLedger(modelId, limitOf);
    byModel.set(modelId, ledger);
    return ledger;
  };
  return {
    hasRoom(account, modelId, now) {
      // Before the first call nothing is reserved.
      const ledger = ledgers.get(account.record.id)?.get(modelId);
      return ledger === undefined || ledger.at(account, now).room !== 0;
    },
    reserve(account, modelId, now) {
      if (!draws(account, modelId)) return undefined;
      const ledger = ledgerOf(account, modelId).at(account, now);
      const claim = ledger.reserve(now);
      return {
        settle: (at) => claim.settle(at),
        release: () => claim.release(),
        get leavesNone() {
          return ledger.room === 0;
        },
      };
    },
    forget: (accountId) => void ledgers.delete(accountId),
  };
}

/** The ledger of one model of one account, told what is known of the quota when it is asked. */
class AccountLedger {
  readonly #modelId: string;
  readonly #limitOf: CallLimit;
  readonly #ledger = new QuotaLedger();
  #reading: QuotaReading | undefined;
  #limit: number | undefined;
  #count: KnownCount | undefined;

  constructor(modelId: string, limitOf: CallLimit) {
    this.#modelId = modelId;
    this.#limitOf = limitOf;
  }

  at(account: Account, now: number): QuotaLedger {
    const quota = knownQuota(account, this.#modelId, now);
    const reading = quota && account.quotas.get(this.#modelId);
    const limit = this.#limitOf(account, this.#modelId);
    if (reading !== this.#reading || limit !== this.#limit) {
      [this.#reading, this.#limit] = [reading, limit];
      this.#count = countOf(reading, limit);
    }
    this.#ledger.learn(this.#count, now);
    return this.#ledger;
  }
}

/** Undefined where neither the upstream nor a limit says how many calls a share is. */
function countOf(
  reading: QuotaReading | undefined,
  limit: number | undefined,
): KnownCount | undefined {
  if (reading === undefined) {
    return limit === undefined
      ? undefined
      : { calls: limit, readAt: undefined, resetsAt: undefined };
  }
  const { remainingFraction, remainingCalls, resetsAt, fetchedAt: readAt } = reading;
  if (isExhausted(reading)) return { calls: 0, readAt, resetsAt };
  const share = limit === undefined ? undefined : Math.round(limit * remainingFraction);
  const calls = remainingCalls ?? share;
  // A share above nothing is at least a call.
  return calls === undefined ? undefined : { calls: Math.max(1, calls), readAt, resetsAt };
}

/** What a model can do is asked once: the answer stays as long as the upstream object does. */
function rememberDrawing(
  upstreams: QuotaReservationsOptions['upstreams'],
): (account: Account, modelId: string) => boolean {
  const known = new WeakMap<object, Map<string, boolean>>();
  return ({ record }, modelId) => {
    const upstream = upstreams.get(record.upstreamId);
    if (upstream === undefined) return false;
    const models = known.get(upstream) ?? new Map<string, boolean>();
    known.set(upstream, models);
    const draws = models.get(modelId) ?? upstream.capabilities(modelId, undefined).drawsImages;
    // Clients may name any model.
    if (models.size >= MOST_MODELS) models.clear();
    models.set(modelId, draws);
    return draws;
  };
}
