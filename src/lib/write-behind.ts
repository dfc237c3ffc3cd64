// A bounded queue of writes that no request waits for: batched, retried after a failure, flushed on close.

import { type Clock, type Timer, waitAtMost } from './clock.ts';
import type { WarnLog } from './log.ts';

interface WriteBehindOptions<Entry> {
  /**
   * Saves never overlap. A rejected batch is tried again.
   * @param retryOnly names the part of the batch to try again where the rest was saved
   */
  save(entries: readonly Entry[], retryOnly: (unsaved: readonly Entry[]) => void): Promise<void>;
  readonly clock: Pick<Clock, 'startTimer'>;
  /** An entry takes the place of a waiting one with the same key. Without it every entry is saved. */
  keyOf?(entry: Entry): string;
  /** Makes one entry of two with the same key. */
  merge?(older: Entry, newer: Entry): Entry;
  /** In UTF-16 units. */
  sizeOf?(entry: Entry): number;
  readonly delayMs?: number;
  /** The delay once a whole batch waits. */
  readonly fullDelayMs?: number;
  /** The delay after so many failures in a row. */
  retryMs?(failures: number): number;
  /** The most that is saved at once: other requests wait for it meanwhile. */
  readonly batch?: WriteBounds;
  /** The most that waits. */
  readonly limit?: WriteBounds;
  /** Which entries are dropped beyond the limit. */
  readonly drops?: 'oldest' | 'newest';
  readonly log?: WarnLog | undefined;
  /** Logged once when saving begins to fail. */
  readonly failure?: string;
  /** Called when saving works again. */
  onRecovery?(): void;
}

interface WriteBounds {
  readonly count: number;
  /** In UTF-16 units. */
  readonly size: number;
}

export const UNBOUNDED: WriteBounds = { count: Infinity, size: Infinity };

type Settings = Required<Pick<WriteBehindOptions<never>, keyof typeof DEFAULTS>>;

const DEFAULTS = {
  delayMs: 250,
  retryMs: (_failures: number) => 5000,
  batch: { count: 200, size: 256 * 1024 },
  limit: { count: 5000, size: 16 * 1024 * 1024 },
  drops: 'oldest',
} as const;

export class WriteBehind<Entry> {
  /** The number of entries that were never saved, because the store failed or was too slow. */
  dropped = 0;
  readonly #options: WriteBehindOptions<Entry> & Settings;
  /** What waits: without keys in a list, as records of requests are in no Map (`collections.ts` gives the reason). */
  readonly #list: Entry[] = [];
  readonly #byKey = new Map<string, Entry>();
  #waitingSize = 0;
  #leaving: readonly Entry[] = [];
  #saving: Promise<boolean> | undefined;
  #timer: Timer | undefined;
  #timerMs = 0;
  #failures = 0;
  #error: unknown;
  #state: 'open' | 'closing' | 'closed' = 'open';

  constructor(options: WriteBehindOptions<Entry>) {
    this.#options = { ...DEFAULTS, ...options };
  }

  /** The number of `entries`. */
  get size(): number {
    return this.#leaving.length + this.#waitingCount;
  }

  /** True after a failed save, until the next one succeeds. */
  get isFailing(): boolean {
    return this.#failures > 0;
  }

