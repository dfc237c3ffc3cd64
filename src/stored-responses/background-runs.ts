// Responses that are created in the background: their turns, their bounds, and their ends, at whichever process they are made.

import { type Cluster, type Topic, Waits } from '../cluster/cluster.ts';
import type { SealedValues } from '../cluster/sealed-values.ts';
import type { Clock, Timer } from '../lib/clock.ts';

/** What may be read of a stream, at whichever process it is kept. */
export type ReadableEvents = Pick<EventLog, 'read'>;

/** What one client key may see and end; no other key's can be reached through it. */
export type RunsOfKey = ReturnType<BackgroundRuns['of']>;

type RunState = 'queued' | 'in_progress';

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
  /** Why one ends that another process gave up. */
  readonly givenUp: () => unknown;
  /** The other processes that make some; without it there are none. */
  readonly sharing?: RunSharing | undefined;
}

export class BackgroundRuns {
  readonly #clock: BackgroundRunsOptions['clock'];
  readonly #limits: typeof LIMITS;
  readonly #cancelled: () => unknown;
  readonly #givenUp: () => unknown;
  readonly #others: OtherRuns | undefined;
  /** In the order they came. */
  readonly #open = new Map<string, OpenRun>();
  readonly #ended = new Map<string, EndedStream>();
  #isClosing = false;

  constructor({ clock, limits, cancelled, givenUp, sharing }: BackgroundRunsOptions) {
    this.#clock = clock;
    this.#limits = { ...LIMITS, ...limits };
    this.#cancelled = cancelled;
    this.#givenUp = givenUp;
    this.#others =
      sharing &&
      new OtherRuns(sharing, {
        cancel: (name) => this.#cancel(name),
        giveUp: (name) => void this.#cancel(name, this.#givenUp),
        eventsOf: (name) => this.#eventsOf(name),
      });
  }

  of(clientKeyId: string) {
    return {
      /** Undefined when nothing of that id is being made. @param runner the process that began it, as it is stored */
      stateOf: (id: string, runner: string | undefined): RunState | undefined => {
        const here = this.#find(clientKeyId, id)?.state;
        if (here !== undefined || runner === undefined) return here;
        return this.#others?.mayRun(runner) === true ? 'in_progress' : undefined;
      },
      /** The stream from that event on, kept for some time after its end; undefined where it is not kept. */
      eventsFrom: async (
        id: string,
        runner: string | undefined,
        first: number,
      ): Promise<ReadableEvents | undefined> => {
        const events = this.#eventsOf({ clientKeyId, id });
        if (events !== undefined) return events.canReadFrom(first) ? events : undefined;
        if (runner === undefined) return undefined;
        return this.#others?.follow(runner, { clientKeyId, id }, first);
      },
      /** Ends it as its client wishes. Resolves when it has ended; false when there was nothing to end. */
      cancel: async (id: string, runner: string | undefined): Promise<boolean> => {
        if (await this.#cancel({ clientKeyId, id })) return true;
        if (runner === undefined) return false;
        return (await this.#others?.end(runner, { clientKeyId, id })) ?? false;
      },
      /** It is stored as failed: the process that makes it ends it, should it only have stood still. */
      giveUp: (id: string, runner: string | undefined): void =>
        this.#others?.tell({ kind: 'given-up', runner: runner ?? '', clientKeyId, id }),
    };
  }

  #eventsOf({ clientKeyId, id }: RunName): EventLog | undefined {
    const ended = this.#ended.get(id);
    if (ended?.clientKeyId === clientKeyId) return ended.events;
    return this.#find(clientKeyId, id)?.run.events;
  }

  #find(clientKeyId: string, id: string): OpenRun | undefined {
    const open = this.#open.get(id);
    return open?.run.clientKeyId === clientKeyId ? open : undefined;
  }

  async #cancel({ clientKeyId, id }: RunName, reason = this.#cancelled): Promise<boolean> {
    const open = this.#find(clientKeyId, id);
    if (open === undefined) return false;
    open.abort.abort(reason());
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
  /** Pieces of streams, from who keeps one to who asked for it. */
  readonly pieces: Pick<SealedValues<EventPiece>, 'put' | 'take'>;
}

interface RunName {
  readonly clientKeyId: string;
  readonly id: string;
}

