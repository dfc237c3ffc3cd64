// Budgets with what is used of them.

import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type {
  Budget,
  BudgetChange,
  BudgetList,
  NewBudget,
} from '../../../../src/admin/contract.ts';
import { callApi, pathOf } from '../client.ts';

const PREFIX = '/api/budgets';
const BUDGETS_KEY = ['budgets'] as const;
const REFRESH_MS = 10_000;

export const budgetsQuery = queryOptions({
  queryKey: BUDGETS_KEY,
  queryFn: ({ signal }) => callApi<BudgetList>('GET', PREFIX, { signal }),
  refetchInterval: REFRESH_MS,
});

export function useCreateBudget() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: NewBudget) => callApi<Budget>('POST', PREFIX, { body }),
    onSettled: () => client.invalidateQueries({ queryKey: BUDGETS_KEY }),
  });
}

export interface BudgetEdit {
  readonly budget: Budget;
  readonly change: BudgetChange;
}

export function useChangeBudget() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ budget, change }: BudgetEdit) =>
      callApi<Budget>('PATCH', pathOf(PREFIX, budget.id), {
        body: change,
        revision: budget.revision,
      }),
    onSettled: () => client.invalidateQueries({ queryKey: BUDGETS_KEY }),
  });
}

export function useRemoveBudget() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => callApi('DELETE', pathOf(PREFIX, id)),
    onSettled: () => client.invalidateQueries({ queryKey: BUDGETS_KEY }),
  });
}
