// `isthmus budgets`: what keys, teams and the gateway may use in a day, a week or a month.

import { InvalidArgumentError, Option } from 'commander';
import { BUDGET_PERIODS, BUDGET_UNITS } from '../access/budgets.ts';
import { definedFields, type JsonObject } from '../lib/json.ts';
import { toDollars } from '../pricing/cost.ts';
import {
  type AddCommand,
  type Context,
  gatewayCommand,
  ownZone,
  readWholeNumber,
} from './command.ts';
import { CommandError } from './exit-codes.ts';
import { findKey } from './keys.ts';
import { confirm, objectsOf, plain, type Said, textOf, writeTable } from './terminal.ts';

const BUDGET = ['<budget>', 'id of the budget'] as const;

type TermFlags = Said<'soft' | 'hard', boolean> & Said<'warnAt', number>;
type AddFlags = TermFlags & Said<'key' | 'team' | 'per' | 'unit' | 'timeZone', string>;
type EditFlags = TermFlags & Said<'amount', number>;

const TERMS: readonly Option[] = [
  new Option('--soft', 'only warn, refuse nothing').conflicts('hard'),
  new Option('--hard', 'refuse requests beyond it'),
  new Option('--warn-at <percent>', 'percentage at which it warns').argParser(readWholeNumber),
];

const COMMANDS: readonly AddCommand[] = [
  gatewayCommand({
    name: 'list',
    description: 'list the budgets and how much of each is used',
    isDefault: true,
    examples: [['budgets', 'All budgets, with when each resets.']],
    load: async () => listBudgets,
  }),
  gatewayCommand<AddFlags>({
    name: 'add',
    description: 'create a budget for a key, a team or the whole gateway',
    argument: ['<amount>', 'amount; for money in US dollars'],
    options: [
      new Option('--unit <unit>', 'what is counted').choices(BUDGET_UNITS).default('money'),
      new Option('--per <period>', 'calendar period').choices(BUDGET_PERIODS).default('month'),
      new Option('--key <key>', 'name or id of the key').conflicts('team'),
      new Option('--team <name>', 'the team; without it and --key the whole gateway'),
      new Option('--time-zone <zone>', 'time zone of days; that of this machine when absent'),
      ...TERMS,
    ],
    examples: [
      ['budgets add 100 --team Research', '100 dollars a month for a team.'],
      ['budgets add 2000000 --unit tokens --per day --key ada', 'Tokens a day for a key.'],
      ['budgets add 500 --soft --warn-at 60', 'The gateway goes on, and warns from 300 dollars.'],
    ],
    load: async () => addBudget,
  }),
  gatewayCommand<EditFlags>({
    name: 'edit',
    description: 'change the amount of a budget, and whether it refuses or warns',
    argument: BUDGET,
    options: [
      new Option('--amount <amount>', 'amount; for money in US dollars').argParser(readAmount),
      ...TERMS,
    ],
    examples: [['budgets edit budget_1 --amount 150', 'Everything else stays as it is.']],
    load: async () => editBudget,
  }),
  gatewayCommand<Said<'yes', boolean>>({
    name: 'remove',
    description: 'remove a budget; it refuses nothing from then on',
    argument: BUDGET,
    options: [new Option('-y, --yes', 'do not ask')],
    examples: [['budgets remove budget_1 --yes', 'Without a terminal --yes is needed.']],
    load: async () => removeBudget,
  }),
];

export const addBudgetCommands: AddCommand = (program, parts) => {
  const budgets = program
    .command('budgets')
    .description('list, add, edit and remove budgets of keys, teams and the gateway');
  for (const add of COMMANDS) add(budgets, parts);
};

const COLUMNS = {
  id: 'id',
  for: sayOwner,
  used: (budget: JsonObject) => sayAmount(budget, 'used'),
  of: (budget: JsonObject) => sayAmount(budget, 'amount'),
  per: 'period',
  kind: (budget: JsonObject) => (budget.isHard === true ? 'hard' : 'soft'),
  state: 'level',
  renews: (budget: JsonObject) => new Date(Number(budget.until)).toISOString(),
};

