// Hands the batches of one producer to one reader: at once where it waits for them, else in order later.

export type Ending = { readonly kind: 'end' } | { readonly kind: 'error'; readonly error: unknown };
type Batch<Item> = IteratorResult<readonly Item[], undefined>;

/** A producer that has to know what its reader does overrides `onTaken` and `onLeft`. */
export class AsyncBatchQueue<Item> implements AsyncIterableIterator<readonly Item[], undefined> {
  /** What nobody has asked for yet. */
  protected waiting: Item[] | undefined;
  #reading: PromiseWithResolvers<Batch<Item>> | undefined;
  #ending: Ending | undefined;

  /** `items` is not empty, and from now on the reader's. */
  add(items: readonly Item[]): void {
    const reading = this.#reading;
    if (reading !== undefined) {
      this.#reading = undefined;
      reading.resolve({ done: false, value: items });
      return;
    }
    this.waiting ??= [];
    for (const item of items) this.waiting.push(item);
  }

  /** What waits is never given. */
  drop(): void {
    this.waiting = undefined;
  }

  /** Nothing comes any more; what waits is still handed over. Only the first call counts. */
  end(ending: Ending): void {
    if (this.#ending !== undefined) return;
    this.#ending = ending;
    const reading = this.#reading;
    this.#reading = undefined;
    if (reading !== undefined) this.next().then(reading.resolve, reading.reject);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Batch<Item>> {
    const value = this.waiting;
    if (value !== undefined) {
      this.waiting = undefined;
      this.onTaken();
      return Promise.resolve({ done: false, value });
    }
    const ending = this.#ending;
    if (ending?.kind === 'error') {
      this.#ending = { kind: 'end' };
      return Promise.reject(ending.error);
    }
    if (ending !== undefined) return Promise.resolve({ done: true, value: undefined });
    this.#reading = Promise.withResolvers();
    return this.#reading.promise;
  }

  return(): Promise<Batch<Item>> {
    this.drop();
    this.end({ kind: 'end' });
    this.onLeft();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Called when the reader has taken what had to wait. */
  protected onTaken(): void {}

  /** Called when the reader wants no more. */
  protected onLeft(): void {}
}
