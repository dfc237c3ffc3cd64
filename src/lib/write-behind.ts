// Saves what is remembered behind the requests' back: in batches, never waited for, bounded.

import type { Clock, Timer } from './clock.ts';

export interface WriteBehind<Entry> {
  /** In place of one of the same key that waits. */
  add(entry: Entry): void;
  /** Entries that were given up because the store failed or was too slow. */
  readonly dropped: number;
  /** Saves what waits, once; resolves also when the store fails. */
  close(): Promise<void>;
}

export interface WriteBehindOptions<Entry> {
  save(entries: readonly Entry[]): Promise<void>;
  /** In UTF-16 units. */
  sizeOf(entry: Entry): number;
  readonly clock: Pick<Clock, 'startTimer'>;
  readonly log?: WriteBehindLog | undefined;
  /** Told once when saving begins to fail. */
  readonly failure: string;
}

interface Keyed {
  readonly key: string;
}

export interface WriteBehindLog {
  warn(fields: object, message: string): void;
}

const GATHER_MS = 250;
const AFTER_FAILURE_MS = 5000;
/** What is saved at once holds other requests up meanwhile. */
const BATCH = { count: 200, size: 256 * 1024 };
const MOST_WAITING = { count: 5000, size: 16 * 1024 * 1024 };

export function createWriteBehind<Entry extends Keyed>(
  options: WriteBehindOptions<Entry>,
): WriteBehind<Entry> {
  const { clock, log } = options;
  const waiting = createWaiting(options);
  let timer: Timer | undefined;
  let saving: Promise<void> | undefined;
  let dropped = 0;
  let isFailing = false;

  const put = (entry: Entry): void => {
    waiting.put(entry);
    while (waiting.exceeds(MOST_WAITING)) dropped += waiting.take({ count: 1, size: 0 }).length;
  };
  const schedule = (delayMs: number): void => {
    timer ??= clock.startTimer(delayMs, () => {
      timer = undefined;
      saving ??= save().finally(() => {
        saving = undefined;
        if (waiting.count() > 0) schedule(isFailing ? AFTER_FAILURE_MS : GATHER_MS);
      });
    });
  };
  const save = async (): Promise<void> => {
    const batch = waiting.take(BATCH);
    try {
      await options.save(batch);
      isFailing = false;
    } catch (error) {
      if (!isFailing) log?.warn({ error }, options.failure);
      isFailing = true;
      const newer = waiting.take(ALL);
      for (const entry of [...batch, ...newer]) put(entry);
    }
  };

  return {
    get dropped() {
      return dropped;
    },
    add(entry) {
      put(entry);
      if (saving === undefined) schedule(GATHER_MS);
    },
    async close() {
      timer?.cancel();
      await saving;
      timer?.cancel();
      isFailing = false;
      while (waiting.count() > 0 && !isFailing) await save();
      dropped += waiting.take(ALL).length;
    },
  };
}

interface Bounds {
  readonly count: number;
  readonly size: number;
}

const ALL: Bounds = { count: Infinity, size: Infinity };

interface Waiting<Entry> {
  put(entry: Entry): void;
  /** The oldest, one at least. */
  take(bounds: Bounds): readonly Entry[];
  count(): number;
  exceeds(bounds: Bounds): boolean;
}

function createWaiting<Entry extends Keyed>({
  sizeOf,
}: Pick<WriteBehindOptions<Entry>, 'sizeOf'>): Waiting<Entry> {
  const entries = new Map<string, Entry>();
  let size = 0;
  const remove = (entry: Entry): void => {
    entries.delete(entry.key);
    size -= sizeOf(entry);
  };
  return {
    put(entry) {
      const older = entries.get(entry.key);
      if (older !== undefined) remove(older);
      entries.set(entry.key, entry);
      size += sizeOf(entry);
    },
    take(bounds) {
      const taken: Entry[] = [];
      let takenSize = 0;
      for (const entry of entries.values()) {
        takenSize += sizeOf(entry);
        const isFull = taken.length === bounds.count || takenSize > bounds.size;
        if (taken.length > 0 && isFull) break;
        taken.push(entry);
      }
      for (const entry of taken) remove(entry);
      return taken;
    },
    count: () => entries.size,
    exceeds: (bounds) => entries.size > bounds.count || size > bounds.size,
  };
}
