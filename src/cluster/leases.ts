// Who alone does some work of all processes on a database, for a while: of one account, or, as their leader, for all.

import type { Clock, Timer } from '../lib/clock.ts';

/** One holder of a name at a time. Who writes for it shows its fence; the later fence wins. Throws StoreError. */
export interface LeaseStore {
  /** Undefined while another holds it. The fence grows with each new holder; the present one is prolonged. */
  take(
    name: string,
    holder: string,
    ttlMs: number,
  ): Promise<{ readonly fence: number } | undefined>;
  /** Lets the next one have it at once; nothing when it is another's by now. */
  release(name: string, holder: string, fence: number): Promise<void>;
}

export const LEADER = 'leader';
export const LEADER_TTL_MS = 30_000;
const RENEW_MS = 10_000;
/** It stops before another may begin. */
const MARGIN_MS = 5000;

interface LeaderOptions {
  readonly leases: LeaseStore;
  readonly holder: string;
  readonly clock: Pick<Clock, 'monotonic' | 'startTimer'>;
}

/** What is done twice harms nobody: while the leases cannot be reached, each process leads. */
export class Leader {
  readonly #options: LeaderOptions;
  #timer: Timer | undefined;
  #fence: number | undefined;
  #leadsUntil = 0;
  #asking: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: LeaderOptions) {
    this.#options = options;
    this.#ask();
  }

  readonly isLeading = (): boolean => this.#options.clock.monotonic() < this.#leadsUntil;

  /** Lets another lead at once. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#asking;
    this.#leadsUntil = 0;
    const { leases, holder } = this.#options;
    // What is not given back ends by itself.
    if (this.#fence !== undefined)
      await leases.release(LEADER, holder, this.#fence).catch(() => {});
  }

  #ask(): void {
    this.#asking = this.#take().finally(() => {
      if (this.#isClosed) return;
      this.#timer = this.#options.clock.startTimer(RENEW_MS, () => this.#ask());
    });
  }

  async #take(): Promise<void> {
    const { leases, holder, clock } = this.#options;
    const askedAt = clock.monotonic();
    try {
      const lease = await leases.take(LEADER, holder, LEADER_TTL_MS);
      this.#fence = lease?.fence;
      this.#leadsUntil = lease === undefined ? 0 : askedAt + LEADER_TTL_MS - MARGIN_MS;
    } catch {
      this.#leadsUntil = clock.monotonic() + LEADER_TTL_MS - MARGIN_MS;
    }
  }
}
