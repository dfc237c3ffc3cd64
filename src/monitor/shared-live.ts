// What a monitor shares with those of other processes: the events of requests and logs, and the running figures.

import { type Cluster, othersOf, type Topic, Waits } from '../cluster/cluster.ts';
import type { Clock, Timer } from '../lib/clock.ts';
import type { LiveFeed, LiveFigures } from './live.ts';
import type { RequestRow } from './record.ts';
import type { MinuteSum } from './request-store.ts';

interface RelayedEvent {
  readonly kind: string;
  /** Made of JSON types alone. */
  readonly content: object;
}

export interface RelaySharing {
  readonly cluster: Pick<Cluster, 'notices' | 'state'>;
  readonly clock: Pick<Clock, 'monotonic' | 'startTimer'>;
}

interface SharedLiveOptions {
  readonly cluster: Pick<Cluster, 'replica' | 'notices' | 'state'>;
  readonly siblings?: RelaySharing['cluster'] | undefined;
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'startTimer'>;
  readonly figures: Pick<LiveFigures, 'inFlight' | 'own' | 'others'>;
}

interface OwnLive {
  readonly feed: LiveFeed;
  /** Told of requests that failed elsewhere. */
  readonly onFailed: (row: RequestRow) => void;
  readonly save: () => Promise<void>;
}

/** Accounts, quotas, settings, keys and rules are no events of one process: each tells of them as it learns of them. */
export function shareLive({ cluster, siblings, clock, figures }: SharedLiveOptions) {
  let feed: LiveFeed | undefined;
  let onFailed: OwnLive['onFailed'] = () => undefined;
  let save: OwnLive['save'] = async () => undefined;
  const common = {
    clock,
    hasReaders: () => (feed?.readers ?? 0) > 0,
    onGap: () => feed?.skip(),
  };
  const requests = new EventRelay({
    ...{ ...common, cluster, topic: 'live requests 1' },
    take({ content }) {
      // The one narrowing of this file: a topic with this number has rows of this shape.
      const row = content as RequestRow;
      if (row.outcome === 'error') onFailed(row);
      feed?.take('request', row);
    },
    onWatched: () => sums.begin(),
    beforeSending: () => save(),
  });
  const logs =
    siblings &&
    new EventRelay({
      ...{ ...common, cluster: siblings, topic: 'live log 1' },
      take: ({ content }) => feed?.take('log', content),
    });
  const sums = new SharedFigures({
    ...{ cluster, clock, figures },
    isWatched: () => requests.isWatched,
  });
  return {
    connect(own: OwnLive): void {
      ({ feed, onFailed, save } = own);
    },
    tell(event: RelayedEvent): void {
      if (event.kind === 'request') requests.tell(event);
      if (event.kind === 'log') logs?.tell(event);
    },
    /** A console watches here. True where the others only now begin to send. */
    watch(): boolean {
      logs?.watch();
      const isNew = requests.watch();
      if (isNew) sums.expect();
      return isNew;
    },
    get isLogWatched(): boolean {
      return logs?.isWatched === true;
    },
    get inFlight(): number {
      return sums.inFlight;
    },
    told: () => sums.told(),
    close(): void {
      requests.close();
      logs?.close();
      sums.close();
    },
  };
}

interface EventRelayOptions extends RelaySharing {
  readonly topic: string;
  readonly hasReaders: () => boolean;
  readonly take: (event: RelayedEvent) => void;
  /** Events of others were missed, or may have been: what they are about has to be read again. */
  readonly onGap: () => void;
  /** A console began to watch at another process. */
  readonly onWatched?: (() => void) | undefined;
  /** Awaited before events are sent: the receiver reads what an event is about from the store. */
  readonly beforeSending?: (() => Promise<void>) | undefined;
}

type RelayNotice =
  /** New where nothing was heard for a while. */
  | { readonly kind: 'watch'; readonly isNew: boolean }
  | {
      readonly kind: 'events';
      readonly events: readonly RelayedEvent[];
      /** How many more there were. */
      readonly missed: number;
    };

