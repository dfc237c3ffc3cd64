// Calls that an upstream, or one of its accounts, takes at once, and the short queue of requests that wait for one.

import type { Clock } from '../lib/clock.ts';
import { tally } from '../lib/collections.ts';

/** The most calls at once; undefined for no limit. */
export interface ConcurrencyLimits {
  ofUpstream(upstreamId: string): number | undefined;
  ofAccount(accountId: string): number | undefined;
  /** False while nothing has a limit. */
  isLimited(): boolean;
}

/** An account that takes calls, and the upstream it is of. */
export interface Place {
  readonly accountId: string;
  readonly upstreamId: string;
}

interface Waiter {
  readonly clientKeyId: string;
  /** Any of these would do. */
  readonly places: readonly Place[];
  readonly upstreamIds: ReadonlySet<string>;
  readonly since: number;
  /** Its turn has come. */
  admit(place: Place): void;
  /** Another one waits in its place. */
  refuse(): void;
  /** Leaves where it is served without a slot becoming free. */
  look(): void;
}

interface Waiting {
  readonly clientKeyId: string;
  /** Monotonic milliseconds at which the request began to wait, also for a slot it could not use in the end. */
  readonly since: number;
  readonly signal: AbortSignal;
  /** True where it need not wait any more: for an account that was out of use, or a limit that was raised. */
  readonly isServed: () => boolean;
}

/** Who waits longer is told to come again: a client's own patience ends about then. */
const MAX_WAIT_MS = 30_000;
/** So many requests wait for one upstream; more are refused at once. */
const MAX_WAITING = 64;
/** Accounts recover, and limits change, without a call that ends. */
const LOOK_EVERY_MS = 1_000;

/** Waiting keys take turns. A slot that becomes free is kept for the first that can use it. */
export class Slots {
  readonly #limits: ConcurrencyLimits;
  /** False while nothing has a limit. */
  readonly isLimited: () => boolean;
  readonly #clock: Clock;
  readonly #inFlight = new Map<string, number>();
  /** Slots that are kept for requests whose turn has come. */
  readonly #kept = new Map<string, number>();
  /** By upstream, then by client key: the key whose turn is next comes first. */
  readonly #queues = new Map<string, Map<string, Waiter[]>>();
  #isLooking = false;

  constructor(limits: ConcurrencyLimits, clock: Clock) {
    this.#limits = limits;
    this.isLimited = limits.isLimited;
    this.#clock = clock;
  }

  /** @param admitted the place that keeps a slot for the request that asks */
  isFull({ accountId, upstreamId }: Place, admitted?: Place): boolean {
    if (!this.isLimited()) return false;
    const isTaken = (name: string, limit: number | undefined, isOwn: boolean): boolean => {
      const taken = (this.#inFlight.get(name) ?? 0) + (this.#kept.get(name) ?? 0);
      return limit !== undefined && taken - (isOwn ? 1 : 0) >= limit;
    };
    const ofAccount = this.#limits.ofAccount(accountId);
    const ofUpstream = this.#limits.ofUpstream(upstreamId);
    return (
      isTaken(`a ${accountId}`, ofAccount, admitted?.accountId === accountId) ||
      isTaken(`u ${upstreamId}`, ofUpstream, admitted?.upstreamId === upstreamId)
    );
  }

  take(place: Place): void {
    addTo(this.#inFlight, place, 1);
  }

  release(place: Place): void {
    addTo(this.#inFlight, place, -1);
    if (this.#queues.size > 0) this.#admitNext(place.upstreamId);
  }

  /** Resolves with a place to name at its next lease; undefined when too many wait, time is up, or it is served. */
  async wait(
    places: readonly Place[],
    { clientKeyId, since, signal, isServed }: Waiting,
  ): Promise<Place | undefined> {
    signal.throwIfAborted();
    const upstreamIds = new Set(places.map(({ upstreamId }) => upstreamId));
    const isCrowded = [...upstreamIds].every((id) => this.#waitingFor(id) >= MAX_WAITING);
    if (isCrowded && !this.#makesRoom(upstreamIds, clientKeyId)) return undefined;
    const { promise, resolve, reject } = Promise.withResolvers<Place | undefined>();
    // Nobody is admitted any more who has given up, however late that is noticed.
    const giveUp = (end: () => void): void => {
      this.#forget(waiter);
      end();
    };
    const refuse = (): void => giveUp(() => resolve(undefined));
    const look = (): void => {
      if (isServed()) refuse();
    };
    const waiter: Waiter = {
      clientKeyId,
      places,
      upstreamIds,
      since,
      admit: resolve,
      refuse,
      look,
    };
    for (const id of upstreamIds) this.#join(id, waiter);
    this.#lookLater();
    const leftMs = since + MAX_WAIT_MS - this.#clock.monotonic();
    const timer = this.#clock.startTimer(Math.max(0, leftMs), refuse);
    const onGone = (): void => giveUp(() => reject(signal.reason));
    signal.addEventListener('abort', onGone, { once: true });
    try {
      return await promise;
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', onGone);
    }
  }

  /** While some wait they look around once in a while, key by key, those that came first before the others. */
  #lookLater(): void {
    if (this.#isLooking || this.#queues.size === 0) return;
    this.#isLooking = true;
    this.#clock.startTimer(LOOK_EVERY_MS, () => {
      this.#isLooking = false;
      const places = [...this.#queues.values()]
        .flatMap((queue) => [...queue.values()])
        .flatMap((waiters) => [...waiters.entries()])
        .toSorted(([one], [other]) => one - other);
      for (const waiter of new Set(places.map(([, waiter]) => waiter))) waiter.look();
      this.#lookLater();
    });
  }

  /** The slot that was kept for a request is its own now, or nobody's. */
  leave(place: Place): void {
    addTo(this.#kept, place, -1);
    this.#admitNext(place.upstreamId);
  }

  /** In a full queue the newest request of the key with the most gives way. False when the asker is that key. */
  #makesRoom(upstreamIds: ReadonlySet<string>, clientKeyId: string): boolean {
    const queues = [...upstreamIds].flatMap((id) => this.#queues.get(id) ?? []);
    const greediest = queues
      .flatMap((queue) => [...queue.values()])
      .reduce((most, waiters) => (waiters.length > most.length ? waiters : most));
    const own = Math.max(...queues.map((queue) => queue.get(clientKeyId)?.length ?? 0));
    const newest = greediest.at(-1);
    if (newest === undefined || own + 1 >= greediest.length) return false;
    newest.refuse();
    return true;
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
    else {
      // One that comes back has waited longer than those behind it.
      const after = waiters.findLastIndex(({ since }) => since <= waiter.since);
      waiters.splice(after + 1, 0, waiter);
    }
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
    for (const [clientKeyId, waiters] of queue ?? []) {
      for (const waiter of waiters) {
        const free = waiter.places.find(
          (place) => place.upstreamId === upstreamId && !this.isFull(place),
        );
        if (free === undefined) continue;
        this.#forget(waiter);
        // Whose turn it was comes last.
        const others = queue?.get(clientKeyId);
        if (others !== undefined) {
          queue?.delete(clientKeyId);
          queue?.set(clientKeyId, others);
        }
        addTo(this.#kept, free, 1);
        waiter.admit(free);
        return;
      }
    }
  }
}

function addTo(counts: Map<string, number>, { accountId, upstreamId }: Place, step: 1 | -1): void {
  tally(counts, `a ${accountId}`, step);
  tally(counts, `u ${upstreamId}`, step);
}
