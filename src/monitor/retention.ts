// How long records are kept, and how much of them: what is too old or too much leaves in small steps.

import type { Clock, Timer } from '../lib/clock.ts';
import type { RequestStore } from './request-store.ts';

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
  readonly log: { warn(fields: object, message: string): void };
}

const FIRST_MS = 30_000;
const BETWEEN_MS = 300_000;
const BETWEEN_STEPS_MS = 50;
/** By then nearly all that began in an hour has ended and is saved; what comes later is added all the same. */
const CLOSED_AFTER_MS = 1_800_000;
const YEAR_MS = 31_622_400_000;
/** When there is too much, so much of the allowed stays. */
const REDUCED_SHARE = 0.5;

/** Runs until `close`, which waits for the step under way. */
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