/** A process where a console watches repeats its notice; the others send events this long after the last one. */
const WATCH_MS = 15_000;
const BEAT_MS = 5000;
/** Events are sent together. */
const GATHER_MS = 250;
/** In one notice; of more only the number is sent. */
const MAX_EVENTS = 50;
/** By then the others have received the notice, and stored what ended before. */
const HEARD_MS = 500;

/** Events of one topic, to the processes where a console watches, and from them while one watches here. */
class EventRelay {
  readonly #options: EventRelayOptions;
  readonly #topic: Topic<RelayNotice>;
  readonly #unlisten: () => void;
  /** By the process where a console watches; monotonic. */
  readonly #watchedUntil = new Map<string, number>();
  #waiting: RelayedEvent[] = [];
  #missed = 0;
  #gatherTimer: Timer | undefined;
  #watchesUntil = Number.NEGATIVE_INFINITY;
  #beatTimer: Timer | undefined;
  #heardTimer: Timer | undefined;

  constructor(options: EventRelayOptions) {
    this.#options = options;
    this.#topic = { name: options.topic };
    this.#unlisten = options.cluster.notices.listen(this.#topic, {
      take: (notice, from) => this.#take(notice, from),
      catchUp: () => this.#catchUp(),
    });
  }

  get isWatched(): boolean {
    const now = this.#options.clock.monotonic();
    for (const [replica, until] of this.#watchedUntil)
      if (until <= now) this.#watchedUntil.delete(replica);
    return this.#watchedUntil.size > 0;
  }

  tell(event: RelayedEvent): void {
    if (!this.isWatched) return;
    if (this.#waiting.length < MAX_EVENTS) this.#waiting.push(event);
    else this.#missed += 1;
    this.#gatherTimer ??= this.#options.clock.startTimer(GATHER_MS, () => void this.#send());
  }

  /** A console watches here. True where the others only now begin to send: earlier events were missed. */
  watch(): boolean {
    const { cluster, clock, onGap } = this.#options;
    const isNew = this.#watchesUntil <= clock.monotonic();
    this.#watchesUntil = clock.monotonic() + WATCH_MS;
    if (!isNew) return false;
    if (cluster.state().replicas.length > 1) {
      onGap();
      this.#heardTimer = clock.startTimer(HEARD_MS, onGap);
    }
    this.#beat(true);
    return true;
  }

  close(): void {
    this.#unlisten();
    this.#gatherTimer?.cancel();
    this.#beatTimer?.cancel();
    this.#heardTimer?.cancel();
  }

  #beat(isNew: boolean): void {
    const { cluster, clock, hasReaders } = this.#options;
    this.#beatTimer?.cancel();
    this.#beatTimer = undefined;
    if (hasReaders()) this.#watchesUntil = clock.monotonic() + WATCH_MS;
    if (this.#watchesUntil <= clock.monotonic()) return;
    cluster.notices.tell(this.#topic, { kind: 'watch', isNew });
    this.#beatTimer = clock.startTimer(BEAT_MS, () => this.#beat(false));
  }

  async #send(): Promise<void> {
    await this.#options.beforeSending?.();
    this.#gatherTimer = undefined;
    const [events, missed] = [this.#waiting, this.#missed];
    this.#waiting = [];
    this.#missed = 0;
    this.#options.cluster.notices.tell(this.#topic, { kind: 'events', events, missed });
  }

  #take(notice: RelayNotice, from: string): void {
    const { clock, take, onGap, onWatched } = this.#options;
    if (notice.kind === 'watch') {
      const isNew = notice.isNew || !this.#watchedUntil.has(from);
      this.#watchedUntil.set(from, clock.monotonic() + WATCH_MS);
      if (isNew) onWatched?.();
      return;
    }
    // The events are for a third process.
    if (this.#watchesUntil <= clock.monotonic()) return;
    for (const event of notice.events) take(event);
    if (notice.missed > 0) onGap();
  }

  #catchUp(): void {
    const { clock, onGap } = this.#options;
    if (this.#watchesUntil <= clock.monotonic()) return;
    onGap();
    this.#beat(true);
  }
}

interface SharedFiguresOptions {
  readonly cluster: Pick<Cluster, 'replica' | 'notices' | 'state'>;
  readonly clock: Pick<Clock, 'now' | 'startTimer'>;
  readonly figures: Pick<LiveFigures, 'inFlight' | 'own' | 'others'>;
  /** Whether a console watches at another process. */
  readonly isWatched: () => boolean;
}

interface FiguresNotice {
  readonly inFlight: number;
  /** What ended at that process alone; minutes that are told again replace what was told of them. */
  readonly minutes: readonly MinuteSum[];
}

interface OtherFigures {
  inFlight: number;
  /** False from when it is asked anew until it has told. */
  isFresh: boolean;
  readonly minutes: Map<number, MinuteSum>;
}

const TOPIC: Topic<FiguresNotice> = { name: 'figures 2' };
const TELL_MS = 2000;
/** Who has not answered by then is left out. */
const ANSWER_MS = 300;
const HOUR_MS = 3_600_000;

class SharedFigures {
  readonly #options: SharedFiguresOptions;
  readonly #unlisten: () => void;
  /** Of each other process; of one that is gone as well, for an hour. */
  readonly #others = new Map<string, OtherFigures>();
  readonly #waits: Waits<[]>;
  #timer: Timer | undefined;

  constructor(options: SharedFiguresOptions) {
    this.#options = options;
    const { cluster, clock, figures } = options;
    this.#waits = new Waits(clock, ANSWER_MS);
    this.#unlisten = cluster.notices.listen(TOPIC, {
      take: (told, from) => this.#take(told, from),
    });
    figures.others = (at) =>
      [...this.#others.values()].flatMap(({ minutes }) => minutes.get(at) ?? []);
  }

  /** Requests that are under way at the others. */
  get inFlight(): number {
    return othersOf(this.#options.cluster).reduce((sum, name) => {
      const other = this.#others.get(name);
      return other?.isFresh === true ? sum + other.inFlight : sum;
    }, 0);
  }

  /** Sends the last hour to where a console began to watch, and goes on while one does. */
  begin(): void {
    const { own } = this.#options.figures;
    this.#tell(own());
    this.#timer ??= this.#startTimer();
  }

  /** The others were asked to tell theirs: what they told before is old. */
  expect(): void {
    for (const other of this.#others.values()) other.isFresh = false;
  }

  /** Resolves when the others have told theirs, after they were asked; or when they had the time to. */
  told(): Promise<void> {
    const isWhole = (): boolean =>
      othersOf(this.#options.cluster).every((name) => this.#others.get(name)?.isFresh === true);
    return isWhole() ? Promise.resolve() : this.#waits.until(isWhole);
  }

  close(): void {
    this.#unlisten();
    this.#timer?.cancel();
  }

  #startTimer(): Timer {
    const { clock, figures, isWatched } = this.#options;
    return clock.startTimer(TELL_MS, () => {
      this.#timer = undefined;
      if (!isWatched()) return;
      this.#tell(figures.own().slice(-2));
      this.#timer = this.#startTimer();
    });
  }

  #tell(minutes: readonly MinuteSum[]): void {
    const { cluster, figures } = this.#options;
    cluster.notices.tell(TOPIC, { inFlight: figures.inFlight, minutes });
  }

  #take({ inFlight, minutes }: FiguresNotice, from: string): void {
    const known = this.#others.get(from) ?? { inFlight, isFresh: true, minutes: new Map() };
    this.#others.set(from, known);
    known.inFlight = inFlight;
    known.isFresh = true;
    for (const minute of minutes) known.minutes.set(minute.at, minute);
    this.#forgetOld();
    this.#waits.tell();
  }

  #forgetOld(): void {
    const oldest = this.#options.clock.now() - HOUR_MS;
    const present = new Set(othersOf(this.#options.cluster));
    for (const [name, { minutes }] of this.#others) {
      for (const at of minutes.keys()) if (at < oldest) minutes.delete(at);
      if (minutes.size === 0 && !present.has(name)) this.#others.delete(name);
    }
  }
}
