// What the processes of one gateway share: notices, single values and exact counters. Decisions stay with each process.

import type { Clock } from '../lib/clock.ts';

/**
 * A process's membership among those that serve the same clients. There are three: `memory.ts` for a process alone,
 * `parent.ts` for the workers of one machine, `valkey.ts` for replicas. All pass test/contracts/cluster.ts.
 */
export interface Cluster {
  /** Names this process among the others, for this run alone; `nameOfReplica` tells what people call it. */
  readonly replica: string;
  readonly notices: Notices;
  readonly values: SharedValues;
  readonly bank: Bank;
  readonly state: () => ClusterState;
  /** Called when the state changes; the answer ends it. */
  subscribe(listener: (state: ClusterState) => void): () => void;
  /** Everybody here who listens reads anew what may have been missed. */
  catchUp(): void;
  close(): Promise<void>;
}

/**
 * An id of a process, for `Cluster.replica`.
 * @param name what people call it: one that takes its place later has the same
 * @param run tells this run from others of the name
 */
export function replicaId(name: string, run: string): string {
  return `${name}~${run}`;
}

/** What people call the process of this id. */
export function nameOfReplica(replica: string): string {
  const end = replica.lastIndexOf('~');
  return end < 0 ? replica : replica.slice(0, end);
}

export interface ClusterState {
  readonly kind: 'memory' | 'parent' | 'valkey';
  /** False while the others cannot be reached: then this process decides by itself. */
  readonly isConnected: boolean;
  /** What it says that refuses to connect them; absent where nothing is heard of it. */
  readonly refusal?: string | undefined;
  /** Since when, in milliseconds since the epoch. */
  readonly since: number;
  /** The processes there are, this one included, as far as is known. */
  readonly replicas: readonly string[];
}

/** A subject of notices. Change its number with its shape, so that replicas of other versions ignore it. */
export interface Topic<Notice> {
  readonly name: string;
  /** Never there: it is the type alone. */
  readonly notice?: Notice;
}

/** What waits goes together: a message of its own would cost each request about as much as its counters. */
export const GATHER_MS = 20;

/** Of notices about the same that wait one is told: what many requests tell one after the other costs little more. */
export interface CanWait<Notice> {
  readonly about: string;
  /** What says both; the later one where it is absent. */
  readonly join?: (before: Notice, after: Notice) => Notice;
}

export class WaitingNotices {
  readonly #byAbout = new Map<string, { notice: unknown }>();

  /** @param entry to be told, unless it is joined to one that waits; true then */
  join<Notice>(
    topic: string,
    entry: { notice: unknown },
    { about, join = (_before, after) => after }: CanWait<Notice>,
  ): boolean {
    const key = `${topic} ${about}`;
    const before = this.#byAbout.get(key);
    if (before === undefined) this.#byAbout.set(key, entry);
    else before.notice = join(before.notice as Notice, entry.notice as Notice);
    return before !== undefined;
  }

  /** To be called when all that waits is told. */
  clear(): void {
    this.#byAbout.clear();
  }
}

/** What one process tells the others: within 50 ms, and in its own order. */
interface Notices {
  /**
   * Tells every other process. Never waits and never fails: a notice that cannot be sent is lost, and whoever
   * missed it is told to catch up.
   * @param notice plain JSON; fields that are undefined are left out. Secrets have no place in it.
   * @param canWait where nobody decides by it: it goes with the next one, or some milliseconds later
   */
  tell<Notice>(topic: Topic<Notice>, notice: Notice, canWait?: CanWait<Notice>): void;
  /** @returns what ends it */
  listen<Notice>(topic: Topic<Notice>, listener: NoticeListener<Notice>): () => void;
}

interface NoticeListener<Notice> {
  /** @param from the replica that told it, never this one */
  take(notice: Notice, from: string): void;
  /** Notices may have been missed: what they would have changed is to be read anew from where it is stored. */
  catchUp?(): void;
}

/** Small texts that any process may need, each for a limited time. They are lost when what holds them is. */
interface SharedValues {
  /** @throws ClusterUnavailable */
  put(key: string, value: string, lifetimeMs: number): Promise<void>;
  /** @throws ClusterUnavailable */
  get(key: string): Promise<string | undefined>;
  /** Gives it to one asker alone, and forgets it. @throws ClusterUnavailable */
  take(key: string): Promise<string | undefined>;
}

