// Remembers what upstreams did by themselves before tool calls; a store makes it outlive the process.

import type { CallTrace } from '../canonical/call-trace.ts';
import type { Clock } from '../lib/clock.ts';
import { isJsonObject, parseJson } from '../lib/json.ts';
import { createWriteBehind, type WriteBehindLog } from '../lib/write-behind.ts';
import { createMemoryEntries, MOST_ENTRIES } from './memory-entries.ts';
import type { StoredTrace, TraceStore } from './trace-store.ts';

export interface CallTraces {
  remember(key: string, trace: CallTrace): void;
  /** The key, a digest, is made only once there are any traces. */
  find(keyOf: () => string): CallTrace | undefined;
  /** Takes up what the store holds. @throws whatever the store does */
  load(): Promise<void>;
  /** Traces the store did not take, since the start. */
  readonly droppedWrites: number;
  close(): Promise<void>;
}

export interface CallTraceOptions {
  readonly clock: Pick<Clock, 'now' | 'startTimer'>;
  readonly lifetimeMs: number;
  readonly store?: TraceStore | undefined;
  readonly log?: WriteBehindLog | undefined;
}

/** Read before the first request of a start: less than what memory holds. */
const MOST_SAVED = 4 * 1024 * 1024;

export function createCallTraces(options: CallTraceOptions): CallTraces {
  const { clock, lifetimeMs, store, log } = options;
  const now = () => clock.now();
  const entries = createMemoryEntries<CallTrace>({ now, lifetimeMs });
  const bounds = () => ({ now: now(), maxEntries: MOST_ENTRIES, maxSize: MOST_SAVED });
  const writes =
    store &&
    createWriteBehind<StoredTrace>({
      save: (traces) => store.save(traces, bounds()),
      sizeOf: ({ json }) => json.length,
      clock,
      log,
      failure: 'What upstreams did before tool calls is not saved; requests go on without.',
    });
  return {
    remember(key, trace) {
      const json = JSON.stringify(trace);
      const expiresAt = entries.remember(key, trace, json.length);
      if (expiresAt !== undefined) writes?.add({ key, json, expiresAt });
    },
    find: entries.find,
    async load() {
      for (const { key, json, expiresAt } of (await store?.load(bounds())) ?? []) {
        const value = readTrace(json);
        if (value !== undefined) entries.restore(key, { value, size: json.length, expiresAt });
      }
    },
    get droppedWrites() {
      return writes?.dropped ?? 0;
    },
    close: async () => writes?.close(),
  };
}

/** Undefined for what another version of the program wrote in another form. */
function readTrace(json: string): CallTrace | undefined {
  const value = parseJson(json);
  if (!isJsonObject(value) || typeof value.family !== 'string') return undefined;
  const { family, parts } = value;
  return Array.isArray(parts) && parts.every(isJsonObject) ? { family, parts } : undefined;
}
