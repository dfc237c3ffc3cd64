// What an account can do now, and which accounts a search is after.

import type { Account } from '../../../../src/admin/contract.ts';

export type Condition = 'usable' | 'untried' | 'failing' | 'resting' | 'off';

export const SHOWN = ['all', 'usable', 'untried', 'failing', 'resting', 'off'] as const;
export type Shown = (typeof SHOWN)[number];

/** By its last requests and trials: none is usable that was never seen to answer. */
export function conditionOf({ condition }: Account): Condition {
  return CONDITIONS[condition.state];
}

/** True where nothing is known but that its upstream lists no models, which it may do for any credential. */
export function isUnchecked({ condition: { trial }, models }: Account): boolean {
  return trial?.what === 'models' && trial.isGood && (models ?? 0) === 0;
}

const CONDITIONS = {
  healthy: 'usable',
  degraded: 'usable',
  untried: 'untried',
  failing: 'failing',
  'cooling-down': 'resting',
  disabled: 'off',
} as const;

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

function textOf({ name, upstream, project, notes, tier, id }: Account): string {
  return [name, upstream, project, notes, tier, id].join('\n').toLowerCase();
}
