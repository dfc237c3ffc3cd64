// The indexes of the models asked for lately: built on first use, kept current with the account book.

import type { Account } from '../accounts/account.ts';
import type { AccountBook, BookChange } from '../accounts/account-book.ts';
import type { Clock } from '../lib/clock.ts';
import { setLast } from '../lib/set-last.ts';
import type { AccountLoad } from './candidate.ts';
import { checkEligibility } from './eligibility.ts';
import { knownQuota } from './known-quota.ts';
import { type Judgement, ModelIndex } from './model-index.ts';
import type { OwnId } from './own-ids.ts';
import type { QuotaReservations } from './quota-reservations.ts';

export type ProtectionRule = (
  account: Account,
  model: { readonly modelId: string; readonly routedModel: string },
) => boolean;

export interface ModelIndexesOptions {
  readonly book: Pick<AccountBook, 'list'>;
  readonly upstreams: { get(id: string): unknown };
  readonly ownIdOf: OwnId;
  readonly isProtected: ProtectionRule;
  readonly rulesVersion: () => unknown;
  readonly reservations: Pick<QuotaReservations, 'hasRoom'>;
  readonly clock: Pick<Clock, 'now'>;
}

export interface ModelIndexes {
  /** The accounts as a routed model sees them now. */
  of(model: string): ModelIndex;
  take(change: BookChange): void;
  /** Milliseconds since the epoch; undefined when the account was not used since the start. */
  lastUsedAt(accountId: string): number | undefined;
}

/** Clients may name any model; the indexes of those not asked for lately are dropped. */
const MOST_INDEXES = 32;

export function createModelIndexes(options: ModelIndexesOptions): ModelIndexes {
  const { book, clock, rulesVersion } = options;
  const indexes = new Map<string, ModelIndex>();
  const loads = new Map<string, AccountLoad>();
  let version = rulesVersion();
  const loadOf = (accountId: string): AccountLoad => {
    const known = loads.get(accountId);
    if (known !== undefined) return known;
    const load: AccountLoad = { inFlight: 0, lastUse: 0, lastUsedAt: undefined };
    loads.set(accountId, load);
    return load;
  };
  const build = (model: string): ModelIndex =>
    new ModelIndex({
      accounts: book.list(),
      judge: (account, now) => judge(account, { model, now, options }),
      loadOf,
      now: clock.now(),
    });
  let newest: ModelIndex | undefined;
  const dropOutdated = (): void => {
    const latest = rulesVersion();
    if (latest === version) return;
    version = latest;
    indexes.clear();
  };
  /** The map is in the order of last use; mostly it is in that order already. */
  const moveToEnd = (model: string, index: ModelIndex): void => {
    if (index === newest) return;
    newest = index;
    setLast(indexes, [model, index], MOST_INDEXES);
  };
  return {
    of(model) {
      dropOutdated();
      const index = indexes.get(model) ?? build(model);
      moveToEnd(model, index);
      index.wake(clock.now());
      return index;
    },
    take({ kind, account }) {
      const { id } = account.record;
      const now = clock.now();
      for (const index of indexes.values()) {
        if (kind === 'removed') index.remove(id);
        else index.update(account, now);
      }
      if (kind === 'removed') loads.delete(id);
    },
    lastUsedAt: (accountId) => loads.get(accountId)?.lastUsedAt,
  };
}

interface JudgeContext {
  readonly model: string;
  readonly now: number;
  readonly options: ModelIndexesOptions;
}

function judge(account: Account, { model, now, options }: JudgeContext): Judgement {
  const { upstreams, ownIdOf, isProtected, reservations } = options;
  if (upstreams.get(account.record.upstreamId) === undefined) {
    const verdict = `its upstream ${account.record.upstreamId} is not configured`;
    return { modelId: undefined, eligibility: { kind: 'unusable', verdict } };
  }
  const modelId = ownIdOf(account, model);
  const eligibility = checkEligibility({
    account,
    modelId,
    now,
    // A figure whose window is over protects nothing.
    isProtected:
      modelId !== undefined &&
      knownQuota(account, modelId, now) !== undefined &&
      isProtected(account, { modelId, routedModel: model }),
    isReserved: modelId !== undefined && !reservations.hasRoom(account, modelId, now),
  });
  return { modelId, eligibility };
}
