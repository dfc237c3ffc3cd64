// The usage of one API key: per minute, per day, reserved by running calls, and its addresses.

import type { Clock } from '../lib/clock.ts';
import type { DayUse, KeyLimits, StoredKey } from './api-key.ts';

/** What a call will use as far as is known before it runs. */
export interface CallCost {
  /** Estimated. */
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
  /** Images that would still pass today. */
  readonly left?: number;
}

export interface MeterOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** Called when there is something to save. */
  onUse(): void;
}

const DAY_MS = 86_400_000;

export class UsageMeter {
  /** Address → when it came last, the latest last. */
  readonly addresses: Map<string, number>;
  readonly #requests = createMinuteWindow();
  readonly #tokens = createMinuteWindow();
  readonly #clock: Pick<Clock, 'now'>;
  readonly #onUse: () => void;
  #use: DayUse;
  #reservedTokens = 0;
  #reservedImages = 0;

  constructor(stored: Pick<StoredKey, 'use' | 'addresses'>, { clock, onUse }: MeterOptions) {
    this.#clock = clock;
    this.#use = stored.use ?? emptyDay(0);
    this.addresses = new Map([...stored.addresses].sort(([, left], [, right]) => left - right));
    this.#onUse = onUse;
  }

  dayUse(now = this.#clock.now()): DayUse {
    const day = dayOf(now);
    if (this.#use.day !== day) this.#use = emptyDay(now);
    return this.#use;
  }

  /**
   * False when it would be one address too many within a day. Without a limit none are remembered: of a
   * key that many people share they would be many, and each saving writes all of them.
   */
  takeAddress(visitor: string, most: number | undefined): boolean {
    if (most === undefined) {
      this.addresses.clear();
      this.#onUse();
      return true;
    }
    const now = this.#clock.now();
    for (const [known, seenAt] of this.addresses) {
      // What a clock that was ahead wrote down must not count until that time comes.
      if (Math.abs(now - seenAt) < DAY_MS) break;
      this.addresses.delete(known);
    }
    const isKnown = this.addresses.delete(visitor);
    if (!isKnown && this.addresses.size >= most) return false;
    this.addresses.set(visitor, now);
    if (!isKnown) this.#onUse();
    return true;
  }

  /** Counts the request, unless a limit refuses it. */
  reserve(cost: CallCost, limits: KeyLimits): Reservation | MeterRefusal {
    const now = this.#clock.now();
    const refusal = this.#refusal(cost, limits, now);
    if (refusal !== undefined) return refusal;
    this.#requests.add(now, 1);
    this.#use = { ...this.#use, requests: this.#use.requests + 1 };
    this.#reservedTokens += cost.tokens;
    this.#reservedImages += cost.images;
    this.#onUse();
    let isOpen = true;
    return {
      settle: (used) => {
        if (!isOpen) return;
        isOpen = false;
        this.#reservedTokens -= cost.tokens;
        this.#reservedImages -= cost.images;
        this.#charge(used.tokens ?? cost.tokens, used.images ?? cost.images);
      },
    };
  }

  #charge(tokens: number, images: number): void {
    const now = this.#clock.now();
    const use = this.dayUse(now);
    this.#tokens.add(now, tokens);
    this.#use = { ...use, tokens: use.tokens + tokens, images: use.images + images };
    this.#onUse();
  }

  /** Tokens pass while anything is left, as nobody knows their number; images only when all fit. */
  #refusal(cost: CallCost, limits: KeyLimits, now: number): MeterRefusal | undefined {
    const { requestsPerMinute, tokensPerMinute, dailyTokens, dailyImages } = limits;
    const use = this.dayUse(now);
    const untilTomorrow = DAY_MS - (now % DAY_MS);
    if (dailyTokens !== undefined && use.tokens + this.#reservedTokens >= dailyTokens) {
      return { kind: 'daily-tokens', retryAfterMs: untilTomorrow };
    }
    const left = (dailyImages ?? 0) - use.images - this.#reservedImages;
    if (dailyImages !== undefined && cost.images > 0 && cost.images > left) {
      return { kind: 'daily-images', retryAfterMs: untilTomorrow, left: Math.max(0, left) };
    }
    if (requestsPerMinute !== undefined && this.#requests.total(now) >= requestsPerMinute) {
      const retryAfterMs = this.#requests.waitUntil(now, requestsPerMinute - 1);
      return { kind: 'requests-per-minute', retryAfterMs };
    }
    if (tokensPerMinute === undefined) return undefined;
    if (this.#tokens.total(now) + this.#reservedTokens < tokensPerMinute) return undefined;
    const most = Math.max(0, tokensPerMinute - 1 - this.#reservedTokens);
    const retryAfterMs = Math.max(1_000, this.#tokens.waitUntil(now, most));
    return { kind: 'tokens-per-minute', retryAfterMs };
  }
}

function dayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

function emptyDay(now: number): DayUse {
  return { day: dayOf(now), requests: 0, tokens: 0, images: 0 };
}

const SECONDS = 60;

/** Counts within the last minute, second by second. */
function createMinuteWindow() {
  /** Second since the epoch → amount, in order. */
  const amounts = new Map<number, number>();
  /** What still counts. */
  const total = (now: number): number => {
    const second = secondOf(now);
    let sum = 0;
    for (const [known, amount] of amounts) {
      // A clock that was set back must not keep a count for ever.
      if (second - known >= SECONDS || known > second) amounts.delete(known);
      else sum += amount;
    }
    return sum;
  };
  return {
    total,
    add(now: number, amount: number): void {
      total(now);
      const second = secondOf(now);
      amounts.set(second, (amounts.get(second) ?? 0) + amount);
    },
    /** Milliseconds until at most `most` of what is counted now still counts. */
    waitUntil(now: number, most: number): number {
      let left = total(now);
      for (const [second, amount] of amounts) {
        if (left <= most) break;
        left -= amount;
        if (left <= most) return (second + SECONDS) * 1000 - now;
      }
      return 0;
    },
  };
}

function secondOf(now: number): number {
  return Math.floor(now / 1000);
}
