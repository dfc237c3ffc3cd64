// Lets a request through, once in a while, where every account is out of use only because it was refused before.

import { setLast } from '../lib/set-last.ts';

/** The keys and accounts that were let through last; of more, the oldest may pass a little early. */
const MAX_PASSES = 1_000;

export class TrialPasses {
  readonly #passes = new Map<string, number>();
  readonly #counts = new Map<string, number>();

  /** Milliseconds until this one may pass; 0 when it may now. */
  waitMs(
    name: string,
    { now, everyMs }: { readonly now: number; readonly everyMs: number },
  ): number {
    const at = this.#passes.get(name);
    // One that passed in the future did so before the clock was set back.
    return at === undefined || at > now ? 0 : Math.max(0, at + everyMs - now);
  }

  /** True for one in five of them. */
  countTurn(name: string): boolean {
    const count = (this.#counts.get(name) ?? 0) + 1;
    setLast(this.#counts, [name, count % 5], MAX_PASSES);
    return count === 5;
  }

  note(name: string, now: number): void {
    setLast(this.#passes, [name, now], MAX_PASSES);
  }
}
