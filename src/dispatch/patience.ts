// Leaves an upstream that does not begin to answer for another account, where there is one.

import { GatewayError } from '../canonical/error.ts';
import type { Clock, Timer } from '../lib/clock.ts';
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

/** Of one call to an upstream. */
export class Patience {
  readonly #client: AbortSignal;
  // Not `AbortSignal.any`, whose weak references cost every request a part of its time.
  readonly #exchange = new AbortController();
  readonly #onGone = (): void => this.#exchange.abort(this.#client.reason);
  readonly #start: () => Timer;
  #timer: Timer;

  constructor({ signal, clock, hasOther }: PatienceOptions) {
    this.#client = signal;
    if (signal.aborted) this.#onGone();
    signal.addEventListener('abort', this.#onGone, { once: true });
    this.#start = () =>
      clock.startTimer(PATIENCE_MS, () => {
        if (hasOther()) this.#exchange.abort(notBegun());
      });
    this.#timer = this.#start();
  }

  /** With which the call is made. */
  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  /** It has begun to answer, or ended. */
  readonly end = (): void => this.#timer.cancel();

  /** Another request of the same call is made. */
  restart(): void {
    this.end();
    this.#timer = this.#start();
  }

  /** What the call failed with. */
  reasonOf(error: unknown): unknown {
    this.#client.removeEventListener('abort', this.#onGone);
    return this.signal.aborted && !this.#client.aborted ? this.signal.reason : error;
  }
}

function notBegun(): GatewayError {
  return new GatewayError({
    kind: 'timeout',
    source: 'upstream',
    message: told`The upstream did not begin to answer in time.`,
    failure: { kind: 'path' },
  });
}
