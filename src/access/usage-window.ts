// The usage of one API key: per minute, per day, reserved by running calls, and its addresses.

import type { Counter, Counters, Taken } from '../cluster/counters.ts';
import type { Clock } from '../lib/clock.ts';
import type { DayUse, KeyLimits, StoredKey } from './api-key.ts';

/** What a call will use as far as is known before it runs. */
export interface CallCost {
  /** The most it may use: estimated input, and what it may answer. */
  readonly tokens: number;
  /** Exact. */
  readonly images: number;
}

export interface Reservation {
  /** What it really used; what is absent counts as reserved. Counts once. */
  settle(used: Partial<CallCost>): void;
}

export interface MeterRefusal {
  readonly kind: 'requests-per-minute' | 'tokens-per-minute' | 'daily-tokens' | 'daily-images';
  readonly retryAfterMs: number;
  /** What would still pass today. */
  readonly left?: number;
}

interface MeterOptions {
  /** Of the key: its counters have the same names in every process. */
  readonly id: string;
  readonly counters: Counters;
  readonly clock: Pick<Clock, 'now'>;
  /** Called when there is something to save; what is new in it is for the other processes. */
  onUse(use: NewUse): void;
}

/** What one process adds to the use of a key. */
export interface NewUse {
  readonly requests?: number;
  readonly tokens?: number;
  readonly images?: number;
  /** That came for the first time within a day. */
  readonly address?: string;
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** One thing that is taken for a call: all of them, or none. */
interface Want {
  readonly kind: MeterRefusal['kind'];
  readonly counter: Counter;
  readonly limit: number;
  /** Taken, or the call is refused. */
  readonly amount: number;
  /** Counts too, but refuses nothing. */
  readonly beyond: number;
}

export class UsageMeter {
  /** Address → when it came last, the latest last. */
  readonly addresses: Map<string, number>;
  readonly #options: MeterOptions;
  readonly #requests: Counter;
  readonly #tokens: Counter;
  #use: DayUse;
  /** The counters of the day that has limits; those of another day are others. */
  #day: { readonly day: string; tokens?: Counter; images?: Counter };

  constructor(stored: Pick<StoredKey, 'use' | 'addresses'>, options: MeterOptions) {
    const { id, counters } = options;
    this.#options = options;
    this.#requests = counters.open(`key ${id} requests`, 'minute');
    this.#tokens = counters.open(`key ${id} tokens`, 'minute');
    this.#use = stored.use ?? emptyDay(0);
    this.#day = { day: '' };
    this.addresses = new Map([...stored.addresses].sort(([, left], [, right]) => left - right));
  }

  dayUse(now = this.#options.clock.now()): DayUse {
    const day = dayOf(now);
    if (this.#use.day !== day) this.#use = emptyDay(now);
    return this.#use;
  }

  /** What another process counted; it saves that itself. */
  addUse({ requests = 0, tokens = 0, images = 0, address }: NewUse): void {
    const now = this.#options.clock.now();
    const use = this.dayUse(now);
    this.#use = {
      ...use,
      requests: use.requests + requests,
      tokens: use.tokens + tokens,
      images: use.images + images,
    };
    if (address === undefined) return;
    this.addresses.delete(address);
    this.addresses.set(address, now);
  }

  /**
   * False when it would be one address too many within a day. Without a limit none are remembered: of a
   * key that many people share they would be many, and each saving writes all of them.
   */
  takeAddress(visitor: string, most: number | undefined): boolean {
    const { clock, onUse } = this.#options;
    if (most === undefined) {
      this.addresses.clear();
      onUse({});
      return true;
    }
    const now = clock.now();
    for (const [known, seenAt] of this.addresses) {
      // What a clock that was ahead wrote down must not count until that time comes.
      if (Math.abs(now - seenAt) < DAY_MS) break;
      this.addresses.delete(known);
    }
    const isKnown = this.addresses.delete(visitor);
    if (!isKnown && this.addresses.size >= most) return false;
    this.addresses.set(visitor, now);
    if (!isKnown) onUse({ address: visitor });
    return true;
  }

