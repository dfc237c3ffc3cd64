// Exact counters: a process spends what it holds in stock and fetches more in time; a bank for one alone.

import type { Clock, Timer } from '../lib/clock.ts';
import type { Bank, CounterName, CountWindow, CreditGrant, CreditRequest } from './cluster.ts';

export type Taken =
  | { readonly isTaken: true }
  | {
      readonly isTaken: false;
      /** 0 where time alone does not help before the counter's name changes. */
      readonly retryAfterMs: number;
      /** What would still be granted. */
      readonly left: number;
    };

const TAKEN: Taken = { isTaken: true };
/** Stock is for the use of so long. */
const STOCK_MS = 100;
/** What is not used by then goes back, as others may need it. */
const IDLE_MS = 1000;

type CountersOptions = {
  readonly bank: Bank;
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'startTimer'>;
};

interface OpenOptions {
  readonly initial?: number;
  /** False where what one process holds would be missed by another: each call asks then. */
  readonly hasStock?: boolean;
  /** True where what is taken is held until it is settled, and is there again when this process is gone. */
  readonly isHeld?: boolean;
}

export class Counters {
  readonly #options: CountersOptions;
  readonly #stocked = new Set<Counter>();
  #timer: Timer | undefined;

  constructor(options: CountersOptions) {
    this.#options = options;
  }

  /**
   * @param counter its name, the same in every process
   * @param initial what is used already, as far as is stored
   */
  open(
    counter: string,
    window: CountWindow,
    { initial = 0, hasStock = true, isHeld = false }: OpenOptions = {},
  ) {
    const { bank, clock } = this.#options;
    const keepsStock = hasStock && !bank.isLocal;
    const onStock = this.#onStock;
    return new Counter({ bank, clock, counter, window, initial, keepsStock, isHeld, onStock });
  }

  /** Gives all stock back. */
  close(): void {
    this.#timer?.cancel();
    for (const counter of this.#stocked) counter.release();
    this.#stocked.clear();
  }

  readonly #onStock = (counter: Counter): void => {
    this.#stocked.add(counter);
    this.#timer ??= this.#options.clock.startTimer(IDLE_MS, () => {
      this.#timer = undefined;
      const kept = [...this.#stocked].filter((one) => !one.releaseIdle());
      this.#stocked.clear();
      for (const one of kept) this.#onStock(one);
    });
  };
}

interface CounterOptions extends CountersOptions {
  readonly counter: string;
  readonly window: CountWindow;
  readonly initial: number;
  readonly keepsStock: boolean;
  readonly isHeld: boolean;
  readonly onStock: (counter: Counter) => void;
}

export class Counter {
  readonly #options: CounterOptions;
  /** Granted and not used. */
  #stock = 0;
  #stockedAt = 0;
  /** Of all processes, as last heard. */
  #known = 0;
  #heardAt = 0;
  /** When the bank told it last. */
  #toldAt = Number.NEGATIVE_INFINITY;
  /** As `#known`, without what is held. */
  #learned: number;
  #certain = 0;
  #isFetching = false;
  #spentNow = 0;
  #spentBefore = 0;
  #slot = 0;

  constructor(options: CounterOptions) {
    this.#options = options;
    this.#hear(options.initial);
    this.#learned = options.initial;
  }

  /** What all processes have used or hold, as last heard here; what counts for a minute only is not known for longer. */
  get used(): number {
    const { clock, window } = this.#options;
    const isOver = window === 'minute' && clock.monotonic() - this.#heardAt >= SECONDS * 1000;
    return isOver ? 0 : this.#known - this.#stock;
  }

