// A wait that an abort ends, by the timers of any clock.

/** Resolves after `delayMs`; rejects with the signal's reason when it aborts first. */
export function sleepWith(
  startTimer: (delayMs: number, callback: () => void) => { cancel(): void },
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
