// `/api/budgets`: what keys, teams and the gateway may use in a day, a week or a month.

import type { AccessControl } from '../../access/access.ts';
import { TIME } from '../../access/access-log.ts';
import {
  BUDGET_FIELDS,
  BUDGET_KIND,
  BUDGET_TERMS,
  type BudgetState,
  levelOf,
} from '../../access/budgets.ts';
import { invalidRequest } from '../../canonical/error.ts';
import { told } from '../../lib/localized-message.ts';
import { COUNT, list, named, optional, partial, TEXT } from '../../lib/object-schema.ts';
import { type ApiRoute, answerJson, answerWith, defineRoute, readNumber } from '../route.ts';

export const BUDGET_SCHEMA = named('Budget', {
  ...BUDGET_FIELDS,
  subjectName: optional({ ...TEXT, description: 'What its key is called.' }),
  from: { ...TIME, description: 'Beginning of the period that runs.' },
  until: { ...TIME, description: 'Its end, at which all of it is there again.' },
  used: { ...COUNT, description: 'By requests that ended, in the unit of the amount.' },
  reserved: { ...COUNT, description: 'By requests that run: the most they may use.' },
  level: {
    enum: ['ok', 'warning', 'spent'],
    description: '`warning` from the share on at which it warns, `spent` when nothing is left.',
  },
});

export const BUDGET_LIST_SCHEMA = named('BudgetList', {
  budgets: list(BUDGET_SCHEMA),
});

const DEFAULT_WARN_PERCENT = 80;

export const NEW_BUDGET_SCHEMA = named('NewBudget', {
  ...BUDGET_KIND,
  timeZone: optional({ ...BUDGET_KIND.timeZone, description: 'UTC when absent.' }),
  amount: BUDGET_TERMS.amount,
  isHard: optional({ ...BUDGET_TERMS.isHard, description: 'True when absent.' }),
  warnPercent: optional({ ...BUDGET_TERMS.warnPercent, description: '80 when absent.' }),
});

export const BUDGET_CHANGE_SCHEMA = partial(BUDGET_TERMS, {
  title: 'BudgetChange',
  description: 'What is absent stays. Another unit or period is another budget.',
});

const PARAMETER = 'Id of the budget.';
const ONE_BUDGET = {
  200: { description: 'The budget.', schema: BUDGET_SCHEMA, hasRevision: true },
} as const;

export function createBudgetRoutes({
  budgets,
  keys,
}: Pick<AccessControl, 'budgets' | 'keys'>): readonly ApiRoute[] {
  const write = (state: BudgetState): object => {
    const { budget, from, until, used, reserved } = state;
    const { scope, subject = '' } = budget;
    const subjectName = scope === 'key' ? keys.get(subject)?.key.name : undefined;
    return { ...budget, subjectName, from, until, used, reserved, level: levelOf(state) };
  };
  const answerOne = (state: BudgetState) => answerJson(write(state), state.budget.revision);
  return [
    defineRoute({
      at: 'GET /api/budgets',
      access: 'viewer',
      title: 'lists the budgets and how much of each is used',
      answers: { 200: { description: 'Oldest first.', schema: BUDGET_LIST_SCHEMA } },
      run: async () => answerJson({ budgets: budgets.list().map(write) }),
    }),
    defineRoute({
      at: 'POST /api/budgets',
      access: 'operator',
      title: 'creates a budget; earlier usage in its period counts',
      body: NEW_BUDGET_SCHEMA,
      answers: { 201: { description: 'The budget.', schema: BUDGET_SCHEMA, hasRevision: true } },
      async run({ body }) {
        if (body.scope === 'key') await keys.find(body.subject ?? '').catch(refuseSubject);
        const { timeZone = 'UTC', isHard = true, warnPercent = DEFAULT_WARN_PERCENT } = body;
        const made = await budgets.create({ ...body, timeZone, isHard, warnPercent });
        return answerWith(201, write(made), made.budget.revision);
      },
    }),
    defineRoute({
      at: 'GET /api/budgets/{id}',
      access: 'viewer',
      title: 'shows a budget',
      parameter: PARAMETER,
      answers: ONE_BUDGET,
      run: async ({ parameter }) => answerOne(await budgets.find(parameter)),
    }),
    defineRoute({
      at: 'PATCH /api/budgets/{id}',
      access: 'operator',
      title: 'changes the amount of a budget, and whether it refuses or warns',
      parameter: PARAMETER,
      body: BUDGET_CHANGE_SCHEMA,
      takesRevision: true,
      answers: ONE_BUDGET,
      run: async ({ parameter, body, revision }) =>
        answerOne(await budgets.change(parameter, body, readNumber(revision))),
    }),
    defineRoute({
      at: 'DELETE /api/budgets/{id}',
      access: 'operator',
      title: 'removes a budget; it refuses nothing from then on',
      parameter: PARAMETER,
      answers: { 204: { description: 'It is gone.' } },
      async run({ parameter }) {
        await budgets.remove(parameter);
        return { kind: 'empty' };
      },
    }),
  ];
}

function refuseSubject(): never {
  throw invalidRequest('subject', told`subject: must be the id of a key.`);
}
