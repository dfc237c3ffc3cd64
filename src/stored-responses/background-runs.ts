// Responses that are created in the background: their turns, their bounds, and their ends, at whichever process they are made.

import { type Cluster, type Topic, Waits } from '../cluster/cluster.ts';
import type { Clock, Timer } from '../lib/clock.ts';
import type { EventLog } from './event-log.ts';

/** What one client key may see and end; no other key's can be reached through it. */
export type RunsOfKey = ReturnType<BackgroundRuns['of']>;

export type RunState = 'queued' | 'in_progress';

interface BackgroundRun {
  readonly clientKeyId: string;
  /** What it holds in memory, in UTF-16 units. */
  readonly size: number;
  /** Where its client wants its stream: `work` adds to it. */
  readonly events?: EventLog | undefined;
  /** Names it, once it is sure to be taken. */
  begin(): string;
  /** Never rejects. The signal is aborted from the beginning when it was ended in its queue. */
  work(signal: AbortSignal): Promise<void>;
}

interface StartedRun {
  readonly kind: 'started';
  /** Resolves when the work is over. */
  readonly ended: Promise<void>;
}

export interface RefusedRun {
  readonly kind: 'refused';
  readonly reason: 'too-many' | 'too-large' | 'closing';
}

const LIMITS = {
  /** At work at the same time; the others wait their turn. */
  atOnce: 16,
  /** Waiting and at work. */
  perKey: 16,
  inAll: 128,
  /** UTF-16 units of one run. */
  size: 16 * 1024 * 1024,
  /** UTF-16 units of all runs together. */
  sizeInAll: 128 * 1024 * 1024,
  /** UTF-16 units of the streams that have ended, together. */
  endedSize: 32 * 1024 * 1024,
};

/** So long a stream that has ended can still be read. */
const ENDED_MS = 5 * 60_000;

interface OpenRun {
  readonly run: BackgroundRun;
  readonly abort: AbortController;
  readonly ended: PromiseWithResolvers<void>;
  state: RunState;
}

interface EndedStream {
  readonly clientKeyId: string;
  readonly events: EventLog;
  readonly timer: Timer;
}

interface BackgroundRunsOptions {
  readonly clock: Pick<Clock, 'startTimer'>;
  readonly limits?: Partial<typeof LIMITS>;
  /** Why one ends that its client cancels. */
  readonly cancelled: () => unknown;
  /** The other processes that make some; without it there are none. */
  readonly sharing?: RunSharing | undefined;
}

export class BackgroundRuns {
  readonly #clock: BackgroundRunsOptions['clock'];
  readonly #limits: typeof LIMITS;
  readonly #cancelled: () => unknown;
  readonly #others: OtherRuns | undefined;
  /** In the order they came. */
  readonly #open = new Map<string, OpenRun>();
  /** Streams that have ended, in that order. */
  readonly #ended = new Map<string, EndedStream>();
  #isClosing = false;

