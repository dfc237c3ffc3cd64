// Bounds on what runs at the same time: a limit, a mutex, and a gate that also bounds the starts of a second.

import type { Clock, Timer } from './clock.ts';

type Limit = <Result>(job: () => Promise<Result>) => Promise<Result>;

/** Runs at most `max` jobs at the same time; the others wait in the order they came. */
export function limit(max: number): Limit {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (job) => {
    // A job that ends hands its place over, so that no other takes it in between.
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
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

/** Runs jobs one after the other, each with its own result; one that fails does not hold back the next. */
export function createMutex(): Limit {
  return limit(1);
}

/** The results of `work` in the order of the items, at most `max` of which are worked on at the same time. */
export function mapLimit<Item, Result>(
  items: readonly Item[],
  max: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const run = limit(max);
  return Promise.all(items.map((item) => run(() => work(item))));
}

export type RateGate = ReturnType<typeof createRateGate>;

interface RateGateOptions {
  readonly clock: Pick<Clock, 'monotonic' | 'startTimer'>;
  readonly maxConcurrent: number;
  /** Least time between two starts, in milliseconds. */
  readonly spacingMs: number;
}

/** Runs a few jobs at the same time, and never starts many within a second. */
export function createRateGate({ clock, maxConcurrent, spacingMs }: RateGateOptions) {
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
    /** Urgent jobs go before those that wait already. A job must not throw. */
    add(job: () => Promise<void>, { isUrgent }: { readonly isUrgent: boolean }): void {
      if (isUrgent) waiting.unshift(job);
      else waiting.push(job);
      wake();
    },
    /** Forgets what has not begun. */
    close(): void {
      timer?.cancel();
      timer = undefined;
      waiting.length = 0;
    },
  };
}
