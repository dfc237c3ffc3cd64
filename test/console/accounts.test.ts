// Which accounts the console shows for a search, and what it says they can do.

import { expect, test } from 'vitest';
import {
  conditionOf,
  filterAccounts,
  isUnchecked,
} from '../../console/src/pages/accounts/condition.ts';
import { asSentence } from '../../src/lib/localized-message.ts';
import { createFakeAccounts } from './fake-accounts.ts';

const accounts = createFakeAccounts('rich', 0).list();

function named(id: string) {
  const account = accounts.find((one) => one.id === id);
  if (account === undefined) throw new Error(`The fixtures have no account ${id}.`);
  return account;
}

test('an account some of whose models cool down is usable, one that cools down as a whole is not', () => {
  expect(conditionOf(named('jun'))).toBe('usable');
  expect(conditionOf(named('robot'))).toBe('resting');
  expect(conditionOf(named('blocked'))).toBe('resting');
  expect(conditionOf(named('revoked'))).toBe('off');
});

test('an account whose upstream lists no models is not called accepted until it has answered', () => {
  const { condition, ...rest } = named('jun');
  const at = '2026-01-01T00:00:00Z';
  const trial = { isGood: true, durationMs: 1, at, message: asSentence('') };
  const isUncheckedBy = (what: 'models' | 'answer', models: number | null) =>
    isUnchecked({ ...rest, models, condition: { ...condition, trial: { ...trial, what } } });
  expect([isUncheckedBy('models', 0), isUncheckedBy('models', null)]).toEqual([true, true]);
  expect([isUncheckedBy('models', 3), isUncheckedBy('answer', 0)]).toEqual([false, false]);
});

test('a search finds all its words in name, upstream, project, notes and tier, whatever the case', () => {
  const found = (search: string) =>
    filterAccounts(accounts, { shown: 'all', search }).map(({ id }) => id);
  expect(found('LINDQVIST ultra')).toEqual(['maria']);
  expect(found('vertex 4711')).toEqual(['robot']);
  expect(found('nobody')).toEqual([]);
  expect(found('')).toHaveLength(accounts.length);
});

test('a condition narrows a search', () => {
  const found = filterAccounts(accounts, { shown: 'off', search: 'example.org' });
  expect(found.map(({ id }) => id)).toEqual(['revoked', 'parked']);
});
