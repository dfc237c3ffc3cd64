// A clock that moves only when a test says so.

import type { Clock, Timer } from '../../src/lib/clock.ts';

export interface FakeClock extends Clock {
  /** Moves time on, firing the timers that fall due, in order; lets promises settle in between. */
  advance(byMs: number): Promise<void>;
  readonly pendingTimers: number;
}

interface Pending {
  readonly dueAt: number;
  readonly callback: () => void;
}

export function createFakeClock(startAt = 1_700_000_000_000): FakeClock {
  let now = startAt;
  const timers = new Set<Pending>();
  const startTimer = (delayMs: number, callback: () => void): Timer => {
    const pending: Pending = { dueAt: now + delayMs, callback };
    timers.add(pending);
    return { cancel: () => void timers.delete(pending) };
  };
  return {
    now: () => now,
    monotonic: () => now,
    startTimer,
    sleep: (delayMs, signal) => sleepWith(startTimer, delayMs, signal),
    get pendingTimers() {
      return timers.size;
    },
    async advance(byMs) {
      const until = now + byMs;
      await settle();
      for (;;) {
        const next = [...timers].sort((a, b) => a.dueAt - b.dueAt)[0];
        if (next === undefined || next.dueAt > until) break;
        now = Math.max(now, next.dueAt);
        timers.delete(next);
        next.callback();
        await settle();
      }
      now = until;
    },
  };
}

/** `Clock.sleep` of a clock that is none of the system's. */
export function sleepWith(
  startTimer: Clock['startTimer'],
  delayMs: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const timer = startTimer(delayMs, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    const onAbort = (): void => {
      timer.cancel();
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** Lets every promise that can settle without new input settle. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 60; turn += 1) await Promise.resolve();
}
