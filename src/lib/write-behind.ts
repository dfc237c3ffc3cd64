// A bounded queue of writes that no request waits for: batched, retried after a failure, flushed on close.

import type { Clock, Timer } from './clock.ts';

export interface WriteBehind<Entry> {
  /** False when the entry is dropped, because the queue is closed or refuses new entries while full. */
  add(entry: Entry): boolean;
  /** The entries that are being saved, then those that wait, oldest first. */
  entries(): readonly Entry[];
  /** The number of those entries. */
  readonly size: number;
  /** True after a failed save, until the next one succeeds. */
  readonly isFailing: boolean;
  /** The number of entries that were never saved, because the store failed or was too slow. */
  readonly dropped: number;
  /** Saves everything that waits. @throws the error of `save` when some of it could not be saved */
  flush(): Promise<void>;
  /**
   * Flushes and drops the rest, which it returns. Never rejects.
   * @param limitMs how long a slow save is waited for; without end when absent
   */
  close(limitMs?: number): Promise<readonly Entry[]>;
}

export interface WriteBehindOptions<Entry> {
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
  readonly log?: WriteBehindLog | undefined;
  /** Logged once when saving begins to fail. */
  readonly failure?: string;
  /** Called when saving works again. */
  onRecovery?(): void;
}

export interface WriteBounds {
  readonly count: number;
  /** In UTF-16 units. */
  readonly size: number;
}

export interface WriteBehindLog {
  warn(fields: object, message: string): void;
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

export function createWriteBehind<Entry>(options: WriteBehindOptions<Entry>): WriteBehind<Entry> {
  return new Queue(options);
}

class Queue<Entry> implements WriteBehind<Entry> {
  dropped = 0;
  readonly #options: WriteBehindOptions<Entry> & Settings;
  readonly #waiting: Waiting<Entry>;
  #leaving: readonly Entry[] = [];
  #saving: Promise<boolean> | undefined;
  #timer: Timer | undefined;
  #timerMs = 0;
  #failures = 0;
  #error: unknown;
  #state: 'open' | 'closing' | 'closed' = 'open';

  constructor(options: WriteBehindOptions<Entry>) {
    this.#options = { ...DEFAULTS, ...options };
    this.#waiting = createWaiting(options);
  }

  get size(): number {
    return this.#leaving.length + this.#waiting.count;
  }

  get isFailing(): boolean {
    return this.#failures > 0;
  }

  entries(): readonly Entry[] {
    return [...this.#leaving, ...this.#waiting.list()];
  }

  add(entry: Entry): boolean {
    if (this.#state === 'closed' || (this.#options.drops === 'newest' && !this.#hasRoom(entry))) {
      this.dropped += 1;
      return false;
    }
    this.#put(entry);
    if (this.#saving === undefined) this.#schedule();
    return true;
  }

  async flush(): Promise<void> {
    while (this.#saving !== undefined) await this.#saving;
    this.#cancelTimer();
    const isSaved = await this.#run(async () => {
      let isGood = true;
      while (isGood && this.#waiting.count > 0) isGood = await this.#saveBatch();
      return isGood;
    });
    if (!isSaved) throw this.#error;
  }

  async close(limitMs?: number): Promise<readonly Entry[]> {
    this.#state = 'closing';
    this.#cancelTimer();
    const end = Promise.withResolvers<void>();
    const limit =
      limitMs === undefined ? undefined : this.#options.clock.startTimer(limitMs, end.resolve);
    await Promise.race([this.flush().catch(() => undefined), end.promise]);
    limit?.cancel();
    this.#state = 'closed';
    const left = this.#waiting.take(UNBOUNDED);
    this.dropped += left.length;
    return left;
  }

  #put(entry: Entry): void {
    this.#waiting.put(entry);
    const { limit } = this.#options;
    while (this.#waiting.count > limit.count || this.#waiting.size > limit.size) {
      this.dropped += this.#waiting.take({ count: 1, size: 0 }).length;
    }
  }

  /** The batch that is being saved counts too, as it may come back. */
  #hasRoom(entry: Entry): boolean {
    const { limit, sizeOf } = this.#options;
    const leaving =
      sizeOf === undefined ? 0 : this.#leaving.reduce((sum, one) => sum + sizeOf(one), 0);
    const size = this.#waiting.size + leaving + (sizeOf?.(entry) ?? 0);
    return this.size < limit.count && size <= limit.size;
  }

