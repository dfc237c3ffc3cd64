// The accounts an attempt chose from: one by one while they are few, else by what was found of them.

import type { ConsideredAccount } from '../../../../src/admin/contract.ts';

/** More of one verdict than these are one line. */
const MAX_ALIKE = 3;

export interface ConsideredGroup {
  readonly verdict: string;
  readonly count: number;
  /** All of them, or the first few where the gateway named no more. */
  readonly accountIds: readonly string[];
}

/** In the order in which each verdict is first met; accounts that stand alone keep their lines. */
export function groupConsidered(entries: readonly ConsideredAccount[]): readonly ConsideredGroup[] {
  const alike = Map.groupBy(entries, ({ verdict }) => verdict);
  return [...alike].flatMap(([verdict, found]) => {
    const groups = found.map((entry) => groupOf(entry));
    if (groups.length <= MAX_ALIKE) return groups;
    return [
      {
        verdict,
        count: groups.reduce((sum, { count }) => sum + count, 0),
        accountIds: groups.flatMap(({ accountIds }) => accountIds),
      },
    ];
  });
}

function groupOf({ verdict, accountId, count, accountIds }: ConsideredAccount): ConsideredGroup {
  if (accountId !== undefined) return { verdict, count: 1, accountIds: [accountId] };
  const named = accountIds ?? [];
  return { verdict, count: count ?? named.length, accountIds: named };
}