async function listBudgets({ client, terminal, answer }: Context): Promise<void> {
  const body = await client.call('GET', '/api/budgets');
  answer(body, () => {
    const budgets = objectsOf(body, 'budgets');
    if (budgets.length === 0)
      return terminal.note('There is no budget. See: isthmus budgets add --help');
    terminal.print(writeTable(COLUMNS, budgets));
  });
}

async function addBudget(context: Context, text: string, flags: AddFlags): Promise<void> {
  const amount = numberOf(text);
  if (amount === undefined) throw new CommandError('usage', `The amount ${AMOUNT}`);
  const { client, terminal, answer } = context;
  const { unit = 'money', per: period = 'month', key, team, timeZone = ownZone() } = flags;
  const budget = await client.call('POST', '/api/budgets', {
    ...{ unit, period, timeZone },
    amount: toUnits(amount, unit),
    ...(key !== undefined && { scope: 'key', subject: textOf(await findKey(context, key), 'id') }),
    ...(team !== undefined && { scope: 'team', subject: team }),
    ...(key === undefined && team === undefined && { scope: 'gateway' }),
    ...writeTerms(flags),
  });
  answer(budget, () => terminal.print(writeTable(COLUMNS, [budget])));
}

async function editBudget(context: Context, id: string, flags: EditFlags): Promise<void> {
  const { client, terminal, answer } = context;
  const { amount } = flags;
  const known = await client.call('GET', pathOf(id));
  const change = {
    ...(amount !== undefined && { amount: toUnits(amount, textOf(known, 'unit')) }),
    ...writeTerms(flags),
  };
  if (Object.keys(change).length === 0) {
    throw new CommandError(
      'usage',
      'Name what is to be changed; isthmus budgets edit --help lists it.',
    );
  }
  const budget = await client.call('PATCH', pathOf(id), change);
  answer(budget, () => terminal.print(writeTable(COLUMNS, [budget])));
}

async function removeBudget(
  { client, terminal, answer }: Context,
  id: string,
  { yes }: Said<'yes', boolean>,
): Promise<void> {
  const known = await client.call('GET', pathOf(id));
  const what = plain(
    `${sayAmount(known, 'amount')} a ${textOf(known, 'period')}, ${sayOwner(known)}`,
  );
  await confirm(terminal, { question: `Remove the budget of ${what}?`, yes });
  await client.call('DELETE', pathOf(id));
  answer({ removed: id }, () => terminal.print(`The budget of ${what} is removed.`));
}

function writeTerms({ soft, hard, warnAt }: TermFlags): JsonObject {
  const isHard = soft === true ? false : hard;
  return definedFields({ isHard, warnPercent: warnAt }) ?? {};
}

function pathOf(id: string): string {
  return `/api/budgets/${encodeURIComponent(id)}`;
}

function sayOwner(budget: JsonObject): string {
  const name = textOf(budget, 'subjectName') || textOf(budget, 'subject');
  return `${textOf(budget, 'scope')} ${name}`.trim();
}

/** `12.50 USD` or `1200 tokens`. */
function sayAmount(budget: JsonObject, field: 'used' | 'amount'): string {
  const amount = Number(budget[field] ?? 0);
  const unit = textOf(budget, 'unit');
  return unit === 'money' ? `${toDollars(amount).toFixed(2)} USD` : `${amount} ${unit}`;
}

const NANOS = 1_000_000_000;

function toUnits(amount: number, unit: string): number {
  if (unit === 'money') return Math.round(amount * NANOS);
  if (Number.isInteger(amount)) return amount;
  throw new CommandError('usage', `An amount of ${unit} must be a whole number.`);
}

const AMOUNT = 'must be a number such as 100 or 2.50.';

/** Of a flag, which commander names. */
function readAmount(text: string): number {
  const amount = numberOf(text);
  if (amount === undefined) throw new InvalidArgumentError(`It ${AMOUNT}`);
  return amount;
}

function numberOf(text: string): number | undefined {
  return /^\d{1,13}(?:\.\d{1,9})?$/.test(text.trim()) ? Number(text) : undefined;
}