/** `answer` names what is waited for. */
type RunNotice =
  | (RunName & { readonly kind: 'end'; readonly runner: string; readonly answer: string })
  | (RunName & {
      readonly kind: 'read';
      readonly runner: string;
      readonly answer: string;
      readonly from: number;
    })
  | (RunName & { readonly kind: 'given-up'; readonly runner: string })
  | { readonly kind: 'done'; readonly answer: string };

type Question = Extract<RunNotice, { readonly kind: 'end' | 'read' }>;

const TOPIC: Topic<RunNotice> = { name: 'background responses 3' };
/** Who is out of reach for a moment is not gone: what it makes has failed when so much has passed. */
const GONE_MS = 30_000;
/** Longer nobody waits for another process to end one, or to give a piece of its stream. */
const ANSWER_MS = 5000;
/** So long that process waits for the next event of a stream before it says that there is none yet. */
const IDLE_MS = 2000;
/** A piece that nobody takes is gone after so long. */
const PIECE_MS = 30_000;

/** What is made and kept here. */
interface OwnRuns {
  cancel(name: RunName): Promise<boolean>;
  giveUp(name: RunName): void;
  eventsOf(name: RunName): EventLog | undefined;
}

/** What other processes make: whether they still can, ending it there, and reading its stream. */
class OtherRuns {
  readonly #sharing: RunSharing;
  readonly #own: OwnRuns;
  readonly #openedAt: number;
  /** Since when they are not among the members any more. */
  readonly #gone = new Map<string, number>();
  readonly #waits: Waits<[answer: string]>;
  readonly #ends: readonly (() => void)[];
  #asked = 0;

  constructor(sharing: RunSharing, own: OwnRuns) {
    this.#sharing = sharing;
    this.#own = own;
    const { cluster, clock } = sharing;
    this.#openedAt = clock.monotonic();
    this.#waits = new Waits(clock, ANSWER_MS);
    let known = cluster.state().replicas;
    const follow: Parameters<Cluster['subscribe']>[0] = ({ isConnected, replicas }) => {
      if (!isConnected) return;
      for (const one of known) if (!replicas.includes(one)) this.#gone.set(one, clock.monotonic());
      for (const one of replicas) this.#gone.delete(one);
      known = replicas;
    };
    const take = (notice: RunNotice): void => {
      if (notice.kind === 'done') this.#waits.tell(notice.answer);
      else if (notice.runner !== cluster.replica) return;
      else if (notice.kind === 'given-up') this.#own.giveUp(notice);
      else void this.#serve(notice);
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
  async end(runner: string, name: RunName): Promise<boolean> {
    if (!this.mayRun(runner)) return false;
    const answer = this.#nameAnswer();
    return this.#ask({ kind: 'end', runner, ...name, answer });
  }

  /** The events from that one on; undefined where that process does not keep them, or does not say so in time. */
  async follow(runner: string, name: RunName, from: number): Promise<ReadableEvents | undefined> {
    const first = await this.#piece(runner, name, from);
    return first && { read: (_from, signal) => this.#read(runner, name, { first, signal }) };
  }

  close(): void {
    for (const end of this.#ends) end();
  }

  /** @throws the signal's reason; Error where it can be read no further */
  async *#read(
    runner: string,
    name: RunName,
    { first, signal }: { readonly first: EventPiece; readonly signal: AbortSignal },
  ): AsyncGenerator<string, undefined> {
    for (let piece: EventPiece | undefined = first; ; ) {
      if (piece === undefined) throw new Error('What comes next is not kept any more.');
      if (piece.text !== '') yield piece.text;
      if (piece.isOver) return;
      signal.throwIfAborted();
      piece = await this.#piece(runner, name, piece.next);
    }
  }

  async #piece(runner: string, name: RunName, from: number): Promise<EventPiece | undefined> {
    if (!this.mayRun(runner)) return undefined;
    const answer = this.#nameAnswer();
    const isDone = await this.#ask({ kind: 'read', runner, ...name, from, answer });
    return isDone ? this.#sharing.pieces.take(answer) : undefined;
  }

  #nameAnswer(): string {
    this.#asked += 1;
    return `${this.#sharing.cluster.replica} ${this.#asked}`;
  }

  /** False when it is not done in time. */
  async #ask(notice: Question): Promise<boolean> {
    let isDone = false;
    const answered = this.#waits.until((answer) => {
      isDone = answer === notice.answer;
      return isDone;
    });
    this.tell(notice);
    await answered;
    return isDone;
  }

  tell(notice: RunNotice): void {
    this.#sharing.cluster.notices.tell(TOPIC, notice);
  }

  async #serve(notice: Question): Promise<void> {
    const { answer } = notice;
    // Also when it ended by itself meanwhile: whoever asks reads how.
    if (notice.kind === 'end') await this.#own.cancel(notice);
    else await this.#give(notice);
    this.tell({ kind: 'done', answer });
  }

  /** Nothing where the events are not kept. */
  async #give(notice: Extract<RunNotice, { kind: 'read' }>): Promise<void> {
    const { clock, pieces } = this.#sharing;
    const events = this.#own.eventsOf(notice);
    if (events?.canReadFrom(notice.from) !== true) return;
    const idle = new AbortController();
    const timer = clock.startTimer(IDLE_MS, () => idle.abort());
    const piece = await events.due(notice.from, idle.signal);
    timer.cancel();
    await pieces.put(notice.answer, piece, PIECE_MS);
  }
}