  constructor({ clock, limits, cancelled, sharing }: BackgroundRunsOptions) {
    this.#clock = clock;
    this.#limits = { ...LIMITS, ...limits };
    this.#cancelled = cancelled;
    this.#others =
      sharing && new OtherRuns(sharing, (clientKeyId, id) => this.#cancel(clientKeyId, id));
  }

  of(clientKeyId: string) {
    return {
      /**
       * Undefined when nothing of that id is being made.
       * @param runner the process that began it, as it is stored
       */
      stateOf: (id: string, runner: string | undefined): RunState | undefined => {
        const here = this.#find(clientKeyId, id)?.state;
        if (here !== undefined || runner === undefined) return here;
        return this.#others?.mayRun(runner) === true ? 'in_progress' : undefined;
      },
      /** The stream of one that was begun here as a stream, until some time behind its end. */
      eventsOf: (id: string): EventLog | undefined => {
        const ended = this.#ended.get(id);
        if (ended?.clientKeyId === clientKeyId) return ended.events;
        return this.#find(clientKeyId, id)?.run.events;
      },
      /** Ends it as its client wishes. Resolves when it has ended; false when there was nothing to end. */
      cancel: async (id: string, runner: string | undefined): Promise<boolean> => {
        if (await this.#cancel(clientKeyId, id)) return true;
        if (runner === undefined) return false;
        return (await this.#others?.end(runner, { clientKeyId, id })) ?? false;
      },
    };
  }

  #find(clientKeyId: string, id: string): OpenRun | undefined {
    const open = this.#open.get(id);
    return open?.run.clientKeyId === clientKeyId ? open : undefined;
  }

  async #cancel(clientKeyId: string, id: string): Promise<boolean> {
    const open = this.#find(clientKeyId, id);
    if (open === undefined) return false;
    open.abort.abort(this.#cancelled());
    await open.ended.promise;
    return true;
  }

  /** Begins at once or in its turn. Tells why not when there are too many, or when everything stops. */
  start(run: BackgroundRun): StartedRun | RefusedRun {
    const reason = this.#refusalOf(run);
    if (reason !== undefined) return { kind: 'refused', reason };
    const id = run.begin();
    const open: OpenRun = {
      run,
      abort: new AbortController(),
      ended: Promise.withResolvers<void>(),
      state: 'queued',
    };
    this.#open.set(id, open);
    // One that waits is ended without its turn: there is nothing to wait for.
    open.abort.signal.addEventListener('abort', () => this.#begin(id, open), { once: true });
    this.#beginNext();
    return { kind: 'started', ended: open.ended.promise };
  }

  /** Ends all of them with that reason; resolves when they have ended. */
  async close(reason: unknown): Promise<void> {
    this.#isClosing = true;
    this.#others?.close();
    const all = [...this.#open.values()];
    for (const { abort } of all) abort.abort(reason);
    await Promise.all(all.map(({ ended }) => ended.promise));
    for (const id of this.#ended.keys()) this.#forget(id);
  }

  #refusalOf({ clientKeyId, size }: BackgroundRun): RefusedRun['reason'] | undefined {
    if (this.#isClosing) return 'closing';
    if (size > this.#limits.size) return 'too-large';
    let [ofKey, units] = [0, size];
    for (const { run } of this.#open.values()) {
      if (run.clientKeyId === clientKeyId) ofKey += 1;
      units += run.size;
    }
    const { perKey, inAll, sizeInAll } = this.#limits;
    const isFull = ofKey >= perKey || this.#open.size >= inAll || units > sizeInAll;
    return isFull ? 'too-many' : undefined;
  }

  #beginNext(): void {
    let atWork = 0;
    for (const { state } of this.#open.values()) if (state === 'in_progress') atWork += 1;
    for (const [id, open] of this.#open) {
      if (atWork >= this.#limits.atOnce) return;
      if (open.state !== 'queued') continue;
      atWork += 1;
      this.#begin(id, open);
    }
  }

  #begin(id: string, open: OpenRun): void {
    if (open.state !== 'queued') return;
    open.state = 'in_progress';
    void open.run.work(open.abort.signal).finally(() => {
      this.#open.delete(id);
      this.#keepStream(id, open.run);
      open.ended.resolve();
      this.#beginNext();
    });
  }

  #keepStream(id: string, { clientKeyId, events }: BackgroundRun): void {
    if (events === undefined) return;
    events.end();
    const timer = this.#clock.startTimer(ENDED_MS, () => this.#forget(id));
    this.#ended.set(id, { clientKeyId, events, timer });
    let size = 0;
    for (const one of this.#ended.values()) size += one.events.size;
    for (const [oldest, one] of this.#ended) {
      if (size <= this.#limits.endedSize) return;
      size -= one.events.size;
      this.#forget(oldest);
    }
  }

  #forget(id: string): void {
    this.#ended.get(id)?.timer.cancel();
    this.#ended.delete(id);
  }
}

export interface RunSharing {
  readonly cluster: Pick<Cluster, 'replica' | 'notices' | 'state' | 'subscribe'>;
  readonly clock: Pick<Clock, 'monotonic' | 'startTimer'>;
}

interface RunName {
  readonly clientKeyId: string;
  readonly id: string;
}

type RunNotice = RunName &
  ({ readonly kind: 'end'; readonly runner: string } | { readonly kind: 'ended' });

const TOPIC: Topic<RunNotice> = { name: 'background responses 1' };
/** Who is out of reach for a moment is not gone: what it makes has failed when so much has passed. */
const GONE_MS = 30_000;
/** Longer nobody waits for another process to end one. */
const END_MS = 5000;

/** What other processes make: whether they still can, and ending it there. */
class OtherRuns {
  readonly #sharing: RunSharing;
  readonly #openedAt: number;
  /** Since when they are not among the members any more. */
  readonly #gone = new Map<string, number>();
  readonly #waits: Waits<[ended: RunName]>;
  readonly #ends: readonly (() => void)[];

  constructor(sharing: RunSharing, cancel: (clientKeyId: string, id: string) => Promise<boolean>) {
    this.#sharing = sharing;
    const { cluster, clock } = sharing;
    this.#openedAt = clock.monotonic();
    this.#waits = new Waits(clock, END_MS);
    let known = cluster.state().replicas;
    const follow: Parameters<Cluster['subscribe']>[0] = ({ isConnected, replicas }) => {
      if (!isConnected) return;
      for (const one of known) if (!replicas.includes(one)) this.#gone.set(one, clock.monotonic());
      for (const one of replicas) this.#gone.delete(one);
      known = replicas;
    };
    const take = (notice: RunNotice): void => {
      if (notice.kind === 'ended') this.#waits.tell(notice);
      else if (notice.runner === cluster.replica) end(notice);
    };
    const end = ({ clientKeyId, id }: RunName): void => {
      // Also when it ended by itself meanwhile: whoever asks reads how.
      void cancel(clientKeyId, id).then(() =>
        cluster.notices.tell(TOPIC, { kind: 'ended', clientKeyId, id }),
      );
    };
    this.#ends = [cluster.subscribe(follow), cluster.notices.listen(TOPIC, { take })];
  }

  /** True as long as nobody can know that it is gone. */
  mayRun(runner: string): boolean {
    const { cluster, clock } = this.#sharing;
    const { kind, isConnected, replicas } = cluster.state();
    if (runner === cluster.replica) return false;
    if (replicas.includes(runner) || !isConnected) return true;
    // A process alone knows that it is.
    if (kind === 'memory') return false;
    return clock.monotonic() - (this.#gone.get(runner) ?? this.#openedAt) < GONE_MS;
  }

  /** False when it does not end in time. */
  async end(runner: string, { clientKeyId, id }: RunName): Promise<boolean> {
    if (!this.mayRun(runner)) return false;
    let isEnded = false;
    const answered = this.#waits.until((ended) => {
      isEnded = ended.clientKeyId === clientKeyId && ended.id === id;
      return isEnded;
    });
    this.#sharing.cluster.notices.tell(TOPIC, { kind: 'end', runner, clientKeyId, id });
    await answered;
    return isEnded;
  }

  close(): void {
    for (const end of this.#ends) end();
  }
}
