// Saves remembered signatures behind the requests' back: in batches, never waited for, bounded.

import type { Clock, Timer } from '../lib/clock.ts';
import type { SignatureStore, StoredSignature } from './signature-store.ts';

export interface WriteBehind {
  add(entry: StoredSignature): void;
  /** Entries that were given up because the store failed or was too slow. */
  readonly dropped: number;
  /** Saves what waits, once; resolves also when the store fails. */
  close(): Promise<void>;
}

export interface WriteBehindOptions {
  readonly store: SignatureStore;
  readonly clock: Pick<Clock, 'now' | 'startTimer'>;
  readonly maxEntries: number;
  readonly log?: KeeperLog | undefined;
}

export interface KeeperLog {
  warn(fields: object, message: string): void;
}

const GATHER_MS = 250;
const AFTER_FAILURE_MS = 5000;
const BATCH = 200;
const MOST_WAITING = 5000;

export function createWriteBehind(options: WriteBehindOptions): WriteBehind {
  const { store, clock, maxEntries, log } = options;
  const waiting = new Map<string, StoredSignature>();
  let timer: Timer | undefined;
  let saving: Promise<void> | undefined;
  let dropped = 0;
  let isFailing = false;

  const drop = (count: number): void => {
    dropped += count;
  };
  const put = (entry: StoredSignature): void => {
    waiting.delete(entry.key);
    waiting.set(entry.key, entry);
    if (waiting.size > MOST_WAITING) drop(takeOldest(waiting, 1).length);
  };
  const schedule = (delayMs: number): void => {
    timer ??= clock.startTimer(delayMs, () => {
      timer = undefined;
      saving ??= save().finally(() => {
        saving = undefined;
        if (waiting.size > 0) schedule(isFailing ? AFTER_FAILURE_MS : GATHER_MS);
      });
    });
  };
  const save = async (): Promise<void> => {
    const batch = takeOldest(waiting, BATCH);
    try {
      await store.save(batch, { now: clock.now(), maxEntries });
      isFailing = false;
    } catch (error) {
      if (!isFailing) {
        log?.warn({ error }, 'Thought signatures are not saved; requests go on without it.');
      }
      isFailing = true;
      const newer = [...waiting.values()];
      waiting.clear();
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
      while (waiting.size > 0 && !isFailing) await save();
      drop(waiting.size);
      waiting.clear();
    },
  };
}

function takeOldest(
  entries: Map<string, StoredSignature>,
  count: number,
): readonly StoredSignature[] {
  const taken = entries.values().take(count).toArray();
  for (const { key } of taken) entries.delete(key);
  return taken;
}
