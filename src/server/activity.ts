// Counts the requests in progress and winds the server down without cutting answers short.

import type { Socket } from 'node:net';
import { type GatewayError, gatewayError } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import { IndexedList, type IndexedListItem } from '../lib/collections.ts';
import { told } from '../lib/localized-message.ts';

export type Activity = ReturnType<typeof createActivity>;

interface Running extends IndexedListItem {
  readonly request: { readonly socket: Socket };
  readonly abort: AbortController;
}

/** `leaving` still takes requests, `draining` only ends them. A worker that is `replaced` leaves alone. */
type Phase = 'starting' | 'serving' | 'replaced' | 'leaving' | 'draining';

/** Time an aborted answer has to write its own error and end. */
const LAST_WORDS_MS = 2_000;

export function createActivity(clock: Clock) {
  const running = new IndexedList<Running>();
  let phase: Phase = 'starting';
  const ending = new AbortController();
  let onIdle: (() => void) | undefined;
  /** True while requests behind this one run on the same connection. */
  const isPipelined = ({ request }: Running): boolean =>
    running.list().some((other) => other.request.socket === request.socket);
  const activity = {
    get phase(): Phase {
      return phase;
    },
    get isStopping(): boolean {
      return phase === 'leaving' || phase === 'draining';
    },
    /** True once this process was told to stop: answers then close their connection. */
    closesConnections: false,
    /** Aborted when the drain begins: answers without an end of their own end then. */
    ending: ending.signal,
    /** Call when the start is done. */
    serve(): void {
      if (phase === 'starting') phase = 'serving';
    },
    /** Nobody shall send more; what is sent all the same is served for `delayMs`. */
    async leave(as: 'replaced' | 'leaving', delayMs: number): Promise<void> {
      phase = as;
      activity.closesConnections = true;
      await new Promise<void>((resolve) => clock.startTimer(delayMs, resolve));
    },
    begin(exchange: Running): void {
      running.add(exchange);
    },
    /** Call once the response is closed. */
    end(exchange: Running): void {
      running.delete(exchange);
      // Headers of a stream that began before the drain promised a connection that stays open.
      if (phase === 'draining' && !isPipelined(exchange)) exchange.request.socket.destroySoon();
      if (onIdle !== undefined && running.size === 0) onIdle();
    },
    /** Resolves when nothing runs; after `graceMs` what still runs is aborted and given a last moment to say so. */
    async drain(graceMs: number): Promise<void> {
      phase = 'draining';
      activity.closesConnections = true;
      ending.abort();
      if (running.size === 0) return;
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve;
      });
      const grace = clock.startTimer(graceMs, () => {
        for (const exchange of running.list()) exchange.abort.abort(shuttingDown());
      });
      const last = clock.startTimer(graceMs + LAST_WORDS_MS, () => onIdle?.());
      await idle;
      grace.cancel();
      last.cancel();
    },
  };
  return activity;
}

export function shuttingDown(): GatewayError {
  const message = told`The gateway is shutting down. Send the request again in a moment.`;
  return gatewayError('overloaded', message, { retryAfterMs: 1_000 });
}
