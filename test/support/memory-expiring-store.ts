// A store of texts that expire, in memory: what the contract asks and no more.

import type { ExpiringStore, StoreBounds, StoredText } from '../../src/lib/expiring-store.ts';

export function createMemoryExpiringStore(): ExpiringStore {
  let kept: readonly StoredText[] = [];
  return {
    load: async (bounds) => within(kept, bounds),
    save: async (texts, bounds) => {
      const keys = new Set(texts.map(({ key }) => key));
      kept = within([...kept.filter(({ key }) => !keys.has(key)), ...texts], bounds);
    },
  };
}

function within(
  texts: readonly StoredText[],
  { now, maxEntries, maxSize }: StoreBounds,
): readonly StoredText[] {
  const latest = texts.filter(({ expiresAt }) => expiresAt > now).slice(-maxEntries);
  let size = 0;
  return latest
    .reverse()
    .filter(({ json }) => {
      size += json.length;
      return size <= maxSize;
    })
    .reverse();
}
