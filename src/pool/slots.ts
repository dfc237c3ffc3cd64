// Calls that an upstream, or one of its accounts, takes at once, and the short queue of requests that wait for one.

import { GatewayError } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import { told } from '../lib/localized-message.ts';

/** The most calls at once; undefined for no limit. */
export interface ConcurrencyLimits {
  ofUpstream(upstreamId: string): number | undefined;
  ofAccount(accountId: string): number | undefined;
  /** False while nothing has a limit. */
  isLimited(): boolean;
}

interface Place {
  readonly accountId: string;
  readonly upstreamId: string;
}

interface Waiter {
  readonly clientKeyId: string;
  readonly upstreamIds: ReadonlySet<string>;
  /** Its turn has come. */
  admit(upstreamId: string): void;
}

/** Who waits longer is told to come again: a client's own patience ends about then. */
const MAX_WAIT_MS = 30_000;
/** So many requests wait for one upstream; more are refused at once. */
const MAX_WAITING = 64;
const RETRY_MS = 5_000;

/**
 * Of the requests that wait for an upstream the client keys take turns, each in the order of its own requests. A slot
 * that becomes free is kept for the one whose turn it is until that has leased it.
 */
export class Slots {
  readonly #limits: ConcurrencyLimits;
  readonly #clock: Clock;
  readonly #inFlight = new Map<string, number>();
  /** Slots that are kept for requests whose turn has come, by upstream. */
  readonly #kept = new Map<string, number>();
  /** By upstream, then by client key: the key whose turn is next comes first. */
  readonly #queues = new Map<string, Map<string, Waiter[]>>();

  constructor(limits: ConcurrencyLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** False while nothing has a limit. */
  get isLimited(): boolean {
    return this.#limits.isLimited();
  }

  /** @param admitted the upstream that keeps a slot for the request that asks */
  isFull({ accountId, upstreamId }: Place, admitted?: string): boolean {
    if (!this.#limits.isLimited()) return false;
    const ofAccount = this.#limits.ofAccount(accountId);
    if (ofAccount !== undefined && this.#count(`a ${accountId}`) >= ofAccount) return true;
    const ofUpstream = this.#limits.ofUpstream(upstreamId);
    if (ofUpstream === undefined) return false;
    const kept = (this.#kept.get(upstreamId) ?? 0) - (admitted === upstreamId ? 1 : 0);
    return this.#count(`u ${upstreamId}`) + kept >= ofUpstream;
  }

  take({ accountId, upstreamId }: Place): void {
    this.#add(`a ${accountId}`, 1);
    this.#add(`u ${upstreamId}`, 1);
  }

  release(place: Place): void {
    this.#add(`a ${place.accountId}`, -1);
    this.#add(`u ${place.upstreamId}`, -1);
    this.#admitNext(place.upstreamId);
  }

  /**
   * Resolves with the upstream that keeps a slot for the request, to be named by its next lease.
   * @throws GatewayError overloaded when too many wait, or none becomes free in time; the signal's reason
   */
  async wait(
    upstreamIds: readonly string[],
    clientKeyId: string,
    signal: AbortSignal,
  ): Promise<string> {
    signal.throwIfAborted();
    if (upstreamIds.every((id) => this.#waitingFor(id) >= MAX_WAITING)) throw busy();
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const waiter: Waiter = { clientKeyId, upstreamIds: new Set(upstreamIds), admit: resolve };
    for (const id of upstreamIds) this.#join(id, waiter);
    const timer = this.#clock.startTimer(MAX_WAIT_MS, () => reject(busy()));
    const onGone = (): void => reject(signal.reason);
    signal.addEventListener('abort', onGone, { once: true });
    try {
      return await promise;
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', onGone);
      this.#forget(waiter);
    }
  }

  /** The slot that was kept for a request is its own now, or nobody's. */
  leave(upstreamId: string): void {
    const kept = (this.#kept.get(upstreamId) ?? 0) - 1;
    if (kept > 0) this.#kept.set(upstreamId, kept);
    else this.#kept.delete(upstreamId);
    this.#admitNext(upstreamId);
  }

  #count(name: string): number {
    return this.#inFlight.get(name) ?? 0;
  }

  #add(name: string, step: 1 | -1): void {
    const count = this.#count(name) + step;
    if (count > 0) this.#inFlight.set(name, count);
    else this.#inFlight.delete(name);
  }

  #waitingFor(upstreamId: string): number {
    let waiting = 0;
    for (const waiters of this.#queues.get(upstreamId)?.values() ?? []) waiting += waiters.length;
    return waiting;
  }

  #join(upstreamId: string, waiter: Waiter): void {
    const queue = this.#queues.get(upstreamId) ?? new Map<string, Waiter[]>();
    this.#queues.set(upstreamId, queue);
    const waiters = queue.get(waiter.clientKeyId);
    if (waiters === undefined) queue.set(waiter.clientKeyId, [waiter]);
    else waiters.push(waiter);
  }

  #forget(waiter: Waiter): void {
    for (const id of waiter.upstreamIds) {
      const queue = this.#queues.get(id);
      const waiters = queue?.get(waiter.clientKeyId)?.filter((one) => one !== waiter) ?? [];
      if (waiters.length > 0) queue?.set(waiter.clientKeyId, waiters);
      else queue?.delete(waiter.clientKeyId);
      if (queue?.size === 0) this.#queues.delete(id);
    }
  }

  #admitNext(upstreamId: string): void {
    const queue = this.#queues.get(upstreamId);
    const [next] = queue ?? [];
    if (queue === undefined || next === undefined) return;
    const limit = this.#limits.ofUpstream(upstreamId);
    const taken = this.#count(`u ${upstreamId}`) + (this.#kept.get(upstreamId) ?? 0);
    if (limit !== undefined && taken >= limit) return;
    const [clientKeyId, waiters] = next;
    const waiter = waiters.shift();
    // Whose turn it was comes last.
    queue.delete(clientKeyId);
    if (waiters.length > 0) queue.set(clientKeyId, waiters);
    if (waiter === undefined) return;
    this.#kept.set(upstreamId, (this.#kept.get(upstreamId) ?? 0) + 1);
    this.#forget(waiter);
    waiter.admit(upstreamId);
  }
}

function busy(): GatewayError {
  return new GatewayError({
    kind: 'overloaded',
    source: 'gateway',
    message: told`All calls that this upstream takes at once are under way. Try again shortly.`,
    retryAfterMs: RETRY_MS,
  });
}
