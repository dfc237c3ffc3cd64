// Keeps a map in the order in which its entries were put there last, and within a number of them.

/** Puts an entry behind all others; the first one goes where there are more than `most`. */
export function setLast<Key, Value>(
  map: Map<Key, Value>,
  [key, value]: readonly [Key, Value],
  most: number,
): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= most) return;
  for (const first of map.keys()) {
    map.delete(first);
    return;
  }
}

// Entries that were used last, bounded by count and by size.

export interface RecentEntries<Entry> {
  set(key: string, entry: Entry): void;
  /** The entry, taken out. */
  take(key: string): Entry | undefined;
}

export interface RecentOptions<Entry> {
  readonly maxEntries: number;
  /** Of all entries together, in what `sizeOf` gives. */
  readonly maxSize: number;
  sizeOf(entry: Entry): number;
}

/** The share of the entries that leaves when there is no room for another. */
const EVICTED_SHARE = 0.02;

/** A map keeps the order of use. */
export function createRecentEntries<Entry>(options: RecentOptions<Entry>): RecentEntries<Entry> {
  const { maxEntries, maxSize, sizeOf } = options;
  const entries = new Map<string, Entry>();
  let size = 0;
  const take = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    entries.delete(key);
    size -= sizeOf(entry);
    return entry;
  };
  const spare = Math.floor(maxEntries * EVICTED_SHARE);
  // Some at once: each look for the oldest passes over all places that are empty already.
  const evict = (): void => {
    for (const oldest of entries.keys()) {
      if (entries.size <= maxEntries - spare && size <= maxSize) return;
      take(oldest);
    }
  };
  return {
    take,
    set(key, entry) {
      take(key);
      entries.set(key, entry);
      size += sizeOf(entry);
      if (entries.size > maxEntries || size > maxSize) evict();
    },
  };
}
