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
