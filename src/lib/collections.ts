// What Map and Set are not: bounded by use and by size, quick for what comes and goes with each request, counting. And
// lists that stay the same where nothing in them changed.

/** The list as it was where nothing in it was changed. */
export function unlessSame<Item>(made: Item[], before: Item[]): Item[];
export function unlessSame<Item>(made: readonly Item[], before: readonly Item[]): readonly Item[];
export function unlessSame<Item>(made: readonly Item[], before: readonly Item[]): readonly Item[] {
  return made.length === before.length && made.every((item, at) => item === before[at])
    ? before
    : made;
}

/** The list with each item mapped, those left out that became undefined; the same list where nothing changed. */
export function mapItems<Item>(list: Item[], map: ItemMap<Item>): Item[];
export function mapItems<Item>(list: readonly Item[], map: ItemMap<Item>): readonly Item[];
export function mapItems<Item>(list: readonly Item[], map: ItemMap<Item>): readonly Item[] {
  let changed: Item[] | undefined;
  for (const [at, item] of list.entries()) {
    const mapped = map(item, at);
    if (mapped !== item) changed ??= list.slice(0, at);
    if (mapped !== undefined) changed?.push(mapped);
  }
  return changed ?? list;
}

type ItemMap<Item> = (item: Item, at: number) => Item | undefined;

/** Sets an entry as the most recently used; the least recently used one is deleted where there are more than `max`. */
export function touchLru<Key, Value>(
  map: Map<Key, Value>,
  [key, value]: readonly [Key, Value],
  max: number,
): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= max) return;
  for (const first of map.keys()) {
    map.delete(first);
    return;
  }
}

interface LruOptions<Value> {
  readonly maxEntries: number;
  /** Of all values together, in the unit of `sizeOf`. */
  readonly maxSize: number;
  sizeOf(value: Value): number;
}

/** The share of the entries that is evicted when there is no room for another. */
const EVICTED_SHARE = 0.02;

/** A Map has its entries in order of use. */
export class LruCache<Value> {
  readonly #options: LruOptions<Value>;
  readonly #entries = new Map<string, Value>();
  #size = 0;

  constructor(options: LruOptions<Value>) {
    this.#options = options;
  }

  /** The value, which becomes the most recently used. */
  get(key: string): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    this.#delete(key);
    this.#entries.set(key, value);
    this.#size += this.#options.sizeOf(value);
    const { maxEntries, maxSize } = this.#options;
    if (this.#entries.size > maxEntries || this.#size > maxSize) this.#evict();
  }

  /** Several entries at once: each search for the oldest passes over all places that are empty already. */
  #evict(): void {
    const { maxEntries, maxSize } = this.#options;
    const spare = Math.floor(maxEntries * EVICTED_SHARE);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= maxEntries - spare && this.#size <= maxSize) return;
      this.#delete(oldest);
    }
  }

  #delete(key: string): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#entries.delete(key);
    this.#size -= this.#options.sizeOf(value);
  }
}

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

// How often each of some things is there now: those that are not have no entry.

export function tally<Key>(counts: Map<Key, number>, key: Key, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
