// Builds the account book: what storage holds, and the accounts that come with the process.

import type { AccountBook, SeedAccount } from './account-book.ts';
import type { StoredAccount } from './account-store.ts';
import { HEALTHY } from './health.ts';
import { type BookOptions, type LoadedAccount, openBook } from './open-book.ts';

export interface AccountBookOptions extends BookOptions {
  readonly seeds: readonly SeedAccount[];
}

/** @throws StoreError when the accounts cannot be read: an unread store is never taken for an empty one. */
export async function createAccountBook(options: AccountBookOptions): Promise<AccountBook> {
  const stored = (await options.store?.list()) ?? [];
  return openBook([...stored.map(loadStored), ...loadSeeds(options)], options);
}

/** A book whose storage holds no account yet. */
export function createSeedBook(options: AccountBookOptions): AccountBook {
  return openBook(loadSeeds(options), options);
}

function loadStored({ record, proxyUrl, health, quotas }: StoredAccount): LoadedAccount {
  return {
    account: { record, origin: 'stored', health, models: undefined, quotas },
    proxyUrl,
    credential: undefined,
  };
}

function loadSeeds({
  seeds,
  clock,
}: Pick<AccountBookOptions, 'seeds' | 'clock'>): readonly LoadedAccount[] {
  return seeds.map((seed) => ({
    account: {
      record: {
        id: seed.id,
        upstreamId: seed.upstreamId,
        kind: seed.credential.kind,
        label: seed.label,
        projectId: seed.projectId,
        tier: seed.tier,
        priority: seed.priority ?? 0,
        notes: seed.notes,
        createdAt: clock.now(),
        revision: 1,
      },
      origin: seed.origin,
      health: HEALTHY,
      models: undefined,
      quotas: new Map(),
    },
    proxyUrl: seed.proxyUrl,
    credential: seed.credential,
  }));
}
