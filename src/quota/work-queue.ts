// Runs jobs one after the other start: a few at once, and never many starts within a second.

import type { Clock, Timer } from '../lib/clock.ts';

export interface WorkQueue {
  /** Urgent jobs go before those that wait already. A job must not throw. */
  add(job: () => Promise<void>, options: { readonly isUrgent: boolean }): void;
  /** Forgets what has not begun. */
  close(): void;
}

export interface WorkQueueOptions {
  readonly clock: Pick<Clock, 'monotonic' | 'startTimer'>;
  readonly maxConcurrent: number;
  /** Least time between two starts, in milliseconds. */
  readonly spacingMs: number;
}

export function createWorkQueue({ clock, maxConcurrent, spacingMs }: WorkQueueOptions): WorkQueue {
  const waiting: (() => Promise<void>)[] = [];
  let running = 0;
  let lastStartAt = Number.NEGATIVE_INFINITY;
  let timer: Timer | undefined;

  const pump = (): void => {
    timer = undefined;
    if (running >= maxConcurrent || waiting.length === 0) return;
    const waitMs = lastStartAt + spacingMs - clock.monotonic();
    if (waitMs > 0) {
      timer = clock.startTimer(waitMs, pump);
      return;
    }
    const job = waiting.shift();
    if (job === undefined) return;
    lastStartAt = clock.monotonic();
    running += 1;
    void job().finally(() => {
      running -= 1;
      wake();
    });
    wake();
  };
  const wake = (): void => {
    if (timer === undefined) pump();
  };

  return {
    add(job, { isUrgent }) {
      if (isUrgent) waiting.unshift(job);
      else waiting.push(job);
      wake();
    },
    close() {
      timer?.cancel();
      timer = undefined;
      waiting.length = 0;
    },
  };
}
