// Leaves an upstream that does not begin to answer for another account, where there is one.

import { GatewayError } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import { told } from '../lib/localized-message.ts';

/** An upstream that has not begun to answer by then is left. */
const PATIENCE_MS = 120_000;

interface PatienceOptions {
  /** The client's own. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** True while another account could be asked in place of this one. */
  readonly hasOther: () => boolean;
}

export type Patience = ReturnType<typeof createPatience>;

/** Of one call to an upstream. */
export function createPatience({ signal: client, clock, hasOther }: PatienceOptions) {
  // Not `AbortSignal.any`, whose weak references cost every request a part of its time.
  const exchange = new AbortController();
  const onGone = (): void => exchange.abort(client.reason);
  if (client.aborted) onGone();
  client.addEventListener('abort', onGone, { once: true });
  const leave = (): void => {
    if (hasOther()) exchange.abort(notBegun());
  };
  let timer = clock.startTimer(PATIENCE_MS, leave);
  return {
    /** With which the call is made. */
    signal: exchange.signal,
    /** It has begun to answer, or ended. */
    end: (): void => timer.cancel(),
    /** Another request of the same call is made. */
    restart(): void {
      timer.cancel();
      timer = clock.startTimer(PATIENCE_MS, leave);
    },
    /** What the call failed with. */
    reasonOf(error: unknown): unknown {
      client.removeEventListener('abort', onGone);
      return exchange.signal.aborted && !client.aborted ? exchange.signal.reason : error;
    },
  };
}

function notBegun(): GatewayError {
  return new GatewayError({
    kind: 'timeout',
    source: 'upstream',
    message: told`The upstream did not begin to answer in time.`,
    failure: { kind: 'path' },
  });
}
