import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { PASSWORD, startAdmin, type TestAdmin } from '../admin/admin.test-support.ts';
import { NOW } from '../admin/admin-fakes.test-support.ts';
import type { JsonObject } from '../lib/json.ts';
import { createHttpClient } from './admin-client.ts';
import type { FakeAnswers } from './fake-terminal.test-support.ts';
import { runCommand } from './run-command.test-support.ts';

let admin: TestAdmin;
let keyId: string;

beforeEach(async () => {
  admin = await startAdmin();
  const { key } = (await admin.call('POST', '/api/keys', { body: { name: 'ada' } })).body;
  keyId = typeof key === 'object' && key !== null && 'id' in key ? String(key.id) : '';
});
afterEach(() => admin.close());

function budgets(line: string, answers: FakeAnswers = {}) {
  return runCommand(`budgets ${line}`, {
    ...answers,
    clock: createFakeClock(NOW),
    connect: async () => createHttpClient({ url: admin.edge.url, password: PASSWORD }),
  });
}

async function listed(): Promise<readonly JsonObject[]> {
  const { printed } = await budgets('list --json');
  return JSON.parse(printed.join()).budgets;
}

async function add(line: string): Promise<string> {
  const { printed } = await budgets(`add ${line} --json`);
  return JSON.parse(printed.join()).id;
}

test('without a flag a budget is money of the whole gateway, of months here, and refuses', async () => {
  const { notes } = await budgets('');
  expect(notes.join()).toBe('There is no budget. See: isthmus budgets add --help');
  const { printed } = await budgets('add 2.50');
  expect(printed.join()).toMatch(
    /^ID +FOR +USED +OF +PER +KIND +STATE +RENEWS\n\S+ +gateway +0\.00 USD +2\.50 USD +month +hard +ok +\d{4}-\d\d-01T/,
  );
  expect(await listed()).toMatchObject([
    {
      ...{ scope: 'gateway', unit: 'money', period: 'month', amount: 2_500_000_000 },
      ...{ isHard: true, warnPercent: 80 },
      timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    },
  ]);
});

test('an amount that is none is told, by the command itself', async () => {
  for (const amount of ['x', '1e3', '""']) {
    await expect(budgets(`add ${amount}`)).rejects.toMatchObject({
      name: 'CommandError',
      reason: 'usage',
      message: 'The amount must be a number such as 100 or 2.50.',
    });
  }
});

test('a budget is of a key by its name, or of a team, with the terms the flags say', async () => {
  await add('2000000 --unit tokens --per day --key ADA --time-zone Europe/Berlin');
  await add('5 --unit images --per week --team "Blue Lab" --soft --warn-at 60');
  expect(await listed()).toMatchObject([
    {
      ...{ scope: 'key', subject: keyId, unit: 'tokens', period: 'day', amount: 2_000_000 },
      ...{ timeZone: 'Europe/Berlin', isHard: true },
    },
    {
      ...{ scope: 'team', subject: 'Blue Lab', unit: 'images', period: 'week', amount: 5 },
      ...{ isHard: false, warnPercent: 60 },
    },
  ]);
  const lines = (await budgets('list')).printed.join().split('\n');
  expect(lines[1]).toMatch(/ key ada +0 tokens +2000000 tokens +day +hard +ok /);
  expect(lines[2]).toMatch(/ team Blue Lab +0 images +5 images +week +soft +ok /);
});

test('what is edited changes, and what is not named stays', async () => {
  const id = await add('100 --warn-at 60');
  const { printed } = await budgets(`edit ${id} --amount 150.25 --soft`);
  expect(printed.join()).toMatch(/ 150\.25 USD +month +soft +ok /);
  await budgets(`edit ${id} --warn-at 70`);
  await budgets(`edit ${id} --hard`);
  expect(await listed()).toMatchObject([
    { id, amount: 150_250_000_000, isHard: true, warnPercent: 70, revision: 4 },
  ]);
});

test.each([
  ['add', "missing required argument 'amount'"],
  ['add much', 'a number such as 100 or 2.50'],
  ['add 1.5 --unit tokens', 'An amount of tokens must be a whole number.'],
  ['add 5 --unit cents', 'Allowed choices are requests, images, tokens, money.'],
  ['add 5 --per year', 'Allowed choices are day, week, month.'],
  ['add 5 --key ada --team Lab', 'cannot be used with'],
  ['add 5 --key nobody', 'There is no key nobody'],
  ['add 5 --soft --hard', 'cannot be used with'],
  ['add 5 --warn-at half', 'whole number'],
  ['add 5 --warn-at 101', 'warnPercent'],
  ['add 5 --time-zone Europe/Atlantis', 'the name of a time zone'],
  ['edit ID', 'Name what is to be changed'],
  ['edit ID --amount -5', 'a number such as 100 or 2.50'],
  ['edit budget_none --amount 5', 'There is no budget of this id'],
  ['remove budget_none --yes', 'There is no budget of this id'],
])('budgets %s is refused in words, and nothing changes', async (line, words) => {
  const id = await add('100');
  const before = await listed();
  await expect(budgets(line.replace('ID', id))).rejects.toThrow(words);
  expect(await listed()).toEqual(before);
});

test('a budget is removed when somebody agrees, or with --yes where nobody can be asked', async () => {
  const id = await add('100 --team Lab');
  await expect(budgets(`remove ${id}`, { answers: ['n'] })).rejects.toThrow('Nothing was changed');
  await expect(budgets(`remove ${id}`, { input: '' })).rejects.toThrow('--yes');
  expect(await listed()).toHaveLength(1);
  const { printed, asked } = await budgets(`remove ${id}`, { answers: ['y'] });
  expect(asked.join()).toContain('Remove the budget of 100.00 USD a month, team Lab?');
  expect(printed.join()).toBe('The budget of 100.00 USD a month, team Lab is removed.');
  const gone = await budgets(`remove ${await add('1')} --yes --json`, { input: '' });
  expect(JSON.parse(gone.printed.join())).toMatchObject({ removed: expect.any(String) });
  expect(await listed()).toEqual([]);
});
