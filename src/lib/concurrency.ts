// Lets only so many jobs run at the same time; the others wait in the order they came.

import type { Clock, Timer } from './clock.ts';

export function createConcurrencyLimit(
  most: number,
): <Result>(job: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (job) => {
    // Whoever ends hands its place over, so that nobody slips in between.
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await job();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

// Jobs that must not overlap.

/** Runs jobs one after the other, each with its own result; one that fails does not keep back the next. */
export function createJobQueue(): <Result>(job: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const result = last.then(job);
    last = result.catch(() => undefined);
    return result;
  };
}

// Runs a piece of work for each item of a list, a bounded number at a time.

/** The results in the order of the items. `work` has to turn its own failures into results. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = new Map<number, Result>();
  const waiting = items.entries();
  const runner = async (): Promise<void> => {
    for (const [index, item] of waiting) results.set(index, await work(item));
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, runner));
  return [...results].sort(([one], [other]) => one - other).map(([, result]) => result);
}

// Runs jobs one after the other start: a few at once, and never many starts within a second.

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
