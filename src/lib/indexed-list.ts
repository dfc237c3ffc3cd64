// A list whose items come and go with every request and know their own index.

export interface IndexedListItem {
  /** Its index in the list it is in, which alone writes it; -1 while it is in none. */
  listIndex: number;
}

/**
 * A `Set` whose members change all the time is rebuilt all the time, and each table that V8 leaves
 * behind points to the next one: everything that was ever in it stays until the next full garbage
 * collection, and is copied by the small ones before.
 */
export class IndexedList<Item extends IndexedListItem> {
  readonly #items: Item[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: Item): void {
    if (item.listIndex !== -1) return;
    item.listIndex = this.#items.length;
    this.#items.push(item);
  }

  delete(item: Item): void {
    const index = item.listIndex;
    if (index === -1) return;
    item.listIndex = -1;
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    last.listIndex = index;
    this.#items[index] = last;
  }

  /** Those of this moment, in no order. */
  list(): readonly Item[] {
    return [...this.#items];
  }
}
