// The records that wait for their store, which may be slow or stopped.

import type { Clock } from '../lib/clock.ts';
import { WriteBehind } from '../lib/write-behind.ts';
import { bodySize, type RequestRecord } from './record.ts';
import type { RequestStore } from './request-store.ts';

interface WriteQueueOptions {
  readonly store: Pick<RequestStore, 'save'>;
  readonly clock: Pick<Clock, 'startTimer'>;
  readonly log: { warn(fields: object, message: string): void };
}

/** A whole batch is saved at once: records that wait longer only cost the garbage collector. */
const FULL_DELAY_MS = 1;
/**
 * Saved in about two milliseconds, for which all requests wait, but fewer than one in a hundred comes then. Of
 * sixteen each would cost nearly twice as much, as the commit and the sums of usage cost the same for any number.
 */
const BATCH = { count: 128, size: 4_194_304 };
const LIMIT = { count: 10_000, size: 67_108_864 };
const CLOSE_MS = 1000;

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