  #schedule(): void {
    if (this.#state !== 'open' || this.#waiting.count === 0) return;
    if (this.#timer !== undefined && this.#failures > 0) return;
    const delayMs = this.#nextMs();
    if (this.#timer !== undefined && this.#timerMs <= delayMs) return;
    this.#cancelTimer();
    this.#timerMs = delayMs;
    this.#timer = this.#options.clock.startTimer(delayMs, () => {
      this.#timer = undefined;
      if (this.#saving === undefined) void this.#run(() => this.#saveBatch());
    });
  }

  #nextMs(): number {
    const { retryMs, delayMs, fullDelayMs, batch } = this.#options;
    if (this.#failures > 0) return retryMs(this.#failures);
    const isFull = this.#waiting.count >= batch.count || this.#waiting.size >= batch.size;
    return isFull ? (fullDelayMs ?? delayMs) : delayMs;
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
    let unsaved = this.#waiting.take(this.#options.batch);
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
    const newer = this.#waiting.take(UNBOUNDED);
    for (const entry of [...unsaved, ...newer]) this.#put(entry);
    return false;
  }
}

interface Waiting<Entry> {
  readonly count: number;
  readonly size: number;
  put(entry: Entry): void;
  /** Removes and returns the oldest entries, at least one. */
  take(bounds: WriteBounds): readonly Entry[];
  list(): Iterable<Entry>;
}

function createWaiting<Entry>(options: WriteBehindOptions<Entry>): Waiting<Entry> {
  const { keyOf, merge = (_older, newer) => newer, sizeOf = () => 0 } = options;
  return keyOf === undefined ? new WaitingList(sizeOf) : new WaitingMap({ keyOf, merge, sizeOf });
}

/** Records of requests are in no Map (`indexed-list.ts` gives the reason). */
class WaitingList<Entry> implements Waiting<Entry> {
  size = 0;
  readonly #entries: Entry[] = [];
  readonly #sizeOf: (entry: Entry) => number;

  constructor(sizeOf: (entry: Entry) => number) {
    this.#sizeOf = sizeOf;
  }

  get count(): number {
    return this.#entries.length;
  }

  put(entry: Entry): void {
    this.#entries.push(entry);
    this.size += this.#sizeOf(entry);
  }

  take(bounds: WriteBounds): readonly Entry[] {
    const taken = this.#entries.splice(0, countWithin(this.#entries, bounds, this.#sizeOf));
    for (const entry of taken) this.size -= this.#sizeOf(entry);
    return taken;
  }

  list(): Iterable<Entry> {
    return this.#entries;
  }
}

class WaitingMap<Entry> implements Waiting<Entry> {
  size = 0;
  readonly #entries = new Map<string, Entry>();
  readonly #options: Required<Pick<WriteBehindOptions<Entry>, 'keyOf' | 'merge' | 'sizeOf'>>;

  constructor(options: Required<Pick<WriteBehindOptions<Entry>, 'keyOf' | 'merge' | 'sizeOf'>>) {
    this.#options = options;
  }

  get count(): number {
    return this.#entries.size;
  }

  put(entry: Entry): void {
    const { keyOf, merge, sizeOf } = this.#options;
    const key = keyOf(entry);
    const older = this.#entries.get(key);
    if (older !== undefined) this.#remove(older);
    const merged = older === undefined ? entry : merge(older, entry);
    this.#entries.set(key, merged);
    this.size += sizeOf(merged);
  }

  take(bounds: WriteBounds): readonly Entry[] {
    const entries = this.#entries.values();
    const taken = [
      ...entries.take(countWithin(this.#entries.values(), bounds, this.#options.sizeOf)),
    ];
    for (const entry of taken) this.#remove(entry);
    return taken;
  }

  list(): Iterable<Entry> {
    return this.#entries.values();
  }

  #remove(entry: Entry): void {
    this.#entries.delete(this.#options.keyOf(entry));
    this.size -= this.#options.sizeOf(entry);
  }
}

/** The number of the first entries within the bounds. */
function countWithin<Entry>(
  entries: Iterable<Entry>,
  bounds: WriteBounds,
  sizeOf: (entry: Entry) => number,
): number {
  let count = 0;
  let size = 0;
  for (const entry of entries) {
    size += sizeOf(entry);
    if (count > 0 && (count === bounds.count || size > bounds.size)) break;
    count += 1;
  }
  return count;
}