export class ClusterUnavailable extends Error {
  override readonly name = 'ClusterUnavailable';
}

/** How long an amount counts: for the last minute, or as long as the name of the counter says: some hours, or `long`. */
export type CountWindow = 'minute' | 'named' | 'long';

export interface CounterName {
  /** The same in every process; that of a day or month holds the date. */
  readonly counter: string;
  readonly window: CountWindow;
}

export interface CreditRequest extends CounterName {
  /** The most that all processes together may use. */
  readonly limit: number;
  /** All of it is granted, or nothing. */
  readonly amount: number;
  /** What is taken in stock where the limit is far. */
  readonly batch: number;
  /** For a bank that has no such counter: what is used as far as the asker knows, without what is held. */
  readonly initial: number;
  /** What is used for certain of what is held: a bank whose counter has less has lost some. */
  readonly certain?: number | undefined;
  /** True for what runs: it is held until it is given back, or until the asker is no member any more. */
  readonly isHeld?: boolean | undefined;
}

export interface CreditGrant {
  /** At least the amount, or 0. */
  readonly granted: number;
  /** What all processes have used or hold in stock. */
  readonly used: number;
  /** Until the amount could be granted by time alone; 0 where it is granted, or time does not help. */
  readonly retryAfterMs: number;
}

/** Grants the credits of exact counters. A bank in this process answers at once, others by a promise that never rejects. */
export interface Bank {
  lease(request: CreditRequest): CreditGrant | Promise<CreditGrant>;
  /**
   * Takes back what was granted and not used, or with a negative amount counts what was used beyond it. A counter that
   * the bank does not have stays so: the next who asks says what is used.
   * @param held what is held no more with it; where it is not held any more all that was used of it counts anew
   */
  giveBack(counter: CounterName, amount: number, held?: number): void;
  /** True where leasing costs nothing: then nothing is taken in stock. */
  readonly isLocal: boolean;
}

/** The processes there are besides this one. */
export function othersOf({ state, replica }: Pick<Cluster, 'state' | 'replica'>): string[] {
  return state().replicas.filter((name) => name !== replica);
}

/** Those here who wait for what others tell. */
export class Waits<Told extends readonly unknown[]> {
  readonly #hears = new Set<(...told: Told) => void>();
  readonly #clock: Pick<Clock, 'startTimer'>;
  readonly #mostMs: number;

  /** @param mostMs nobody waits longer */
  constructor(clock: Pick<Clock, 'startTimer'>, mostMs: number) {
    this.#clock = clock;
    this.#mostMs = mostMs;
  }

  tell(...told: Told): void {
    for (const hear of this.#hears) hear(...told);
  }

  /** Resolves once `hears` has told that it heard enough, or when it had the time to. */
  until(hears: (...told: Told) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        timer.cancel();
        this.#hears.delete(hear);
        resolve();
      };
      const hear = (...told: Told): void => {
        if (hears(...told)) finish();
      };
      const timer = this.#clock.startTimer(this.#mostMs, finish);
      this.#hears.add(hear);
    });
  }
}

export class NoticeListeners {
  readonly #byTopic = new Map<string, Set<NoticeListener<never>>>();
  readonly #onFault: (error: unknown) => void;

  /** @param onFault told of what a listener throws; the others are told all the same */
  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  /** @returns what ends it */
  add<Notice>({ name }: Topic<Notice>, listener: NoticeListener<Notice>): () => void {
    const listeners = this.#byTopic.get(name) ?? new Set();
    this.#byTopic.set(name, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /** @param topic its name, which stands for the shape of the notice */
  take(topic: string, notice: unknown, from: string): void {
    for (const listener of this.#byTopic.get(topic) ?? [])
      this.#guard(() => listener.take(notice as never, from));
  }

  /** To be called when notices may have been missed. */
  catchUp(): void {
    for (const listeners of this.#byTopic.values())
      for (const listener of listeners) this.#guard(() => listener.catchUp?.());
  }

  #guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#onFault(error);
    }
  }
}
