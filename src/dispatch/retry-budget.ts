// The pool-wide budget for path retries: an outage must not be multiplied by our own retries.

import type { Clock } from '../lib/clock.ts';

export interface RetryBudget {
  /** Counts a request that starts. */
  noteRequest(): void;
  /** True when another path retry is allowed now. */
  hasRoom(): boolean;
  /** Counts a retry that is made, also one there was room for when it was decided and no more. */
  take(): void;
  /** A retry that succeeded is no part of an outage, and makes room for another. */
  giveBack(): void;
}

const WINDOW_MS = 10_000;
const SHARE = 0.2;
const FLOOR = 10;

/**
 * Retries that did not help, and those under way, may be 20 % of the requests of the last ten to twenty
 * seconds, and at least ten.
 */
export function createRetryBudget(clock: Pick<Clock, 'monotonic'>): RetryBudget {
  let current = { start: clock.monotonic(), requests: 0, retries: 0 };
  let previous = { requests: 0, retries: 0 };
  const roll = (): void => {
    const elapsed = clock.monotonic() - current.start;
    if (elapsed < WINDOW_MS) return;
    previous = elapsed < 2 * WINDOW_MS ? current : { requests: 0, retries: 0 };
    current = { start: clock.monotonic(), requests: 0, retries: 0 };
  };
  const hasRoom = (): boolean => {
    roll();
    const requests = current.requests + previous.requests;
    return current.retries + previous.retries < Math.max(FLOOR, requests * SHARE);
  };
  return {
    noteRequest() {
      roll();
      current.requests += 1;
    },
    hasRoom,
    take() {
      roll();
      current.retries += 1;
    },
    giveBack() {
      roll();
      if (current.retries > 0) current.retries -= 1;
      else if (previous.retries > 0) previous.retries -= 1;
    },
  };
}
