// A budget: whose, how much of what, in which periods; and the store that budgets need.

import { type Calendar, createCalendar } from '../lib/calendar.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import { object, optional, TEXT, type ValueOf } from '../lib/object-schema.ts';
import { TIME } from './access-log.ts';
import { REVISION } from './api-key.ts';

export const BUDGET_SCOPES = ['key', 'team', 'gateway'] as const;
export const BUDGET_UNITS = ['requests', 'images', 'tokens', 'money'] as const;
export const BUDGET_PERIODS = ['day', 'week', 'month'] as const;

export type BudgetUnit = (typeof BUDGET_UNITS)[number];

/** Exact also as JSON and in the arithmetic of counters; of money a million dollars. */
const MOST = 1_000_000_000_000_000;

/** What stays as it was made: another unit or another period is another budget. */
export const BUDGET_KIND = {
  scope: { enum: BUDGET_SCOPES },
  subject: optional({
    ...TEXT,
    minLength: 1,
    maxLength: 128,
    description: 'The id of the key or the name of the team; absent for the whole gateway.',
  }),
  unit: { enum: BUDGET_UNITS },
  period: { enum: BUDGET_PERIODS, description: 'Of the calendar; weeks begin on Monday.' },
  timeZone: { ...TEXT, maxLength: 64, description: 'Whose days, such as `Europe/Berlin`.' },
} as const;

export const BUDGET_TERMS = {
  amount: {
    type: 'integer',
    minimum: 0,
    maximum: MOST,
    description: 'The most within a period; money in billionths of a US dollar.',
  },
  isHard: { type: 'boolean', description: 'Whether it refuses what goes beyond, or warns alone.' },
  warnPercent: {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    description: 'The share of the amount at which it warns.',
  },
} as const;

export const BUDGET_FIELDS = {
  id: TEXT,
  ...BUDGET_KIND,
  ...BUDGET_TERMS,
  createdAt: TIME,
  revision: REVISION,
} as const;

const BUDGET_SCHEMA = object(BUDGET_FIELDS);

export type Budget = ValueOf<typeof BUDGET_SCHEMA>;

/** What is used of a budget in one period, in the unit of its amount. */
export interface BudgetUse {
  readonly budgetId: string;
  /** Beginning of the period. */
  readonly at: number;
  readonly used: number;
}

export interface StoredBudgets {
  /** Oldest first. */
  readonly budgets: readonly Budget[];
  readonly uses: readonly BudgetUse[];
}

/** Every method may throw StoreError. What people say survives a power cut. */
export interface BudgetStore {
  /** @param since uses of periods that began earlier are left out */
  list(since: number): Promise<StoredBudgets>;
  insert(budget: Budget): Promise<void>;
  /** @throws StoreError `missing`, or `stale` when the stored revision is not the one before */
  update(budget: Budget): Promise<void>;
  /** False when there was none. Its uses go with it. */
  remove(id: string): Promise<boolean>;
  /**
   * Adds to what was used: several processes do. Of a budget that is gone there is nothing to add to.
   * @returns what is used now, of those that are there
   */
  addUses(uses: readonly BudgetUse[]): Promise<readonly BudgetUse[]>;
}

/** What is wrong with a budget, starting with its field; undefined when nothing is. */
export function budgetProblem({ scope, subject, timeZone }: Budget): Sentence | undefined {
  if (scope === 'gateway' && subject !== undefined) {
    return told`subject: must be absent for a budget of the whole gateway`;
  }
  if (scope !== 'gateway' && subject === undefined) {
    return told`subject: must be the id of a key or the name of a team`;
  }
  if (createCalendar(timeZone) === undefined) {
    return told`timeZone: must be the name of a time zone such as Europe/Berlin or UTC`;
  }
  return undefined;
}

export interface PeriodSpan {
  readonly from: number;
  readonly until: number;
}

const calendars = new Map<string, Calendar>();

/** The period that holds a moment. In a zone that this system does not know days are those of UTC. */
export function periodAt({ period, timeZone }: Budget, now: number): PeriodSpan {
  let calendar = calendars.get(timeZone);
  if (calendar === undefined) {
    calendar = createCalendar(timeZone) ?? createCalendar('UTC');
    if (calendar === undefined) throw new Error('This system knows no time zone.');
    calendars.set(timeZone, calendar);
  }
  const from = calendar.startOf(now, period);
  return { from, until: calendar.endOf(from, period) };
}
