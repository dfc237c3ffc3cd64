// Least recently used entries leave first: a bounded Map, and a cache bounded by size as well.

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
