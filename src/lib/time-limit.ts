// Calls outwards end in time, when nobody waits for them any more, and when their answer is too large.

import type { Clock } from './clock.ts';

interface TimeLimit {
  readonly clock: Clock;
  readonly limitMs: number;
  readonly signal: AbortSignal;
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
  signal.throwIfAborted();
  const limit = new AbortController();
  const timer = clock.startTimer(limitMs, () => limit.abort(tooSlow()));
  const ended = AbortSignal.any([signal, limit.signal]);
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