  /**
   * Counts the request, unless a limit refuses it. At once, but where other processes count as well and this
   * one has nothing in stock.
   */
  reserve(
    cost: CallCost,
    limits: KeyLimits,
  ): Reservation | MeterRefusal | Promise<Reservation | MeterRefusal> {
    const wants = this.#wants(cost, limits);
    const reserved = (refusal: MeterRefusal | undefined) =>
      refusal ?? this.#reservation(cost, wants);
    const refusal = takeAll(wants, 0, this.#options.clock);
    return refusal instanceof Promise ? refusal.then(reserved) : reserved(refusal);
  }

  /** Images of a day and requests of a minute are exact; tokens of a day are reserved, those of a minute pass while any are left. */
  #wants(cost: CallCost, limits: KeyLimits): readonly Want[] {
    const { requestsPerMinute, tokensPerMinute, dailyTokens, dailyImages } = limits;
    const wants: Want[] = [];
    if (dailyTokens !== undefined) {
      const counter = this.#ofDay('tokens');
      const amount = Math.max(1, cost.tokens);
      wants.push({ kind: 'daily-tokens', counter, limit: dailyTokens, amount, beyond: 0 });
    }
    if (dailyImages !== undefined && cost.images > 0) {
      const counter = this.#ofDay('images');
      wants.push({
        ...{ kind: 'daily-images', counter, limit: dailyImages },
        ...{ amount: cost.images, beyond: 0 },
      });
    }
    if (requestsPerMinute !== undefined) {
      const counter = this.#requests;
      wants.push({
        ...{ kind: 'requests-per-minute', counter, limit: requestsPerMinute },
        ...{ amount: 1, beyond: 0 },
      });
    }
    if (tokensPerMinute !== undefined) {
      wants.push({
        ...{ kind: 'tokens-per-minute', counter: this.#tokens, limit: tokensPerMinute },
        ...{ amount: 1, beyond: Math.max(0, cost.tokens - 1) },
      });
    }
    return wants;
  }

  #ofDay(what: 'tokens' | 'images'): Counter {
    const use = this.dayUse();
    if (this.#day.day !== use.day) this.#day = { day: use.day };
    const { id, counters } = this.#options;
    this.#day[what] ??= counters.open(`key ${id} ${what} ${use.day}`, 'named', {
      initial: use[what],
      hasStock: what === 'tokens',
    });
    return this.#day[what];
  }

  #reservation(cost: CallCost, wants: readonly Want[]): Reservation {
    const { clock } = this.#options;
    const startedAt = clock.now();
    this.#count({ requests: 1 });
    const taken = new Map(wants.map(({ counter, amount, beyond }) => [counter, amount + beyond]));
    // Of yesterday perhaps, when the call ends after midnight.
    const { tokens: dayTokens, images: dayImages } = this.#day;
    let isOpen = true;
    const settleOne = (counter: Counter | undefined, used: number): void =>
      counter?.giveBack((taken.get(counter) ?? 0) - used);
    return {
      settle: (used) => {
        if (!isOpen) return;
        isOpen = false;
        const { tokens = cost.tokens, images = cost.images } = used;
        settleOne(dayTokens, tokens);
        settleOne(dayImages, images);
        if (taken.has(this.#tokens)) {
          // What was reserved longer ago counts no more.
          const isOver = clock.now() - startedAt >= MINUTE_MS;
          this.#tokens.giveBack(isOver ? -tokens : (taken.get(this.#tokens) ?? 0) - tokens);
        }
        this.#count({ tokens, images });
      },
    };
  }

  #count(use: NewUse): void {
    this.addUse(use);
    this.#options.onUse(use);
  }
}

/** Undefined when all were taken; else nothing was. */
function takeAll(
  wants: readonly Want[],
  from: number,
  clock: Pick<Clock, 'now'>,
): MeterRefusal | undefined | Promise<MeterRefusal | undefined> {
  for (let index = from; index < wants.length; index += 1) {
    const want = wants[index];
    if (want === undefined) break;
    const { counter, amount, limit, beyond } = want;
    const settle = (taken: Taken): MeterRefusal | undefined => {
      if (taken.isTaken) {
        if (beyond > 0) counter.giveBack(-beyond);
        return undefined;
      }
      for (const before of wants.slice(0, index))
        before.counter.giveBack(before.amount + before.beyond);
      return refusalOf(want, taken, clock.now());
    };
    const taken = counter.take(amount, limit);
    if (taken instanceof Promise) {
      return taken.then((outcome) => settle(outcome) ?? takeAll(wants, index + 1, clock));
    }
    const refusal = settle(taken);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

type Refused = Extract<Taken, { isTaken: false }>;

function refusalOf({ kind }: Want, { retryAfterMs, left }: Refused, now: number): MeterRefusal {
  switch (kind) {
    case 'daily-tokens':
    case 'daily-images':
      return { kind, retryAfterMs: DAY_MS - (now % DAY_MS), left };
    case 'requests-per-minute':
      return { kind, retryAfterMs };
    case 'tokens-per-minute':
      return { kind, retryAfterMs: Math.max(1000, retryAfterMs) };
    default:
      return kind satisfies never;
  }
}

function dayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

function emptyDay(now: number): DayUse {
  return { day: dayOf(now), requests: 0, tokens: 0, images: 0 };
}
