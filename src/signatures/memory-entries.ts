// What the gateway remembers of tool calls beside their signatures, bounded by count, size and time.

import { createRecentEntries } from './recent-entries.ts';

export interface MemoryEntries<Value> {
  /** When it will be forgotten; undefined for a value too large to be kept beside others. */
  remember(key: string, value: Value, size: number): number | undefined;
  /** Takes up what was remembered before a restart. */
  restore(key: string, entry: MemoryEntry<Value>): void;
  /** The key, a digest, is made only once there are any entries. */
  find(keyOf: () => string): Value | undefined;
}

interface MemoryEntry<Value> {
  readonly value: Value;
  /** In UTF-16 units. */
  readonly size: number;
  readonly expiresAt: number;
}

export interface MemoryEntryOptions {
  readonly now: () => number;
  readonly lifetimeMs: number;
}

export const MOST_ENTRIES = 5000;
/** Of all values together, in UTF-16 units. */
const MOST_SIZE = 16 * 1024 * 1024;
/** Larger ones would push out many others. */
const LARGEST = 256 * 1024;

export function createMemoryEntries<Value>(options: MemoryEntryOptions): MemoryEntries<Value> {
  const { now, lifetimeMs } = options;
  const entries = createRecentEntries<MemoryEntry<Value>>({
    maxEntries: MOST_ENTRIES,
    maxSize: MOST_SIZE,
    sizeOf: ({ size }) => size,
  });
  let isUsed = false;
  const restore = (key: string, entry: MemoryEntry<Value>): void => {
    isUsed = true;
    entries.set(key, entry);
  };
  return {
    restore,
    remember(key, value, size) {
      if (size > LARGEST) return undefined;
      const expiresAt = now() + lifetimeMs;
      restore(key, { value, size, expiresAt });
      return expiresAt;
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
