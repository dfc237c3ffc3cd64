// Reserves what calls of image models will use of an account's quota, before they are sent.

import type { Account, QuotaReading } from '../accounts/account.ts';
import type { ClusterState, Topic } from '../cluster/cluster.ts';
import type { Counter, Counters, Taken } from '../cluster/counters.ts';
import { isExhausted, knownQuota } from './eligibility.ts';
import type { CallLimit, ReservationSharing } from './pool.ts';
import { type Claim, type KnownCount, QuotaLedger } from './quota-ledger.ts';

/** A reservation as the lease ends it. */
interface Reservation extends Claim {
  /** False when the others were faster to reserve what was left; absent where nobody could be. */
  readonly isGranted?: Promise<boolean> | undefined;
}

/** What one process tells the others of a reservation, by a number of its own. */
interface ReservationNotice {
  readonly kind: 'reserve' | 'settle' | 'release';
  readonly account: string;
  readonly model: string;
  readonly claim: number;
  /** Of `reserve`: what was known of the quota, of which the call took a credit. */
  readonly figure?: string | undefined;
}

const TOPIC: Topic<ReservationNotice> = { name: 'image quota 1' };

interface QuotaReservationsOptions {
  /** Without it there are none. */
  readonly sharing?: ReservationSharing | undefined;
  readonly find: (accountId: string) => Account | undefined;
  readonly now: () => number;
  /** The operator's figure or a learned one, for upstreams that do not count to the call. */
  readonly limitOf: CallLimit;
  /** Told when a reservation leaves an account nothing, and when one that did is given back. */
  readonly onChange: (accountId: string) => void;
}

/**
 * Only models that draw: their quotas are of few calls, and each call is dear. They live in memory
 * alone: what was under way when the process ended is under way no more, and the figures that are
 * read again show what it used.
 *
 * Several processes tell each other of their reservations, so that each knows what is left; and as two may
 * reserve the last one at the same moment, each reservation takes a credit of a counter of the figure.
 */
export class QuotaReservations {
  readonly #options: QuotaReservationsOptions;
  /** By account and model. */
  readonly #ledgers = new Map<string, Map<string, AccountLedger>>();
  /** What others have reserved, by their process. */
  readonly #foreign = new Map<string, Map<number, Claim>>();
  readonly #ends: readonly (() => void)[];
  #claims = 0;

  constructor(options: QuotaReservationsOptions) {
    this.#options = options;
    const { cluster } = options.sharing ?? {};
    this.#ends =
      cluster === undefined
        ? []
        : [
            cluster.notices.listen(TOPIC, { take: (notice, from) => this.#take(notice, from) }),
            cluster.subscribe((state) => this.#settleGone(state)),
          ];
  }

  close(): void {
    for (const end of this.#ends) end();
  }

  /** False when calls under way have reserved all that is left. True where nobody knows how much that is. */
  hasRoom(account: Account, modelId: string, now: number): boolean {
    // Before the first call nothing is reserved.
    const ledger = this.#ledgers.get(account.record.id)?.get(modelId);
    return ledger === undefined || ledger.at(account, now).room !== 0;
  }

  /** For a call of a model that draws. */
  reserve(account: Account, modelId: string, now: number): Reservation {
    const { id } = account.record;
    const ledger = this.#ledgerOf(account, modelId);
    const claim = this.#reserve(account, ledger.at(account, now), now);
    const { sharing } = this.#options;
    if (sharing === undefined) return claim;
    this.#claims += 1;
    const name = { account: id, model: modelId, claim: this.#claims };
    const tell = (kind: ReservationNotice['kind'], figure?: string): void =>
      sharing.cluster.notices.tell(TOPIC, { kind, ...name, figure });
    const credit = ledger.takeCredit(id, sharing.counters);
    tell('reserve', ledger.figure);
    return {
      isGranted: credit?.isGranted,
      settle(at) {
        claim.settle(at);
        tell('settle');
      },
      release() {
        claim.release();
        credit?.giveBack();
        tell('release');
      },
    };
  }

  #ledgerOf({ record: { id } }: Account, modelId: string): AccountLedger {
    const byModel = this.#ledgers.get(id) ?? new Map<string, AccountLedger>();
    this.#ledgers.set(id, byModel);
    const ledger = byModel.get(modelId) ?? new AccountLedger(modelId, this.#options.limitOf);
    byModel.set(modelId, ledger);
    return ledger;
  }

  #reserve(account: Account, ledger: AccountLedger, now: number, isUnderKnown?: boolean): Claim {
    const { onChange } = this.#options;
    const { id } = account.record;
    const claim = ledger.reserve(now, isUnderKnown);
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

  #take({ kind, account: id, model, claim, figure }: ReservationNotice, from: string): void {
    const { find, now } = this.#options;
    const ofProcess = this.#foreign.get(from) ?? new Map<number, Claim>();
    this.#foreign.set(from, ofProcess);
    if (kind === 'reserve') {
      const account = find(id);
      if (account === undefined) return;
      const ledger = this.#ledgerOf(account, model).at(account, now());
      ofProcess.set(claim, this.#reserve(account, ledger, now(), figure === ledger.figure));
      return;
    }
    const known = ofProcess.get(claim);
    ofProcess.delete(claim);
    if (kind === 'settle') known?.settle(now());
    else known?.release();
  }

  /** What a process had under way that is gone may have been answered: the next figure tells. */
  #settleGone({ isConnected, replicas }: ClusterState): void {
    if (!isConnected) return;
    for (const [name, claims] of this.#foreign) {
      if (replicas.includes(name)) continue;
      for (const claim of claims.values()) claim.settle(this.#options.now());
      this.#foreign.delete(name);
    }
  }

  forget(accountId: string): void {
    this.#ledgers.delete(accountId);
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
  #counted: KnownCount | undefined;
  #counter: Counter | undefined;

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

  /** What is known, the same in every process: figures are told as they were read. */
  get figure(): string | undefined {
    if (this.#count === undefined) return undefined;
    const { calls, readAt = 'never read', resetsAt = '' } = this.#count;
    return `${readAt} ${calls} ${resetsAt}`;
  }

  /** To be called behind `reserve`. Undefined where nobody knows how much is left. */
  takeCredit(accountId: string, counters: Pick<Counters, 'open'>): Credit | undefined {
    const { allowance } = this;
    if (allowance === undefined || this.#count === undefined) return undefined;
    if (this.#counted !== this.#count) {
      this.#counted = this.#count;
      const name = `image quota ${accountId} ${this.#modelId} ${this.figure}`;
      this.#counter = counters.open(name, 'named');
    }
    const counter = this.#counter;
    const taken = counter?.take(1, allowance);
    if (counter === undefined || taken === undefined) return undefined;
    let isTaken: boolean | undefined;
    const note = (outcome: Taken): boolean => {
      isTaken = outcome.isTaken;
      return isTaken;
    };
    const isGranted = taken instanceof Promise ? taken.then(note) : undefined;
    if (!(taken instanceof Promise) && !note(taken)) return { isGranted: REFUSED, giveBack() {} };
    return {
      isGranted,
      giveBack() {
        if (isTaken === true) counter.giveBack(1);
        else void isGranted?.then((granted) => granted && counter.giveBack(1));
      },
    };
  }
}

interface Credit {
  /** Absent where it was granted at once. */
  readonly isGranted: Promise<boolean> | undefined;
  giveBack(): void;
}

const REFUSED: Promise<boolean> = Promise.resolve(false);
