// Budgets and what was used of them, in a database.

import {
  BUDGET_PERIODS,
  BUDGET_SCOPES,
  BUDGET_UNITS,
  type Budget,
  type BudgetStore,
} from '../access/budget.ts';
import { StoreError } from '../accounts/account-store.ts';
import { told } from '../lib/localized-message.ts';
import { removeById } from './account-store.ts';
import { type Database, firstOf, insert, rowsOf, run } from './database.ts';
import { builder, type TableRow } from './schema.ts';

export function createBudgetStore(database: Database): BudgetStore {
  return {
    list: (since) =>
      database.read(function* () {
        const rows = yield* rowsOf(builder.selectFrom('budgets').selectAll().orderBy('sequence'));
        const uses = builder.selectFrom('budget_uses').selectAll().where('at', '>=', since);
        return { budgets: rows.flatMap(toBudget), uses: yield* rowsOf(uses) };
      }),
    insert: (budget) => database.write('power-cut', () => insert('budgets', [budget])),
    update: (budget) =>
      database.write('power-cut', function* () {
        const { id, amount, isHard, warnPercent, revision } = budget;
        const changed = yield* run(
          builder
            .updateTable('budgets')
            .set({ amount, isHard, warnPercent, revision })
            .where('id', '=', id)
            .where('revision', '=', revision - 1),
        );
        if (changed > 0) return;
        const row = builder.selectFrom('budgets').select('id').where('id', '=', id);
        if ((yield* firstOf(row)) === undefined) {
          throw new StoreError('missing', told`There is no budget ${id}.`);
        }
        throw new StoreError('stale', told`The budget ${id} was changed meanwhile.`);
      }),
    remove: (id) => removeById(database, 'budgets', id),
    addUses: (uses) =>
      database.write('crash', function* () {
        const ids = builder.selectFrom('budgets').select('id');
        const known = new Set((yield* rowsOf(ids)).map(({ id }) => id));
        const rows = uses.filter(({ budgetId }) => known.has(budgetId));
        yield* insert('budget_uses', rows, {
          columns: ['budgetId', 'at', 'used'],
          onConflict: ADD,
        });
      }),
  };
}

const ADD = {
  clause: '(budget_id, at) do update set used = budget_uses.used + excluded.used',
} as const;

/** Of a word that this version does not know nobody can say what it limits. */
function toBudget({ sequence: _, ...row }: TableRow<'budgets'>): readonly Budget[] {
  const scope = BUDGET_SCOPES.find((known) => known === row.scope);
  const unit = BUDGET_UNITS.find((known) => known === row.unit);
  const period = BUDGET_PERIODS.find((known) => known === row.period);
  if (scope === undefined || unit === undefined || period === undefined) return [];
  return [{ ...row, scope, unit, period, isHard: row.isHard !== 0 }];
}
