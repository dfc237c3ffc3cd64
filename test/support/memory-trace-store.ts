// The trace store in memory: what the contract asks and no more.

import type { StoredTrace, TraceBounds, TraceStore } from '../../src/signatures/signature-store.ts';

export function createMemoryTraceStore(): TraceStore {
  let kept: readonly StoredTrace[] = [];
  return {
    load: async (bounds) => within(kept, bounds),
    save: async (traces, bounds) => {
      const keys = new Set(traces.map(({ key }) => key));
      kept = within([...kept.filter(({ key }) => !keys.has(key)), ...traces], bounds);
    },
  };
}

function within(
  traces: readonly StoredTrace[],
  { now, maxEntries, maxSize }: TraceBounds,
): readonly StoredTrace[] {
  const latest = traces.filter(({ expiresAt }) => expiresAt > now).slice(-maxEntries);
  let size = 0;
  return latest
    .reverse()
    .filter(({ json }) => {
      size += json.length;
      return size <= maxSize;
    })
    .reverse();
}
