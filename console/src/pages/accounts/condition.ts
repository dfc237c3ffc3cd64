// What an account can do now, and which accounts a search is after.

import type { Account } from '../../../../src/admin/contract.ts';

export type Condition = 'usable' | 'resting' | 'off';

export const SHOWN = ['all', 'usable', 'resting', 'off'] as const;
export type Shown = (typeof SHOWN)[number];

/** An account some of whose models rest is usable for the others. */
export function conditionOf({ status, cooldowns }: Account): Condition {
  if (status.kind === 'disabled') return 'off';
  if (status.kind === 'blocked') return 'resting';
  return cooldowns.some(({ model }) => model === null) ? 'resting' : 'usable';
}

export function filterAccounts(
  accounts: readonly Account[],
  { shown, search }: { readonly shown: Shown; readonly search: string },
): readonly Account[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return accounts.filter((account) => {
    if (shown !== 'all' && conditionOf(account) !== shown) return false;
    const text = textOf(account);
    return words.every((word) => text.includes(word));
  });
}

function textOf({ label, upstream, project, notes, tier, id }: Account): string {
  return [label, upstream, project, notes, tier, id].join('\n').toLowerCase();
}
