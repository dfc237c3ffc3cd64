// Reserves what calls of image models will use of an account's quota, before they are sent.

import type { Account, QuotaReading } from '../accounts/account.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import { isExhausted, knownQuota } from './eligibility.ts';
import type { CallLimit } from './pool.ts';
import { type Claim, type KnownCount, QuotaLedger } from './quota-ledger.ts';

interface QuotaReservationsOptions {
  readonly upstreams: { get(id: string): Pick<Upstream, 'capabilities'> | undefined };
  /** The operator's figure or a learned one, for upstreams that do not count to the call. */
  readonly limitOf: CallLimit;
  /** Told when a reservation leaves an account nothing, and when one that did is given back. */
  readonly onChange: (accountId: string) => void;
}

const MAX_MODELS = 1000;

/**
 * Only models that draw: their quotas are of few calls, and each call is dear. They live in memory
 * alone: what was under way when the process ended is under way no more, and the figures that are
 * read again show what it used.
 */
export class QuotaReservations {
  readonly #options: QuotaReservationsOptions;
  /** By account and model. */
  readonly #ledgers = new Map<string, Map<string, AccountLedger>>();
  /** What a model can do is asked once: the answer stays as long as the upstream object does. */
  readonly #drawing = new WeakMap<object, Map<string, boolean>>();

  constructor(options: QuotaReservationsOptions) {
    this.#options = options;
  }

  /** False when calls under way have reserved all that is left. True where nobody knows how much that is. */
  hasRoom(account: Account, modelId: string, now: number): boolean {
    // Before the first call nothing is reserved.
    const ledger = this.#ledgers.get(account.record.id)?.get(modelId);
    return ledger === undefined || ledger.at(account, now).room !== 0;
  }

  /** Undefined for models whose calls are not reserved. */
  reserve(account: Account, modelId: string, now: number): Claim | undefined {
    const { id, upstreamId } = account.record;
    const upstream = this.#options.upstreams.get(upstreamId);
    const draws =
      upstream && (this.#drawing.get(upstream)?.get(modelId) ?? this.#ask(upstream, modelId));
    if (draws !== true) return undefined;
    const byModel = this.#ledgers.get(id) ?? new Map<string, AccountLedger>();
    this.#ledgers.set(id, byModel);
    const { limitOf, onChange } = this.#options;
    const ledger = byModel.get(modelId) ?? new AccountLedger(modelId, limitOf);
    byModel.set(modelId, ledger);
    const claim = ledger.at(account, now).reserve(now);
    if (ledger.room === 0) onChange(id);
    return {
      settle: (at) => claim.settle(at),
      release() {
        const hadRoom = ledger.room !== 0;
        claim.release();
        if (!hadRoom) onChange(id);
      },
    };
  }

  forget(accountId: string): void {
    this.#ledgers.delete(accountId);
  }

  #ask(upstream: Pick<Upstream, 'capabilities'>, modelId: string): boolean {
    const models = this.#drawing.get(upstream) ?? new Map<string, boolean>();
    this.#drawing.set(upstream, models);
    const draws = upstream.capabilities(modelId, undefined).drawsImages;
    // Clients may name any model.
    if (models.size >= MAX_MODELS) models.clear();
    models.set(modelId, draws);
    return draws;
  }
}

/** Undefined where neither the upstream nor a limit says how many calls a share is. */
function countOf(
  reading: QuotaReading | undefined,
  limit: number | undefined,
): KnownCount | undefined {
  if (reading === undefined) {
    const unused = { readAt: undefined, resetsAt: undefined };
    return limit === undefined ? undefined : { calls: limit, ...unused };
  }
  const { remainingFraction, remainingCalls, resetsAt, fetchedAt: readAt } = reading;
  if (isExhausted(reading)) return { calls: 0, readAt, resetsAt };
  const share = limit === undefined ? undefined : Math.round(limit * remainingFraction);
  const calls = remainingCalls ?? share;
  // A share above nothing is at least a call.
  return calls === undefined ? undefined : { calls: Math.max(1, calls), readAt, resetsAt };
}

/** The ledger of one model of one account, told what is known of the quota when it is asked. */
class AccountLedger extends QuotaLedger {
  readonly #modelId: string;
  readonly #limitOf: CallLimit;
  #reading: QuotaReading | undefined;
  #limit: number | undefined;
  #count: KnownCount | undefined;

  constructor(modelId: string, limitOf: CallLimit) {
    super();
    this.#modelId = modelId;
    this.#limitOf = limitOf;
  }

  at(account: Account, now: number): this {
    const quota = knownQuota(account, this.#modelId, now);
    const reading = quota && account.quotas.get(this.#modelId);
    const limit = this.#limitOf(account, this.#modelId);
    if (reading !== this.#reading || limit !== this.#limit) {
      [this.#reading, this.#limit] = [reading, limit];
      this.#count = countOf(reading, limit);
    }
    this.learn(this.#count, now);
    return this;
  }
}
