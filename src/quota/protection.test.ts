import { expect, test } from 'vitest';
import { createAccount } from '../accounts/account.test-support.ts';
import { createProtection, percentOf } from './protection.ts';
import { createReading } from './quota.test-support.ts';

type ProtectionSettings = ReturnType<Parameters<typeof createProtection>[0]['settings']>;

const NOW = 1_000_000;

function check(
  reading: Parameters<typeof createReading>[0] | undefined,
  settings: Partial<ProtectionSettings> = {},
  routedModel = 'alpha-3-flash',
): boolean {
  const isProtected = createProtection({
    settings: () => ({ enabled: true, thresholdPercent: 10, models: [], ...settings }),
    now: () => NOW,
    normalizeName: (name) => name.toLowerCase().replace('gemini', 'alpha'),
  });
  const quotas = new Map(reading === undefined ? [] : [['gemini-3-flash', createReading(reading)]]);
  const account = createAccount('a', { quotas });
  return isProtected(account, { modelId: 'gemini-3-flash', routedModel });
}

test('protection acts strictly below the threshold', () => {
  expect(check({ remainingFraction: 0.1 })).toBe(false);
  expect(check({ remainingFraction: 0.0999 })).toBe(true);
  expect(check({ remainingFraction: 0.29 }, { thresholdPercent: 29 })).toBe(false);
  expect(check({ remainingFraction: 0.07 }, { thresholdPercent: 7 })).toBe(false);
});

test('protection that is off protects nothing', () => {
  expect(check({ remainingFraction: 0 }, { enabled: false })).toBe(false);
});

test('an unknown figure and one whose window is over protect nothing', () => {
  expect(check(undefined)).toBe(false);
  expect(check({ remainingFraction: 0.01, resetsAt: NOW })).toBe(false);
  expect(check({ remainingFraction: 0.01, resetsAt: NOW + 1 })).toBe(true);
});

test('a list of models protects those alone, under every spelling of their names', () => {
  const low = { remainingFraction: 0.01 };
  expect(check(low, { models: ['alpha-3-pro-high'] })).toBe(false);
  expect(check(low, { models: ['ALPHA-3-Flash'] })).toBe(true);
  expect(check(low, { models: ['gemini-3-flash'] })).toBe(true);
});

test('a list of models knows one by its name at the account, and by the one it was asked for', () => {
  const low = { remainingFraction: 0.01 };
  for (const name of ['alpha-3-flash', 'fast']) {
    expect(check(low, { models: [name] }, 'fast')).toBe(true);
  }
  expect(check(low, { models: ['slow'] }, 'fast')).toBe(false);
});

test('percentages are free of the noise of binary fractions', () => {
  expect(percentOf(createReading({ remainingFraction: 0.29 }))).toBe(29);
  expect(percentOf(createReading({ remainingFraction: 1 / 3 }))).toBeCloseTo(33.333333, 6);
});
