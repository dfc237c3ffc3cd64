// Exact counters as one process uses them: it spends what it holds in stock, and fetches more before that is gone.

import type { Clock, Timer } from '../lib/clock.ts';
import type { Bank, CountWindow, CreditGrant } from './cluster.ts';

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
  #known: number;
  /** As `#known`, without what is held. */
  #learned: number;
  #isFetching = false;
  #spentNow = 0;
  #spentBefore = 0;
  #slot = 0;

  constructor(options: CounterOptions) {
    this.#options = options;
    this.#known = options.initial;
    this.#learned = options.initial;
  }

  /** What all processes have used or hold, as last heard here. */
  get used(): number {
    return this.#known - this.#stock;
  }

  /** So much is used for certain: a bank that lost the counter is told so. */
  learn(used: number): void {
    this.#known = Math.max(this.#known, used);
    this.#learned = Math.max(this.#learned, used);
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
      this.#known = used;
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
    this.#known = Math.max(0, this.#known - amount);
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
    // What counts for a minute only is not known for longer.
    const initial = window === 'minute' ? 0 : isHeld ? this.#learned : this.#known;
    const outcome = bank.lease({ counter, window, limit, amount, batch, initial, isHeld });
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
      this.#known = used;
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
