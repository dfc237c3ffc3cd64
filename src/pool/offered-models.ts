// The names the accounts' model lists hold, counted as the lists come and go.

import type { Account } from '../accounts/account.ts';
import type { UpstreamModel } from '../upstreams/upstream.ts';
import type { OfferedModels } from './pool.ts';

type ModelList = ReadonlyMap<string, UpstreamModel> | undefined;

export interface OfferedCount {
  put(account: Account): void;
  remove(accountId: string): void;
  readonly offered: OfferedModels;
}

export function createOfferedCount(accounts: Iterable<Account>): OfferedCount {
  const lists = new Map<string, ModelList>();
  const counts = new Map<string, number>();
  let unknownLists = 0;
  const count = (list: ModelList, step: 1 | -1): void => {
    if (list === undefined) unknownLists += step;
    for (const name of list?.keys() ?? []) {
      const left = (counts.get(name) ?? 0) + step;
      if (left === 0) counts.delete(name);
      else counts.set(name, left);
    }
  };
  const remove = (accountId: string): void => {
    if (!lists.has(accountId)) return;
    count(lists.get(accountId), -1);
    lists.delete(accountId);
  };
  const put = (account: Account): void => {
    const { record } = account;
    const models = listOf(account);
    if (lists.has(record.id) && lists.get(record.id) === models) return;
    remove(record.id);
    lists.set(record.id, models);
    count(models, 1);
  };
  for (const account of accounts) put(account);
  const offered: OfferedModels = {
    has: (name) => counts.has(name),
    get isComplete() {
      return unknownLists === 0;
    },
    [Symbol.iterator]: () => counts.keys(),
  };
  return { put, remove, offered };
}

const NOTHING: ModelList = new Map();

/** Made-up accounts that stand by are not asked for their lists: what they do not say means nothing. */
function listOf({ models, health: { status } }: Account): ModelList {
  const isStandingBy = status.kind === 'disabled' && status.reason === 'standing-by';
  return models ?? (isStandingBy ? NOTHING : undefined);
}
