// The names the accounts' model lists hold, counted as the lists come and go, and what is served of them.

import type { Account } from '../accounts/account.ts';
import type { Clock } from '../lib/clock.ts';
import type { UpstreamModel } from '../upstreams/upstream.ts';
import type { OwnId } from './own-ids.ts';
import type { OfferedModels } from './pool.ts';

type ModelList = ReadonlyMap<string, UpstreamModel> | undefined;

export interface OfferedCount {
  put(account: Account): void;
  remove(accountId: string): void;
  readonly offered: OfferedModels;
}

export interface OfferedCountOptions {
  readonly accounts: Iterable<Account>;
  readonly ownIdOf: OwnId;
  /** Gives another value when `ownIdOf` may answer otherwise. */
  readonly rulesVersion: () => unknown;
  readonly clock: Pick<Clock, 'now'>;
}

export function createOfferedCount(options: OfferedCountOptions): OfferedCount {
  const known = new Map<string, Account>();
  const counts = new Map<string, number>();
  let unknownLists = 0;
  const served = createServedNames(options, () => known.values());
  const count = (list: ModelList, step: 1 | -1): void => {
    if (list === undefined) unknownLists += step;
    for (const name of list?.keys() ?? []) {
      const left = (counts.get(name) ?? 0) + step;
      if (left === 0) counts.delete(name);
      else counts.set(name, left);
    }
  };
  const remove = (accountId: string): void => {
    const account = known.get(accountId);
    if (account === undefined) return;
    count(listOf(account), -1);
    known.delete(accountId);
    served.forget();
  };
  const put = (account: Account): void => {
    const before = known.get(account.record.id);
    known.set(account.record.id, account);
    if (before !== undefined && isSame(before, account)) return;
    if (before !== undefined) count(listOf(before), -1);
    count(listOf(account), 1);
    served.forget();
  };
  for (const account of options.accounts) put(account);
  const offered: OfferedModels = {
    has: (name) => counts.has(name),
    servedAs: (model) => (unknownLists === 0 ? served.remembered(model) : served.find(model)),
    get isComplete() {
      return unknownLists === 0;
    },
    [Symbol.iterator]: () => counts.keys(),
  };
  return { put, remove, offered };
}

/** Clients name models, so what is remembered of their names is bounded. */
const MOST_REMEMBERED = 1000;

function createServedNames(
  { ownIdOf, rulesVersion, clock }: OfferedCountOptions,
  accounts: () => Iterable<Account>,
) {
  const ids = new Map<string, string | undefined>();
  let version = rulesVersion();
  const find = (model: string): string | undefined => {
    for (const account of accounts()) {
      if (!isEnabled(account)) continue;
      const id = ownIdOf(account, model);
      if (id !== undefined && !isMissing(account, id, clock.now())) return id;
    }
    return undefined;
  };
  return {
    find,
    remembered(model: string): string | undefined {
      const latest = rulesVersion();
      if (latest !== version || ids.size >= MOST_REMEMBERED) ids.clear();
      version = latest;
      if (!ids.has(model)) ids.set(model, find(model));
      return ids.get(model);
    },
    forget: () => ids.clear(),
  };
}

/** Of an account without a list only its refusal says that it lacks a model. */
function isMissing({ models, health }: Account, id: string, now: number): boolean {
  if (models !== undefined) return false;
  const state = health.models.get(id);
  return state?.cause === 'missing' && state.coolUntil > now;
}

function isEnabled({ health }: Account): boolean {
  return health.status.kind !== 'disabled';
}

function isSame(before: Account, after: Account): boolean {
  return listOf(before) === listOf(after) && isEnabled(before) === isEnabled(after);
}

const NOTHING: ModelList = new Map();

/** Made-up accounts that stand by are not asked for their lists: what they do not say means nothing. */
function listOf({ models, health: { status } }: Account): ModelList {
  const isStandingBy = status.kind === 'disabled' && status.reason === 'standing-by';
  return models ?? (isStandingBy ? NOTHING : undefined);
}