  #hear(used: number): void {
    this.#known = used;
    this.#heardAt = this.#options.clock.monotonic();
  }

  #takeTold(used: number): void {
    this.#hear(used);
    this.#toldAt = this.#heardAt;
  }

  /** What a bank that lost the counter begins with; of a minute what it told within the last one. */
  get #initial(): number {
    const { clock, window, isHeld } = this.#options;
    if (window !== 'minute') return isHeld ? this.#learned : this.#known;
    return clock.monotonic() - this.#toldAt < SECONDS * 1000 ? this.#known : 0;
  }

  /**
   * A bank that lost the counter is told so.
   * @param used by all processes, as far as they told
   * @param certain what is stored of it
   */
  learn(used: number, certain: number): void {
    this.#known = Math.max(this.#known, used);
    this.#learned = Math.max(this.#learned, used);
    this.#certain = Math.max(this.#certain, certain);
  }

  /** Takes the whole amount, or nothing. Answers at once while the stock lasts or the bank is in this process. */
  take(amount: number, limit: number): Taken | Promise<Taken> {
    this.#note(amount);
    const fromStock = Math.min(amount, this.#stock);
    this.#stock -= fromStock;
    if (fromStock === amount && amount > 0) {
      this.#refill(limit);
      return TAKEN;
    }
    const missing = amount - fromStock;
    const settle = ({ granted, used, retryAfterMs }: CreditGrant): Taken => {
      this.#takeTold(used);
      this.#keep(granted < missing ? fromStock : granted - missing);
      if (granted >= missing) return TAKEN;
      if (this.#stock >= amount && amount > 0) {
        // Others who asked meanwhile brought more than they needed.
        this.#stock -= amount;
        return TAKEN;
      }
      return { isTaken: false, retryAfterMs, left: Math.max(0, limit - used + this.#stock) };
    };
    const outcome = this.#lease(missing, limit);
    return outcome instanceof Promise ? outcome.then(settle) : settle(outcome);
  }

  /** What was taken and not used after all; a negative amount was used beyond what was taken. */
  giveBack(amount: number): void {
    if (amount !== 0) this.#giveBack(amount, amount);
  }

  /** What was held has run, and this was used. */
  settle(held: number, used: number): void {
    if (held !== 0 || used !== 0) this.#giveBack(held - used, held);
  }

  #giveBack(amount: number, held: number): void {
    const { bank, counter, window, isHeld } = this.#options;
    this.#hear(Math.max(0, this.#known - amount));
    bank.giveBack({ counter, window }, amount, isHeld ? held : 0);
  }

  /** Gives the stock back. */
  release(): void {
    const stock = this.#stock;
    this.#stock = 0;
    this.giveBack(stock);
  }

  /** True when there is stock that is still in use. */
  releaseIdle(): boolean {
    if (this.#stock === 0) return true;
    if (this.#options.clock.monotonic() - this.#stockedAt < IDLE_MS) return false;
    this.release();
    return true;
  }

  /** Of those who ask at once one asks for stock as well. */
  #lease(amount: number, limit: number): CreditGrant | Promise<CreditGrant> {
    const { bank, counter, window, keepsStock, isHeld } = this.#options;
    const batch =
      !keepsStock || this.#isFetching
        ? amount
        : Math.max(amount, this.#spentNow, this.#spentBefore);
    const initial = this.#initial;
    const certain = this.#certain;
    const outcome = bank.lease({ counter, window, limit, amount, batch, initial, certain, isHeld });
    if (!(outcome instanceof Promise) || batch === amount) return outcome;
    this.#isFetching = true;
    return outcome.finally(() => {
      this.#isFetching = false;
    });
  }

  #keep(stock: number): void {
    if (stock <= 0) return;
    this.#stock += stock;
    this.#stockedAt = this.#options.clock.monotonic();
    this.#options.onStock(this);
  }

  /** Before the stock is gone, so that no request waits. */
  #refill(limit: number): void {
    if (this.#isFetching || this.#stock >= Math.max(this.#spentNow, this.#spentBefore)) return;
    const outcome = this.#lease(0, limit);
    if (!(outcome instanceof Promise)) return;
    void outcome.then(({ granted, used }) => {
      this.#takeTold(used);
      this.#keep(granted);
    });
  }

  /** Keeps account of what was asked for within the last moment. */
  #note(amount: number): void {
    const slot = Math.floor(this.#options.clock.monotonic() / STOCK_MS);
    if (slot !== this.#slot) {
      this.#spentBefore = slot === this.#slot + 1 ? this.#spentNow : 0;
      this.#spentNow = 0;
      this.#slot = slot;
    }
    this.#spentNow += amount;
  }
}

// The figures behind exact counters, kept in one process: alone, as the parent of workers, or while Valkey is away.

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
