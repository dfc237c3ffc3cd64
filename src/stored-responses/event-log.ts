// The events of a stream that goes on without its client: kept, so that who comes back reads on behind what they have.

/** An empty line ends an event, and no event holds one. */
const EVENT_END = '\n\n';

/** UTF-16 units of the events that are kept of one stream; beyond them the oldest leave. */
const MOST = 4 * 1024 * 1024;

/** UTF-16 units after which a piece of a stream ends. */
const PIECE = 256 * 1024;

/** Some events in a row. */
export interface EventPiece {
  readonly text: string;
  /** The number of the event behind them. */
  readonly next: number;
  /** True where none comes. */
  readonly isOver: boolean;
}

/** Its events are numbered from 0 on, in the order they come. */
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
