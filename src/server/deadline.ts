// The time limit of a whole answer, or of a stream's first event.

import { GatewayError } from '../canonical/error.ts';
import type { Clock, Timer } from '../lib/clock.ts';

/** Aborts with a `timeout` error after `limitMs`. Cancel the timer when the answer is there. */
export function startDeadline(clock: Clock, abort: AbortController, limitMs: number): Timer {
  return clock.startTimer(limitMs, () => {
    const message = `No answer within ${Math.round(limitMs / 1000)} seconds. Try a shorter request, or stream the answer.`;
    abort.abort(new GatewayError({ kind: 'timeout', source: 'gateway', message }));
  });
}
