// Relays live events between processes: to those where a console watches, and from them while one watches here.

import type { Cluster, Topic } from '../cluster/cluster.ts';
import type { Clock, Timer } from '../lib/clock.ts';

export interface RelayedEvent {
  readonly kind: string;
  /** Made of JSON types alone. */
  readonly content: object;
}

export interface RelaySharing {
  readonly cluster: Pick<Cluster, 'notices' | 'state'>;
  readonly clock: Pick<Clock, 'monotonic' | 'startTimer'>;
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

/** Sends nothing while no console watches at another process. */
export class EventRelay {
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
