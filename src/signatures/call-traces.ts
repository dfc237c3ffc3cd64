// Remembers what an upstream did by itself before a call, for clients that have no place for it.

import type { CallTrace } from '../canonical/call-trace.ts';
import { createRecentEntries } from './recent-entries.ts';

export interface CallTraces {
  remember(key: string, trace: CallTrace): void;
  /** The key, a digest, is made only once there are any entries. */
  find(keyOf: () => string): CallTrace | undefined;
}

interface Entry {
  readonly trace: CallTrace;
  readonly size: number;
  readonly expiresAt: number;
}

export interface CallTraceOptions {
  readonly now: () => number;
  readonly lifetimeMs: number;
}

const MOST_ENTRIES = 5000;
const MOST_SIZE = 16 * 1024 * 1024;
/** In UTF-16 units; larger ones would push out many others. */
const LARGEST = 256 * 1024;

/** In memory alone: what was found is no signature, and no store of signatures is to hold it. */
export function createCallTraces({ now, lifetimeMs }: CallTraceOptions): CallTraces {
  const entries = createRecentEntries<Entry>({
    maxEntries: MOST_ENTRIES,
    maxSize: MOST_SIZE,
    sizeOf: ({ size }) => size,
  });
  let isUsed = false;
  return {
    remember(key, trace) {
      const size = JSON.stringify(trace.parts).length;
      if (size > LARGEST) return;
      isUsed = true;
      entries.set(key, { trace, size, expiresAt: now() + lifetimeMs });
    },
    find(keyOf) {
      if (!isUsed) return undefined;
      const key = keyOf();
      const entry = entries.take(key);
      if (entry === undefined || entry.expiresAt <= now()) return undefined;
      entries.set(key, entry);
      return entry.trace;
    },
  };
}
