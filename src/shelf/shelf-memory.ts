// The answers held in memory: bounded by their number and by their size together.

export interface KeptAnswerRow {
  readonly clientKeyId: string;
  readonly id: string;
  /** The answer as JSON text. */
  readonly json: string;
  /** Ids of the output items. */
  readonly itemIds: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface ShelfMemory {
  put(row: KeptAnswerRow): void;
  /** The JSON text of an answer; keys are `<client key> <id>`. */
  find(key: string, now: number): string | undefined;
  findByItem(itemKey: string, now: number): string | undefined;
  remove(key: string): boolean;
}

export interface ShelfMemoryLimits {
  readonly maxEntries: number;
  /** UTF-16 units of JSON text. */
  readonly maxUnits: number;
}

/** Least recently used answers go first; one that is larger than the whole memory is not held. */
export function createShelfMemory({ maxEntries, maxUnits }: ShelfMemoryLimits): ShelfMemory {
  const rows = new Map<string, KeptAnswerRow>();
  const owners = new Map<string, string>();
  let units = 0;
  const drop = (key: string): boolean => {
    const row = rows.get(key);
    if (row === undefined) return false;
    for (const itemId of row.itemIds) {
      const itemKey = `${row.clientKeyId} ${itemId}`;
      if (owners.get(itemKey) === key) owners.delete(itemKey);
    }
    units -= row.json.length;
    return rows.delete(key);
  };
  const find = (key: string, now: number): string | undefined => {
    const row = rows.get(key);
    if (row === undefined) return undefined;
    if (row.expiresAt <= now) {
      drop(key);
      return undefined;
    }
    // Setting again moves the entry to the young end: maps keep insertion order.
    rows.delete(key);
    rows.set(key, row);
    return row.json;
  };
  return {
    put(row) {
      const key = `${row.clientKeyId} ${row.id}`;
      drop(key);
      rows.set(key, row);
      units += row.json.length;
      for (const itemId of row.itemIds) owners.set(`${row.clientKeyId} ${itemId}`, key);
      for (const oldest of rows.keys()) {
        if (rows.size <= maxEntries && units <= maxUnits) break;
        drop(oldest);
      }
    },
    find,
    findByItem(itemKey, now) {
      const key = owners.get(itemKey);
      return key === undefined ? undefined : find(key, now);
    },
    remove: drop,
  };
}
