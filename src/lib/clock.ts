// Time as a dependency: the present moment and cancellable waits, real here, fake in tests.

/** A running timer; `cancel` is idempotent, and may be handed on by itself. */
export interface Timer {
  readonly cancel: () => void;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Monotonic milliseconds, for durations. */
  monotonic(): number;
  /** Calls `callback` once after `delayMs`. The timer never keeps the process alive. */
  startTimer(delayMs: number, callback: () => void): Timer;
  /** Resolves after `delayMs`; rejects with the signal's reason when it aborts first. Until then the process stays. */
  sleep(delayMs: number, signal: AbortSignal): Promise<void>;
}

export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    startTimer(delayMs, callback) {
      const handle = setTimeout(callback, delayMs);
      handle.unref();
      return { cancel: () => clearTimeout(handle) };
    },
    sleep: (delayMs, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const onAbort = (): void => {
          clearTimeout(handle);
          reject(signal.reason);
        };
        const handle = setTimeout(() => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        }, delayMs);
        signal.addEventListener('abort', onAbort, { once: true });
      }),
  };
}

/**
 * A timer of node put off for every event of a stream is moved within its list each time. This one
 * only notes the moment, and starts again for the rest when it runs out too early.
 */
export class SilenceTimer {
  readonly #clock: Pick<Clock, 'monotonic' | 'startTimer'>;
  readonly #onSilence: (limitMs: number) => void;
  #timer: Timer | undefined;
  /** When the running timer runs out; monotonic milliseconds, as all of these. */
  #endsAt = 0;
  #touchedAt = 0;
  #limitMs = 0;

  /** `onSilence` is called once for each silence; only a touch begins the next. */
  constructor(
    clock: Pick<Clock, 'monotonic' | 'startTimer'>,
    onSilence: (limitMs: number) => void,
  ) {
    this.#clock = clock;
    this.#onSilence = onSilence;
  }

  /** Something happened; from now on it may be silent for `limitMs`. */
  touch(limitMs: number): void {
    const now = this.#clock.monotonic();
    this.#touchedAt = now;
    this.#limitMs = limitMs;
    if (this.#timer !== undefined && this.#endsAt <= now + limitMs) return;
    this.#timer?.cancel();
    this.#start(now, limitMs);
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #start(now: number, delayMs: number): void {
    this.#endsAt = now + delayMs;
    this.#timer = this.#clock.startTimer(delayMs, this.#onEnd);
  }

  readonly #onEnd = (): void => {
    this.#timer = undefined;
    const now = this.#clock.monotonic();
    const restMs = this.#touchedAt + this.#limitMs - now;
    if (restMs > 0) this.#start(now, Math.ceil(restMs));
    else this.#onSilence(this.#limitMs);
  };
}
