// The common state of several members in one process: behind a process alone, and in the parent of workers.

import type { Clock } from '../lib/clock.ts';
import { LocalBank } from './bank.ts';

interface HubMember {
  readonly replica: string;
  take(topic: string, notice: unknown, from: string): void;
  /** Told of all members whenever one comes or goes. */
  meet(replicas: readonly string[]): void;
}

/** Values whose time is over leave when so many more have come. */
const SWEEP_EVERY = 1000;

export class Hub {
  readonly bank: LocalBank;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #members = new Map<string, HubMember>();
  readonly #values = new Map<string, { readonly value: string; readonly expiresAt: number }>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.bank = new LocalBank(clock);
  }

  get replicas(): readonly string[] {
    return [...this.#members.keys()];
  }

  /** @returns what ends the membership */
  join(member: HubMember): () => void {
    this.#members.set(member.replica, member);
    this.#introduce();
    return () => {
      if (this.#members.get(member.replica) !== member) return;
      this.#members.delete(member.replica);
      this.bank.release(member.replica);
      this.#introduce();
    };
  }

  tell(topic: string, notice: unknown, from: string): void {
    for (const member of this.#members.values())
      if (member.replica !== from) member.take(topic, notice, from);
  }

  put(key: string, value: string, lifetimeMs: number): void {
    const now = this.#clock.now();
    this.#values.set(key, { value, expiresAt: now + lifetimeMs });
    if (this.#values.size % SWEEP_EVERY !== 0) return;
    for (const [known, { expiresAt }] of this.#values)
      if (expiresAt <= now) this.#values.delete(known);
  }

  get(key: string): string | undefined {
    const known = this.#values.get(key);
    return known === undefined || known.expiresAt <= this.#clock.now() ? undefined : known.value;
  }

  take(key: string): string | undefined {
    const value = this.get(key);
    this.#values.delete(key);
    return value;
  }

  #introduce(): void {
    const { replicas } = this;
    for (const member of this.#members.values()) member.meet(replicas);
  }
}
