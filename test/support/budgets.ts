// Budgets as tests make them.

import type { BudgetUnit, NewBudget } from '../../src/access/budgets.ts';

/** A hard budget of a key, of days of UTC. */
export function dailyBudget(keyId: string, unit: BudgetUnit, amount: number): NewBudget {
  return {
    ...{ scope: 'key', subject: keyId, unit, amount, period: 'day' },
    ...{ timeZone: 'UTC', isHard: true, warnPercent: 80 },
  };
}