/** An empty line ends an event, and no event holds one. */
const EVENT_END = '\n\n';

/** UTF-16 units of the events that are kept of one stream; beyond them the oldest leave. */
const MOST = 4 * 1024 * 1024;

/** UTF-16 units after which a piece of a stream ends. */
const PIECE = 256 * 1024;

/** Some events in a row. */
interface EventPiece {
  readonly text: string;
  /** The number of the event behind them. */
  readonly next: number;
  /** True where none comes. */
  readonly isOver: boolean;
}

/**
 * The events of a stream that goes on without its client: kept, so that who comes back reads on behind what they have.
 * They are numbered from 0 on, in the order they come.
 */
export class EventLog {
  readonly #most: number;
  /** The newest events; the first of them has the number `#first`. */
  readonly #events: string[] = [];
  #first = 0;
  /** The pieces of the event that is not whole yet. */
  #begun: string[] = [];
  #waiting: (() => void)[] = [];
  #isEnded = false;
  /** Of all that is kept. */
  size = 0;

  constructor(most = MOST) {
    this.#most = most;
  }

  get #next(): number {
    return this.#first + this.#events.length;
  }

  /** Texts may end anywhere within an event. What came last is kept whole, for those who read along. */
  add(text: string): void {
    while (this.size > this.#most) {
      this.size -= this.#events.shift()?.length ?? this.size;
      this.#first += 1;
    }
    let start = 0;
    for (let end = text.indexOf(EVENT_END); end !== -1; end = text.indexOf(EVENT_END, start)) {
      const stop = end + EVENT_END.length;
      const event = [...this.#begun, text.slice(start, stop)].join('');
      this.#begun = [];
      this.#events.push(event);
      this.size += event.length;
      start = stop;
    }
    if (start < text.length) this.#begun.push(text.slice(start));
    if (start > 0) this.#wake();
  }

  /** Nothing comes behind what was added. */
  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** False when that event is not kept any more, or is not the next one either. Behind the last there is nothing to read. */
  canReadFrom(number: number): boolean {
    return number >= this.#first && number <= this.#next;
  }

  /** All events from that one on, as they come, until the last. @throws the signal's reason; Error when it fell behind */
  async *read(number: number, signal: AbortSignal): AsyncGenerator<string, undefined> {
    for (let next = number; ; ) {
      signal.throwIfAborted();
      if (next < this.#first) throw new Error('What comes next is not kept any more.');
      const due = await this.due(next, signal);
      next = due.next;
      if (due.text !== '') yield due.text;
      if (due.isOver) return;
    }
  }

  /** The events from that one on that are there; the next to come where there is none, if any comes before the signal. */
  async due(number: number, signal: AbortSignal): Promise<EventPiece> {
    if (number >= this.#next && !this.#isEnded) await this.#untilMore(signal);
    const events: string[] = [];
    let size = 0;
    for (const event of this.#events.slice(Math.max(0, number - this.#first))) {
      events.push(event);
      size += event.length;
      if (size >= PIECE) break;
    }
    const next = number + events.length;
    return { text: events.join(''), next, isOver: this.#isEnded && next >= this.#next };
  }

  #untilMore(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        this.#waiting = this.#waiting.filter((one) => one !== wake);
        resolve();
      };
      signal.addEventListener('abort', wake, { once: true });
      this.#waiting.push(wake);
    });
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}
