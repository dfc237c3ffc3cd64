// Request records on their way into the store, which may be slow or stopped, and how long they stay there.

import type { Clock, Timer } from '../lib/clock.ts';
import type { WarnLog } from '../lib/log.ts';
import { WriteBehind } from '../lib/write-behind.ts';
import { bodySize, type RequestRecord } from './record.ts';
import type { RequestStore } from './request-store.ts';

interface WriteQueueOptions {
  readonly store: Pick<RequestStore, 'save'>;
  readonly clock: Pick<Clock, 'startTimer'>;
  readonly log: WarnLog;
}

/** A whole batch is saved at once: records that wait longer only cost the garbage collector. */
const FULL_DELAY_MS = 1;
/** Two milliseconds of work, which are rare. Batches of sixteen would cost each record nearly twice as much. */
const BATCH = { count: 128, size: 4_194_304 };
const LIMIT = { count: 10_000, size: 67_108_864 };
/** What waits for a slow database may be several batches. */
const CLOSE_MS = 3000;

export function createWriteQueue({ store, clock, log }: WriteQueueOptions) {
  let isOverflowLogged = false;
  const queue = new WriteBehind<RequestRecord>({
    clock,
    log,
    sizeOf: bodySize,
    fullDelayMs: FULL_DELAY_MS,
    batch: BATCH,
    limit: LIMIT,
    failure: 'Request records are not saved; requests go on without.',
    async save(records) {
      await store.save(records);
      if (queue.size < LIMIT.count / 2) isOverflowLogged = false;
    },
  });
  return {
    // The oldest are dropped: the latest help most to find the reason of trouble.
    add(record: RequestRecord): void {
      const before = queue.dropped;
      queue.add(record);
      if (queue.dropped === before || isOverflowLogged) return;
      isOverflowLogged = true;
      log.warn({}, 'Request records are dropped: their store is too slow or stopped.');
    },
    /** The record that is not saved yet, by its own id or else the latest with that request id. */
    find(id: string): RequestRecord | undefined {
      const records = queue.entries();
      const byId = records.findLast(({ row }) => row.id === id);
      return byId ?? records.findLast(({ row }) => row.requestId === id);
    },
    flush: () => queue.flush().catch(() => undefined),
    get unsaved() {
      return queue.isFailing ? queue.size : 0;
    },
    get dropped() {
      return queue.dropped;
    },
    close: async () => void (await queue.close(CLOSE_MS)),
  };
}

export interface RetentionSettings {
  readonly retentionMs: number;
  readonly maxBytes: number;
}

interface RetentionOptions {
  readonly store: Pick<RequestStore, 'sweep'>;
  readonly clock: Pick<Clock, 'now' | 'startTimer'>;
  readonly settings: () => RetentionSettings;
  /** Of several processes with the same records one removes them. */
  readonly isLeading?: (() => boolean) | undefined;
  readonly log: WarnLog;
}

const FIRST_MS = 30_000;
const BETWEEN_MS = 300_000;
const BETWEEN_STEPS_MS = 50;
/** By then nearly all that began in an hour has ended and is saved; what comes later is added all the same. */
const CLOSED_AFTER_MS = 1_800_000;
const YEAR_MS = 31_622_400_000;
/** When there is too much, so much of the allowed stays. */
const REDUCED_SHARE = 0.5;

/** Removes in small steps what is too old or too much. Runs until `close`, which waits for the step under way. */
export function createRetention(options: RetentionOptions): { close(): Promise<void> } {
  const { store, clock, settings, log, isLeading = () => true } = options;
  let timer: Timer | undefined;
  let running: Promise<void> = Promise.resolve();
  let isClosed = false;
  let isFailing = false;
  const schedule = (delayMs: number): void => {
    if (isClosed) return;
    timer = clock.startTimer(delayMs, () => {
      running = step();
    });
  };
  const step = async (): Promise<void> => {
    if (!isLeading()) {
      schedule(BETWEEN_MS);
      return;
    }
    const { retentionMs, maxBytes } = settings();
    const now = clock.now();
    let isDone = true;
    try {
      isDone = await store.sweep({
        oldest: now - retentionMs,
        oldestUsage: now - YEAR_MS,
        maxBytes,
        reducedBytes: maxBytes * REDUCED_SHARE,
        closedBefore: now - CLOSED_AFTER_MS,
      });
      isFailing = false;
    } catch (error) {
      if (!isFailing)
        log.warn({ error }, 'Old request records cannot be removed; tried again later.');
      isFailing = true;
    }
    schedule(isDone ? BETWEEN_MS : BETWEEN_STEPS_MS);
  };
  schedule(FIRST_MS);
  return {
    async close() {
      isClosed = true;
      timer?.cancel();
      await running;
    },
  };
}
