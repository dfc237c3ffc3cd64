// Time as a dependency: the present moment and cancellable waits, real here, fake in tests; work that ends in time.

import { setTimeout as wait } from 'node:timers/promises';

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
      wait(delayMs, undefined, { signal }).catch(() => {
        throw signal.reason;
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

// Calls outwards end in time, when nobody waits for them any more, and when their answer is too large.

interface TimeLimit {
  readonly clock: Pick<Clock, 'startTimer'>;
  readonly limitMs: number;
  readonly signal?: AbortSignal;
  /** What is thrown when the time is over. */
  tooSlow(): Error;
  /** What is thrown for another error of the work. */
  faultOf(error: unknown): unknown;
}

/**
 * Gives `work` a signal that aborts when the time is over or `signal` aborts, and waits for it no longer.
 * @throws the signal's reason, what `tooSlow` gives, or what `faultOf` makes of an error
 */
export async function withinLimit<Value>(
  { clock, limitMs, signal, tooSlow, faultOf }: TimeLimit,
  work: (ended: AbortSignal) => Promise<Value>,
): Promise<Value> {
  signal?.throwIfAborted();
  const limit = new AbortController();
  const timer = clock.startTimer(limitMs, () => limit.abort(tooSlow()));
  const ended = AbortSignal.any([limit.signal, ...(signal === undefined ? [] : [signal])]);
  try {
    return await unlessAborted(ended, work(ended));
  } catch (error) {
    throw ended.aborted ? ended.reason : faultOf(error);
  } finally {
    timer.cancel();
    limit.abort();
  }
}

/** Rejects at once when the signal aborts, also while a connection is still being made. */
export function unlessAborted<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      work.catch(() => {});
      return reject(signal.reason);
    }
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Waits for the work, and no longer than that. @returns whether it was done by then. @throws what the work does */
export async function waitAtMost(
  clock: Pick<Clock, 'startTimer'>,
  limitMs: number,
  work: Promise<unknown>,
): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = clock.startTimer(limitMs, () => late.resolve(false));
  try {
    return await Promise.race([work.then(() => true), late.promise]);
  } finally {
    timer.cancel();
  }
}

/** The whole body; undefined when it is larger than that. */
export async function readWithin(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
