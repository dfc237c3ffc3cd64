// The form of a budget as it is typed, and what is sent; the words for budgets.

import type { TFunction } from 'i18next';
import type { Budget, NewBudget } from '../../../../src/admin/contract.ts';
import {
  type AmountRange,
  isGoodAmount,
  takeAmount,
  writeGrouped,
} from '../../components/read-amount.ts';
import type { Format } from '../../components/use-format.ts';

export const BUDGET_SCOPES = ['key', 'team', 'gateway'] as const;
export const BUDGET_UNITS = ['money', 'tokens', 'requests', 'images'] as const;
export const BUDGET_PERIODS = ['day', 'week', 'month'] as const;

type Scope = (typeof BUDGET_SCOPES)[number];
type Unit = (typeof BUDGET_UNITS)[number];
type Period = (typeof BUDGET_PERIODS)[number];

const NANOS = 1_000_000_000;

/** Whose a budget is. */
export interface BudgetOwner {
  readonly scope: Scope;
  /** The id of a key or the name of a team. */
  readonly subject: string;
}

/** The amount is as it is typed, of money in dollars. */
export interface BudgetValues extends BudgetOwner {
  readonly unit: Unit;
  readonly amount: string;
  readonly period: Period;
  readonly timeZone: string;
  readonly isHard: boolean;
  readonly warnPercent: string;
}

export const PERCENT_RANGE = { least: 1, most: 100, isWhole: true, isNeeded: true } as const;

export function amountRange(unit: Unit): AmountRange {
  return unit === 'money'
    ? { least: 0, most: 1_000_000, isWhole: false, isNeeded: true }
    : { least: 0, most: 1_000_000_000_000, isWhole: true, isNeeded: true };
}

export function readBudget(
  budget: Budget | undefined,
  owner: BudgetOwner,
  timeZone: string,
): BudgetValues {
  if (budget === undefined) {
    return {
      ...owner,
      ...{ unit: 'money', amount: '', period: 'month', timeZone, isHard: true },
      warnPercent: '80',
    };
  }
  const { scope, subject = '', unit, amount, period, isHard, warnPercent } = budget;
  return {
    ...{ scope, subject, unit, period, isHard, timeZone: budget.timeZone },
    amount: writeGrouped(unit === 'money' ? amount / NANOS : amount),
    warnPercent: String(warnPercent),
  };
}

export type BudgetProblem = 'subject' | 'amount' | 'warnPercent';

export function findBudgetProblem(values: BudgetValues): BudgetProblem | undefined {
  const { scope, subject, unit, amount, warnPercent } = values;
  if (scope !== 'gateway' && subject.trim() === '') return 'subject';
  if (!isGoodAmount(amount, amountRange(unit))) return 'amount';
  return isGoodAmount(warnPercent, PERCENT_RANGE) ? undefined : 'warnPercent';
}

/** Of values without a problem. */
export function writeBudget(values: BudgetValues): NewBudget {
  const { scope, subject, unit, amount, period, timeZone, isHard, warnPercent } = values;
  const number = takeAmount(amount, amountRange(unit)) ?? 0;
  return {
    ...{ scope, unit, period, timeZone, isHard },
    ...(scope !== 'gateway' && { subject: subject.trim() }),
    amount: unit === 'money' ? Math.round(number * NANOS) : number,
    warnPercent: takeAmount(warnPercent, PERCENT_RANGE) ?? 100,
  };
}

/** `$1.20` or `1.2M tokens`. */
export function sayAmount(
  { unit }: Pick<Budget, 'unit'>,
  amount: number,
  { t, format }: { readonly t: TFunction; readonly format: Format },
): string {
  if (unit === 'money') return format.money(amount);
  return t(`budgets.amounts.${unit}`, { count: amount, formatted: format.compact(amount) });
}

/** How much of it is used, 0 to 100 and beyond. */
export function usedPercent({ amount, used }: Pick<Budget, 'amount' | 'used'>): number {
  return amount === 0 ? 100 : (used / amount) * 100;
}
