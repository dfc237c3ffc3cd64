// Hands the batches of one producer to one consumer: at once where it waits for them, else in order later.

export interface HandoverOptions {
  /** Called when the consumer has taken what had to wait, or is no longer behind; may add the next at once. */
  onCaughtUp(): void;
  /** Called when the consumer wants no more. */
  onLeft(): void;
}

interface Waiter<Value> {
  resolve(value: Value): void;
  reject(error: unknown): void;
}

interface Taker<Item> extends Waiter<void> {
  readonly take: Take<readonly Item[]>;
  /** True while it takes, and for as long as what was given last holds the next back. */
  isBehind: boolean;
}

export type Ending = { readonly kind: 'end' } | { readonly kind: 'error'; readonly error: unknown };
type Batch<Item> = IteratorResult<readonly Item[], undefined>;

/** The consumer iterates, and may go over to `pump` between two items; never both at the same time. */
export class Handover<Item> implements Pumpable<readonly Item[]> {
  readonly #options: HandoverOptions;
  #waiting: Item[] = [];
  #reading: Waiter<Batch<Item>> | undefined;
  #taker: Taker<Item> | undefined;
  #ending: Ending | undefined;

  constructor(options: HandoverOptions) {
    this.#options = options;
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** True while what was given last holds the next back. */
  get isBehind(): boolean {
    return this.#taker?.isBehind === true;
  }

  /** `items` is not empty, and from now on the consumer's. */
  add(items: readonly Item[]): void {
    const reading = this.#reading;
    const taker = this.#taker;
    if (reading !== undefined) {
      this.#reading = undefined;
      reading.resolve({ done: false, value: items });
    } else if (taker !== undefined && !taker.isBehind) {
      this.#give(taker, items);
      this.#feed(taker);
    } else {
      for (const item of items) this.#waiting.push(item);
    }
  }

  /** What waits is never asked for. */
  drop(): void {
    this.#waiting = [];
  }

  /** Nothing comes any more; what waits is still handed over. Only the first call counts. */
  end(ending: Ending): void {
    if (this.#ending !== undefined) return;
    this.#ending = ending;
    if (this.#taker !== undefined) this.#feed(this.#taker);
    const reading = this.#reading;
    if (reading === undefined) return;
    this.#reading = undefined;
    this.next().then(reading.resolve, reading.reject);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Batch<Item>> {
    if (this.hasWaiting) {
      const value = this.#takeWaiting();
      this.#options.onCaughtUp();
      return Promise.resolve({ done: false, value });
    }
    const ending = this.#ending;
    if (ending?.kind === 'error') {
      this.#ending = { kind: 'end' };
      return Promise.reject(ending.error);
    }
    if (ending !== undefined) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.#reading = { resolve, reject };
    });
  }

  return(): Promise<Batch<Item>> {
    this.#leave();
    return Promise.resolve({ done: true, value: undefined });
  }

  pump(take: Take<readonly Item[]>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#taker = { take, resolve, reject, isBehind: false };
      this.#feed(this.#taker);
    });
  }

  /** Gives what waits, and the end once nothing does. */
  #feed(taker: Taker<Item>): void {
    while (this.#taker === taker && !taker.isBehind) {
      if (this.hasWaiting) {
        const items = this.#takeWaiting();
        this.#give(taker, items);
        // Only now: what the producer adds in this call must not overtake them.
        this.#options.onCaughtUp();
      } else if (this.#ending === undefined) {
        return;
      } else {
        this.#taker = undefined;
        this.next().then(() => taker.resolve(), taker.reject);
      }
    }
  }

  #give(taker: Taker<Item>, items: readonly Item[]): void {
    taker.isBehind = true;
    try {
      const goesOn = taker.take(items);
      if (goesOn === true) taker.isBehind = false;
      else if (goesOn === false) this.#dismiss(taker.resolve);
      else this.#await(taker, goesOn);
    } catch (error) {
      this.#dismiss(() => taker.reject(error));
    }
  }

  #await(taker: Taker<Item>, goesOn: Promise<boolean>): void {
    goesOn.then(
      (isWanted) => {
        taker.isBehind = false;
        if (isWanted) this.#goOn(taker);
        else this.#dismiss(taker.resolve);
      },
      (error) => this.#dismiss(() => taker.reject(error)),
    );
  }

  #goOn(taker: Taker<Item>): void {
    if (!this.hasWaiting) this.#options.onCaughtUp();
    this.#feed(taker);
  }

  #dismiss(settle: () => void): void {
    this.#taker = undefined;
    this.#leave();
    settle();
  }

  #leave(): void {
    this.drop();
    this.end({ kind: 'end' });
    this.#options.onLeft();
  }

  #takeWaiting(): readonly Item[] {
    const items = this.#waiting;
    this.#waiting = [];
    return items;
  }
}

// Moves items from a source to a taker; in the turn they arrive, where the source can do that.

/** Takes one item. False, or a promise of it, when no more is wanted; a promise holds the next item back. */
export type Take<Item> = (item: Item) => boolean | Promise<boolean>;

/** Read once, by one reader. */
export interface Pumpable<Item> extends AsyncIterableIterator<Item, unknown> {
  /**
   * Gives every item that is left to `take` without a promise in between, and resolves when they
   * have ended or no more are wanted; the source is given up then.
   * @throws what iteration would throw, and what `take` throws
   */
  pump?(take: Take<Item>): Promise<void>;
}

/** As `Pumpable.pump`, of any source. */
export async function pump<Item>(source: Pumpable<Item>, take: Take<Item>): Promise<void> {
  if (source.pump !== undefined) return source.pump(take);
  for await (const item of source) {
    const goesOn = take(item);
    if (!(typeof goesOn === 'boolean' ? goesOn : await goesOn)) return;
  }
}
