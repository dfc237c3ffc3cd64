// Reserves what calls of image models will use of an account's quota, before they are sent.

import type { Account, QuotaReading } from '../accounts/account.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import { isExhausted, knownQuota } from './eligibility.ts';
import type { CallLimit } from './pool.ts';

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

/** What is known of the quota; the same object as long as nothing newer is known. */
interface KnownCount {
  readonly calls: number;
  /** When the upstream was asked, in milliseconds since the epoch; undefined for a limit nobody has used yet. */
  readonly readAt: number | undefined;
  /** When its window ends; undefined when nobody knows. */
  readonly resetsAt: number | undefined;
}

/** A reserved call. End it once: `settle` when it was answered, `release` when it was not. */
export interface Claim {
  settle(now: number): void;
  release(): void;
}

interface OpenClaim {
  readonly startedAt: number;
  settledAt: number | undefined;
}

/**
 * A figure that comes while calls are under way counts some of them already, and nobody says which:
 * what is left then lies between the figure and the figure without all of them, and what was known
 * before decides where. Each call is so counted once, in whatever order figures and endings come.
 */
export class QuotaLedger {
  readonly #claims = new Set<OpenClaim>();
  #known: KnownCount | undefined;
  #room = 0;

  /** Takes what is known now. Cheap while it is what was known before. */
  learn(known: KnownCount | undefined, now: number): void {
    const before = this.#known;
    if (known === before) return;
    this.#known = known;
    const at = known?.readAt ?? now;
    this.#forgetCounted(at);
    if (known === undefined) return;
    const lowest = known.calls - this.#claims.size;
    const isSameWindow = before !== undefined && !isOver(before, at);
    this.#room = isSameWindow ? Math.max(lowest, Math.min(this.#room, this.#mostRoom())) : lowest;
  }

  /** Calls that may begin now; undefined while nobody knows. */
  get room(): number | undefined {
    return this.#known === undefined ? undefined : Math.max(0, this.#room);
  }

  /** For bounds in tests: calls that are reserved or not yet counted by a figure. */
  get size(): number {
    return this.#claims.size;
  }

  /** The caller has made sure that there is room. */
  reserve(startedAt: number): Claim {
    const claim: OpenClaim = { startedAt, settledAt: undefined };
    this.#claims.add(claim);
    this.#room -= 1;
    return {
      settle: (now) => {
        if (!this.#claims.has(claim) || claim.settledAt !== undefined) return;
        claim.settledAt = now;
        // Nothing is reserved of what nobody knows: the next figure tells.
        if (this.#known === undefined) this.#claims.delete(claim);
      },
      release: () => {
        if (claim.settledAt !== undefined || !this.#claims.delete(claim)) return;
        this.#room = Math.min(this.#room + 1, this.#mostRoom());
      },
    };
  }

  /** Calls that began after the upstream was asked are surely not in its figure. */
  #mostRoom(): number {
    if (this.#known === undefined) return Number.POSITIVE_INFINITY;
    const { calls, readAt = Number.NEGATIVE_INFINITY } = this.#known;
    let uncounted = 0;
    for (const { startedAt } of this.#claims) if (startedAt > readAt) uncounted += 1;
    return calls - uncounted;
  }

  /** What was answered before the upstream was asked is in its figure. */
  #forgetCounted(at: number): void {
    for (const claim of this.#claims) {
      if (claim.settledAt !== undefined && claim.settledAt <= at) this.#claims.delete(claim);
    }
  }
}

function isOver({ resetsAt }: KnownCount, at: number): boolean {
  return resetsAt !== undefined && resetsAt <= at;
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
