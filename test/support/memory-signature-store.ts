// The signature store in memory: what the contract asks and no more.

import type { SignatureStore, StoredSignature } from '../../src/signatures/cache.ts';

export function createMemorySignatureStore(): SignatureStore {
  let kept: readonly StoredSignature[] = [];
  return {
    load: async ({ now, maxEntries }) =>
      kept.filter(({ expiresAt }) => expiresAt > now).slice(-maxEntries),
    save: async (entries, { now, maxEntries }) => {
      const keys = new Set(entries.map(({ key }) => key));
      kept = [...kept.filter(({ key }) => !keys.has(key)), ...entries]
        .filter(({ expiresAt }) => expiresAt > now)
        .slice(-maxEntries);
    },
  };
}
