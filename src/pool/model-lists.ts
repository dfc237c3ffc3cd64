// The model lists of the accounts: read once before they are needed, then again in the background.

import type { Clock } from '../lib/clock.ts';
import type { UpstreamModel } from '../upstreams/upstream.ts';
import type { OfferedModels } from './pool.ts';
import type { PooledAccount } from './pooled-account.ts';

export interface ModelListsOptions {
  readonly accounts: readonly PooledAccount[];
  readonly clock: Clock;
  /** Told of lists that could not be read. */
  readonly onFailure: (label: string, error: unknown) => void;
}

export interface ModelLists {
  ensure(): Promise<void> | undefined;
  offered(): OfferedModels;
  close(): void;
}

const LIFETIME_MS = 300_000;
const READ_LIMIT_MS = 5000;

export function createModelLists({ accounts, clock, onFailure }: ModelListsOptions): ModelLists {
  const closing = new AbortController();
  let reading: Promise<void> | undefined;
  let offered = collectOffered(accounts);

  const readAll = async (stale: readonly PooledAccount[]): Promise<void> => {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(READ_LIMIT_MS)]);
    await Promise.all(stale.map((account) => readOne(account, signal)));
    offered = collectOffered(accounts);
    reading = undefined;
  };
  const readOne = async (account: PooledAccount, signal: AbortSignal): Promise<void> => {
    const { upstream, access, label } = account.seed;
    try {
      const models = await upstream.listModels(access, signal);
      // A list without any model says nothing: some upstreams answer it so, and serve all the same.
      account.models =
        models.length === 0 ? undefined : new Map(models.map((model) => [model.id, model]));
    } catch (error) {
      if (!closing.signal.aborted) onFailure(label, error);
    }
    account.modelsReadAt = clock.now();
  };

  return {
    ensure() {
      const staleSince = clock.now() - LIFETIME_MS;
      const stale = accounts.filter((account) => account.modelsReadAt <= staleSince);
      if (stale.length === 0) return undefined;
      reading ??= readAll(stale);
      const isFirst = stale.some((account) => account.modelsReadAt === Number.NEGATIVE_INFINITY);
      return isFirst ? reading : undefined;
    },
    offered: () => offered,
    close: () => closing.abort(),
  };
}

function collectOffered(accounts: readonly PooledAccount[]): OfferedModels {
  const lists: (ReadonlyMap<string, UpstreamModel> | undefined)[] = accounts.map(
    (account) => account.models,
  );
  const names = new Set(lists.flatMap((list) => [...(list?.keys() ?? [])]));
  return {
    has: (name) => names.has(name),
    isComplete: lists.every((list) => list !== undefined),
    [Symbol.iterator]: () => names[Symbol.iterator](),
  };
}
