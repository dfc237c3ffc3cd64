// Budgets with what is used of them.

import { queryOptions } from '@tanstack/react-query';
import type {
  Budget,
  BudgetChange,
  BudgetList,
  NewBudget,
} from '../../../../src/admin/contract.ts';
import { callApi, pathOf, read } from '../client.ts';
import { useChange } from '../use-change.ts';

const PREFIX = '/api/budgets';
const BUDGETS_KEY = ['budgets'] as const;
const REFRESH_MS = 10_000;

export const budgetsQuery = queryOptions({
  queryKey: BUDGETS_KEY,
  queryFn: read<BudgetList>(PREFIX),
  refetchInterval: REFRESH_MS,
});

export function useCreateBudget() {
  return useChange((body: NewBudget) => callApi<Budget>('POST', PREFIX, { body }), BUDGETS_KEY);
}

export interface BudgetEdit {
  readonly budget: Budget;
  readonly change: BudgetChange;
}

export function useChangeBudget() {
  return useChange(
    ({ budget: { id, revision }, change }: BudgetEdit) =>
      callApi<Budget>('PATCH', pathOf(PREFIX, id), { body: change, revision }),
    BUDGETS_KEY,
  );
}

export function useRemoveBudget() {
  return useChange((id: string) => callApi('DELETE', pathOf(PREFIX, id)), BUDGETS_KEY);
}
