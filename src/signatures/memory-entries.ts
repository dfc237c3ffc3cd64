// What the gateway remembers of tool calls in memory alone: it is the client's own words or the upstream's findings,
// which no store of signatures is to hold.

import { createRecentEntries } from './recent-entries.ts';

export interface MemoryEntries<Value> {
  /** A value too large to be kept beside others is not. */
  remember(key: string, value: Value): void;
  /** The key, a digest, is made only once there are any entries. */
  find(keyOf: () => string): Value | undefined;
}

export interface MemoryEntryOptions<Value> {
  readonly now: () => number;
  readonly lifetimeMs: number;
  /** In UTF-16 units. */
  readonly sizeOf: (value: Value) => number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly size: number;
  readonly expiresAt: number;
}

const MOST_ENTRIES = 5000;
const MOST_SIZE = 16 * 1024 * 1024;
/** Larger ones would push out many others. */
const LARGEST = 256 * 1024;

export function createMemoryEntries<Value>(
  options: MemoryEntryOptions<Value>,
): MemoryEntries<Value> {
  const { now, lifetimeMs, sizeOf } = options;
  const entries = createRecentEntries<Entry<Value>>({
    maxEntries: MOST_ENTRIES,
    maxSize: MOST_SIZE,
    sizeOf: ({ size }) => size,
  });
  let isUsed = false;
  return {
    remember(key, value) {
      const size = sizeOf(value);
      if (size > LARGEST) return;
      isUsed = true;
      entries.set(key, { value, size, expiresAt: now() + lifetimeMs });
    },
    find(keyOf) {
      if (!isUsed) return undefined;
      const key = keyOf();
      const entry = entries.take(key);
      if (entry === undefined || entry.expiresAt <= now()) return undefined;
      entries.set(key, entry);
      return entry.value;
    },
  };
}
