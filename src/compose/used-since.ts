// What usage says was used of a budget that is made within its period.

import type { NewBudget } from '../access/budgets.ts';
import type { Clock } from '../lib/clock.ts';
import type { RequestStore } from '../monitor/request-store.ts';

/** Requests that were refused or failed are none of its requests; money counts as budgets count it. */
export function createUsedSince(
  store: Pick<RequestStore, 'usage'>,
  clock: Pick<Clock, 'now'>,
): (budget: NewBudget, from: number) => Promise<number> {
  return async ({ scope, subject, unit }, from) => {
    const filter = scope === 'gateway' ? {} : { [scope]: subject };
    const [sum] = await store.usage([{ from, to: clock.now() + 1 }], 'none', filter);
    if (sum === undefined) return 0;
    switch (unit) {
      case 'requests':
        return sum.requests - sum.errors;
      case 'images':
        return sum.images;
      case 'tokens':
        return sum.inputTokens + sum.outputTokens;
      case 'money':
        return sum.costNanos + sum.flatRateNanos;
      default:
        return unit satisfies never;
    }
  };
}
