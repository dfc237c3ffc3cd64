// The figures behind exact counters, kept in one process: alone, as the parent of workers, or while Valkey is away.

import type { Clock } from '../lib/clock.ts';
import type { Bank, CounterName, CountWindow, CreditGrant, CreditRequest } from './cluster.ts';

const SECONDS = 60;
/** A counter is forgotten when nobody used it for so long; a long one counts for a month. */
const KEPT_MS = { minute: 48, named: 48, long: 40 * 24 } as const;
const HOUR_MS = 3_600_000;
const SWEEP_EVERY = 1000;

interface Entry {
  /** Second since the epoch → amount, in order; a named counter has one. */
  readonly amounts: Map<number, number>;
  readonly window: CountWindow;
  usedAt: number;
}

export class LocalBank implements Bank {
  readonly isLocal = true;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #entries = new Map<string, Entry>();
  /** Of each member what it holds: counter → amount. */
  readonly #held = new Map<string, Map<string, number>>();
  #untilSweep = SWEEP_EVERY;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** @param member who asks, where there are several */
  lease(request: CreditRequest, member = ''): CreditGrant {
    const { counter, window, limit, amount, isHeld = false } = request;
    const now = this.#clock.now();
    const { amounts } = this.#entryOf(request, now);
    const used = totalOf(amounts, window, now);
    const granted = grantOf(request, limit - used);
    if (granted > 0) addTo(amounts, window, now, granted);
    if (isHeld) this.#hold(member, counter, granted);
    const canWait = granted < amount && window === 'minute';
    const retryAfterMs = canWait ? waitUntil(amounts, limit - amount, now) : 0;
    return { granted, used: used + granted, retryAfterMs };
  }

  giveBack({ counter, window }: CounterName, amount: number, held = 0, member = ''): void {
    const known = Math.min(held, this.#held.get(member)?.get(counter) ?? 0);
    this.#hold(member, counter, -known);
    this.#return(counter, window, amount - (held - known));
  }

  /** What a member held that is gone is there again. */
  release(member: string): void {
    for (const [counter, amount] of this.#held.get(member) ?? []) {
      const window = this.#entries.get(counter)?.window;
      if (window !== undefined) this.#return(counter, window, amount);
    }
    this.#held.delete(member);
  }

  #hold(member: string, counter: string, amount: number): void {
    if (amount === 0) return;
    const ofMember = this.#held.get(member) ?? new Map<string, number>();
    this.#held.set(member, ofMember);
    const held = (ofMember.get(counter) ?? 0) + amount;
    if (held > 0) ofMember.set(counter, held);
    else ofMember.delete(counter);
  }

  #return(counter: string, window: CountWindow, amount: number): void {
    const amounts = this.#entries.get(counter)?.amounts;
    if (amounts === undefined) return;
    if (amount < 0) {
      addTo(amounts, window, this.#clock.now(), -amount);
      return;
    }
    let left = amount;
    // The newest first: what is given back was granted a moment ago.
    for (const second of [...amounts.keys()].reverse()) {
      const taken = Math.min(left, amounts.get(second) ?? 0);
      amounts.set(second, (amounts.get(second) ?? 0) - taken);
      left -= taken;
    }
  }

  #entryOf({ counter, window, initial }: CreditRequest, now: number): Entry {
    this.#untilSweep -= 1;
    if (this.#untilSweep <= 0) this.#sweep(now);
    const known = this.#entries.get(counter);
    if (known !== undefined) {
      known.usedAt = now;
      return known;
    }
    const entry: Entry = { amounts: new Map(), window, usedAt: now };
    if (initial > 0) addTo(entry.amounts, window, now, initial);
    this.#entries.set(counter, entry);
    return entry;
  }

  #sweep(now: number): void {
    this.#untilSweep = Math.max(SWEEP_EVERY, this.#entries.size);
    for (const [counter, { usedAt, window }] of this.#entries) {
      if (Math.abs(now - usedAt) > KEPT_MS[window] * HOUR_MS) this.#entries.delete(counter);
    }
  }
}

/** All of the amount, and of the rest of the batch a fair part of what is left; or nothing. */
function grantOf({ amount, batch }: CreditRequest, room: number): number {
  if (amount > room) return 0;
  const spare = Math.floor((room - amount) / 8);
  return amount + Math.max(0, Math.min(batch - amount, spare));
}

function addTo(
  amounts: Map<number, number>,
  window: CreditRequest['window'],
  now: number,
  amount: number,
): void {
  const second = window === 'minute' ? Math.floor(now / 1000) : 0;
  amounts.set(second, (amounts.get(second) ?? 0) + amount);
}

function totalOf(
  amounts: Map<number, number>,
  window: CreditRequest['window'],
  now: number,
): number {
  if (window !== 'minute') return amounts.get(0) ?? 0;
  const second = Math.floor(now / 1000);
  let sum = 0;
  for (const [known, amount] of amounts) {
    // A clock that was set back must not keep a count for ever.
    if (second - known >= SECONDS || known > second) amounts.delete(known);
    else sum += amount;
  }
  return sum;
}

/** Milliseconds until at most `most` of what is counted now still counts. */
function waitUntil(amounts: ReadonlyMap<number, number>, most: number, now: number): number {
  let left = [...amounts.values()].reduce((sum, amount) => sum + amount, 0);
  for (const [second, amount] of amounts) {
    if (left <= most) break;
    left -= amount;
    if (left <= most) return (second + SECONDS) * 1000 - now;
  }
  return 0;
}