  /** The entries that are being saved, then those that wait, oldest first. */
  entries(): readonly Entry[] {
    return [...this.#leaving, ...this.#waiting];
  }

  /** False when the entry is dropped, because the queue is closed or refuses new entries while full. */
  add(entry: Entry): boolean {
    if (this.#state === 'closed' || (this.#options.drops === 'newest' && !this.#hasRoom(entry))) {
      this.dropped += 1;
      return false;
    }
    this.#put(entry);
    if (this.#saving === undefined) this.#schedule();
    return true;
  }

  /** Saves everything that waits. @throws the error of `save` when some of it could not be saved */
  async flush(): Promise<void> {
    while (this.#saving !== undefined) await this.#saving;
    this.#cancelTimer();
    const isSaved = await this.#run(async () => {
      let isGood = true;
      while (isGood && this.#waitingCount > 0) isGood = await this.#saveBatch();
      return isGood;
    });
    if (!isSaved) throw this.#error;
  }

  /**
   * Flushes and drops the rest, which it returns. Never rejects.
   * @param limitMs how long a slow save is waited for; without end when absent
   */
  async close(limitMs?: number): Promise<readonly Entry[]> {
    this.#state = 'closing';
    this.#cancelTimer();
    const flushed = this.flush().catch(() => undefined);
    if (limitMs === undefined) await flushed;
    else await waitAtMost(this.#options.clock, limitMs, flushed);
    this.#state = 'closed';
    const left = this.#take(UNBOUNDED);
    this.dropped += left.length;
    return left;
  }

  /** One of the two is empty. */
  get #waitingCount(): number {
    return this.#list.length + this.#byKey.size;
  }

  get #waiting(): Iterable<Entry> {
    return this.#options.keyOf === undefined ? this.#list : this.#byKey.values();
  }

  #put(entry: Entry): void {
    const { keyOf, merge, sizeOf, limit } = this.#options;
    let kept = entry;
    if (keyOf === undefined) this.#list.push(entry);
    else {
      const key = keyOf(entry);
      const older = this.#byKey.get(key);
      if (older !== undefined) {
        this.#byKey.delete(key);
        this.#waitingSize -= sizeOf?.(older) ?? 0;
        kept = merge?.(older, entry) ?? entry;
      }
      this.#byKey.set(key, kept);
    }
    this.#waitingSize += sizeOf?.(kept) ?? 0;
    while (this.#waitingCount > limit.count || this.#waitingSize > limit.size) {
      this.dropped += this.#take({ count: 1, size: 0 }).length;
    }
  }

  /** Removes and returns the oldest entries, at least one. */
  #take(bounds: WriteBounds): readonly Entry[] {
    const { keyOf, sizeOf } = this.#options;
    const taken: Entry[] = [];
    let size = 0;
    for (const entry of this.#waiting) {
      const more = sizeOf?.(entry) ?? 0;
      if (taken.length > 0 && (taken.length === bounds.count || size + more > bounds.size)) break;
      taken.push(entry);
      size += more;
    }
    this.#waitingSize -= size;
    if (keyOf === undefined) this.#list.splice(0, taken.length);
    else for (const entry of taken) this.#byKey.delete(keyOf(entry));
    return taken;
  }

  /** The batch that is being saved counts too, as it may come back. */
  #hasRoom(entry: Entry): boolean {
    const { limit, sizeOf } = this.#options;
    const leaving =
      sizeOf === undefined ? 0 : this.#leaving.reduce((sum, one) => sum + sizeOf(one), 0);
    const size = this.#waitingSize + leaving + (sizeOf?.(entry) ?? 0);
    return this.size < limit.count && size <= limit.size;
  }

  #schedule(): void {
    const count = this.#waitingCount;
    if (this.#state !== 'open' || count === 0) return;
    if (this.#timer !== undefined && this.#failures > 0) return;
    const { retryMs, delayMs, fullDelayMs = delayMs, batch } = this.#options;
    const isFull = count >= batch.count || this.#waitingSize >= batch.size;
    const openMs = isFull ? fullDelayMs : delayMs;
    const waitMs = this.#failures > 0 ? retryMs(this.#failures) : openMs;
    if (this.#timer !== undefined && this.#timerMs <= waitMs) return;
    this.#cancelTimer();
    this.#timerMs = waitMs;
    this.#timer = this.#options.clock.startTimer(waitMs, () => {
      this.#timer = undefined;
      if (this.#saving === undefined) void this.#run(() => this.#saveBatch());
    });
  }

  #cancelTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** @returns what `work` returns; false means that entries are left */
  #run(work: () => Promise<boolean>): Promise<boolean> {
    const saving = work().finally(() => {
      this.#saving = undefined;
      this.#schedule();
    });
    this.#saving = saving;
    return saving;
  }

  /** @returns false when some of it could not be saved */
  async #saveBatch(): Promise<boolean> {
    let unsaved = this.#take(this.#options.batch);
    if (unsaved.length === 0) return true;
    this.#leaving = unsaved;
    try {
      await this.#options.save(unsaved, (entries) => {
        unsaved = entries;
      });
      this.#leaving = [];
      if (this.#failures > 0) this.#options.onRecovery?.();
      this.#failures = 0;
      return true;
    } catch (error) {
      this.#leaving = [];
      this.#failures += 1;
      this.#error = error;
    }
    const { log, failure } = this.#options;
    if (this.#failures === 1 && failure !== undefined) log?.warn({ error: this.#error }, failure);
    // The older entries first, so that a newer one of the same key takes their place.
    const newer = this.#take(UNBOUNDED);
    for (const entry of [...unsaved, ...newer]) this.#put(entry);
    return false;
  }
}
