// Saves the health and quotas of stored accounts behind the callers' backs: soon, together, and again after a fault.

import type { Clock, Timer } from '../lib/clock.ts';
import { told } from '../lib/localized-message.ts';
import type { Account } from './account.ts';
import { type AccountStore, StoreError } from './account-store.ts';

export interface StateSaverOptions {
  readonly store: Pick<AccountStore, 'saveHealth' | 'saveQuotas'>;
  /** The account as it is now; undefined when it is gone. */
  readonly find: (id: string) => Account | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

export type SavedPart = 'health' | 'quotas';

export interface StateSaver {
  /** Many marks of one account before it is saved are one write. */
  mark(id: string, part: SavedPart): void;
  forget(id: string): void;
  /** Saves all that is marked now. @throws StoreError `unavailable` when some of it could not be. */
  flush(): Promise<void>;
  /** Saves what is left; what still cannot be saved is logged. Never rejects. */
  close(): Promise<void>;
}

const DELAY_MS = 500;
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;
const CLOSING_TRIES = 3;

export function createStateSaver(options: StateSaverOptions): StateSaver {
  return new Saver(options);
}

class Saver implements StateSaver {
  readonly #options: StateSaverOptions;
  readonly #marked = new Map<string, Set<SavedPart>>();
  #timer: Timer | undefined;
  #lastPass: Promise<void> = Promise.resolve();
  #faults = 0;
  #isClosing = false;

  constructor(options: StateSaverOptions) {
    this.#options = options;
  }

  mark(id: string, part: SavedPart): void {
    const parts = this.#marked.get(id);
    if (parts === undefined) this.#marked.set(id, new Set([part]));
    else parts.add(part);
    this.#plan(DELAY_MS);
  }

  forget(id: string): void {
    this.#marked.delete(id);
  }

  async flush(): Promise<void> {
    await this.#saveInTurn();
    if (this.#marked.size === 0) return;
    throw new StoreError('unavailable', told`The state of the accounts could not be saved.`);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#timer?.cancel();
    await this.#saveInTurn();
    for (let tries = 1; this.#marked.size > 0 && tries < CLOSING_TRIES; tries += 1) {
      await this.#saveInTurn();
    }
    if (this.#marked.size === 0) return;
    const accounts = [...this.#marked.keys()].slice(0, 10);
    this.#options.log.error(
      { accounts, count: this.#marked.size },
      'The last cooldowns and quotas of some accounts could not be saved; they are learned anew.',
    );
  }

  #plan(delayMs: number): void {
    if (this.#timer !== undefined || this.#isClosing) return;
    this.#timer = this.#options.clock.startTimer(delayMs, () => {
      void this.#saveInTurn().then(() => {
        this.#timer = undefined;
        if (this.#marked.size > 0) this.#plan(this.#faults === 0 ? DELAY_MS : this.#retryMs());
      });
    });
  }

  /** Passes never overlap, so that an older state never overwrites a newer one. */
  #saveInTurn(): Promise<void> {
    this.#lastPass = this.#lastPass.then(() => this.#saveAll());
    return this.#lastPass;
  }

  /** One pass over what is marked now. A store that is unavailable ends the pass. */
  async #saveAll(): Promise<void> {
    let fault: unknown;
    for (const [id, parts] of [...this.#marked]) {
      this.#marked.delete(id);
      try {
        await this.#save(id, parts);
      } catch (error) {
        fault = error;
        const newer = this.#marked.get(id) ?? [];
        this.#marked.set(id, new Set([...parts, ...newer]));
        if (error instanceof StoreError && error.fault === 'unavailable') break;
      }
    }
    this.#note(fault);
  }

  async #save(id: string, parts: ReadonlySet<SavedPart>): Promise<void> {
    const { store, find } = this.#options;
    try {
      for (const part of parts) {
        const account = find(id);
        if (account === undefined) return;
        if (part === 'health') await store.saveHealth(id, account.health);
        else await store.saveQuotas(id, account.quotas);
      }
    } catch (error) {
      if (error instanceof StoreError && error.fault === 'missing') return;
      throw error;
    }
  }

  /** An outage is logged once, and its end. */
  #note(fault: unknown): void {
    const { log } = this.#options;
    if (fault === undefined) {
      if (this.#faults > 0) log.info({}, 'The state of the accounts is saved again.');
      this.#faults = 0;
      return;
    }
    this.#faults += 1;
    if (this.#faults > 1) return;
    const error = fault instanceof Error ? fault.message : String(fault);
    log.warn({ error }, 'Cooldowns and quotas could not be saved; it is tried again.');
  }

  #retryMs(): number {
    const base = Math.min(FIRST_RETRY_MS * 2 ** (this.#faults - 1), LONGEST_RETRY_MS);
    return base * (0.5 + this.#options.random() / 2);
  }
}
