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
