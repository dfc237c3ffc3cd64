// Time as a dependency: the present moment and cancellable waits, real here, fake in tests.

/** A running timer. `refresh` starts its full delay again; `cancel` is idempotent. */
export interface Timer {
  refresh(): void;
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Monotonic milliseconds, for durations. */
  monotonic(): number;
  /** Calls `callback` once after `delayMs`. The timer never keeps the process alive. */
  startTimer(delayMs: number, callback: () => void): Timer;
  /** Resolves after `delayMs`; rejects with the signal's reason when it aborts first. */
  sleep(delayMs: number, signal: AbortSignal): Promise<void>;
}

export function createSystemClock(): Clock {
  const startTimer = (delayMs: number, callback: () => void): Timer => {
    const handle = setTimeout(callback, delayMs);
    handle.unref();
    return { refresh: () => handle.refresh(), cancel: () => clearTimeout(handle) };
  };
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    startTimer,
    sleep: (delayMs, signal) => sleepWith(startTimer, delayMs, signal),
  };
}

/** Builds `sleep` from `startTimer`, for this clock and for fake ones. */
export function sleepWith(
  startTimer: Clock['startTimer'],
  delayMs: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      timer.cancel();
      reject(signal.reason);
    };
    const timer = startTimer(delayMs, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
