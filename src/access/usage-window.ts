// The usage of one API key: its rates per minute, what it used today, and its addresses.

import { clientError } from '../canonical/error.ts';
import type { Counter, Counters } from '../cluster/counters.ts';
import type { Clock } from '../lib/clock.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import type { DayUse, KeyLimits, StoredKey } from './api-key.ts';
import { type CallCost, type CallUse, sayCount, sayWait, type Want } from './reservation.ts';

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

export interface LimitState {
  readonly limit: number;
  readonly remaining: number;
  /** Until all of it is there again. */
  readonly resetMs: number;
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

export class UsageMeter {
  /** Address → when it came last, the latest last. */
  readonly addresses: Map<string, number>;
  readonly #options: MeterOptions;
  readonly #requests: Counter;
  readonly #tokens: Counter;
  #use: DayUse;

  constructor(stored: Pick<StoredKey, 'use' | 'addresses'>, options: MeterOptions) {
    const { id, counters } = options;
    this.#options = options;
    this.#requests = counters.open(`key ${id} requests`, 'minute');
    this.#tokens = counters.open(`key ${id} tokens`, 'minute');
    this.#use = stored.use ?? emptyDay(0);
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

  /** The rates are exact of requests; tokens pass while any are left. */
  wants({ requestsPerMinute, tokensPerMinute }: KeyLimits): readonly Want[] {
    const wants: Want[] = [];
    if (requestsPerMinute !== undefined) {
      const what = told`${sayCount(requestsPerMinute, 'request')} a minute`;
      wants.push(rateWant(this.#requests, requestsPerMinute, { what, leastWaitMs: 0 }));
    }
    if (tokensPerMinute !== undefined) {
      const what = told`${sayCount(tokensPerMinute, 'token')} a minute`;
      wants.push(rateWant(this.#tokens, tokensPerMinute, { what, leastWaitMs: 1000 }));
    }
    return wants;
  }

  /** Counts a call that was let through. @returns what takes its real use, once it has ended */
  begin(
    cost: CallCost,
    { tokensPerMinute }: KeyLimits,
  ): (used: Pick<CallUse, 'tokens' | 'images'>) => void {
    const { clock } = this.#options;
    const startedAt = clock.now();
    this.#count({ requests: 1 });
    const isRated = tokensPerMinute !== undefined;
    const reserved = Math.max(1, cost.tokens);
    // One was taken, the others count too but refused nothing.
    if (isRated) this.#tokens.giveBack(1 - reserved);
    return ({ tokens, images }) => {
      if (isRated) {
        // What was reserved longer ago counts no more.
        const isOver = clock.now() - startedAt >= MINUTE_MS;
        this.#tokens.giveBack(isOver ? -tokens : reserved - tokens);
      }
      this.#count({ tokens, images });
    };
  }

  rateStates({ requestsPerMinute, tokensPerMinute }: KeyLimits) {
    return {
      requests: stateOf(this.#requests, requestsPerMinute),
      tokens: stateOf(this.#tokens, tokensPerMinute),
    };
  }

  #count(use: NewUse): void {
    this.addUse(use);
    this.#options.onUse(use);
  }
}

interface RateWords {
  readonly what: Sentence;
  readonly leastWaitMs: number;
}

function rateWant(counter: Counter, limit: number, { what, leastWaitMs }: RateWords): Want {
  return {
    counter,
    limit,
    amount: () => 1,
    refuse(refused) {
      const retryAfterMs = Math.max(leastWaitMs, refused.retryAfterMs);
      const message = told`This key has used its ${what}. It can go on in ${sayWait(retryAfterMs)}.`;
      return clientError('rate-limited', message, { retryAfterMs });
    },
  };
}

function stateOf(counter: Counter, limit: number | undefined): LimitState | undefined {
  if (limit === undefined) return undefined;
  const { used } = counter;
  return {
    limit,
    remaining: Math.max(0, limit - Math.max(0, used)),
    resetMs: used > 0 ? MINUTE_MS : 0,
  };
}

let lastDay = { number: 0, name: '1970-01-01' };

/** Each request asks, and most for the same one. */
function dayOf(now: number): string {
  const number = Math.floor(now / DAY_MS);
  if (lastDay.number !== number) {
    lastDay = { number, name: new Date(now).toISOString().slice(0, 10) };
  }
  return lastDay.name;
}

function emptyDay(now: number): DayUse {
  return { day: dayOf(now), requests: 0, tokens: 0, images: 0 };
}
