import { expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { createAccount } from '../../accounts/account.test-support.ts';
import type { Account, QuotaReading } from '../../accounts/account.ts';
import { createFakeOptions, createFakes, NOW } from '../admin-fakes.test-support.ts';
import type { AdminOptions } from '../options.ts';
import { type AttentionOptions, readAttention } from './overview.ts';

/** Of the main thread, on which every stream waits for it. */
const MAX_MS = 100;

test('what ten thousand accounts need is seen in little time: it is asked every few seconds', () => {
  const options = optionsOf(Array.from({ length: 10_000 }, (_, nth) => accountOf(nth)));
  const costs = Array.from({ length: 5 }, () => {
    const begun = process.threadCpuUsage();
    const found = readAttention(options);
    const { user, system } = process.threadCpuUsage(begun);
    expect(found.map(({ kind }) => kind)).toEqual(['quota-low']);
    return (user + system) / 1000;
  });
  expect(Math.min(...costs)).toBeLessThan(MAX_MS);
});

function accountOf(nth: number): Account {
  const base = createAccount(`account-${nth}`);
  const quotas = Array.from({ length: 10 }, (_, model): readonly [string, QuotaReading] => {
    const remainingFraction = model === 0 ? 0.01 : (nth % 100) / 100;
    const times = { resetsAt: NOW + nth, fetchedAt: NOW - nth };
    return [`model${model}-large`, { remainingFraction, source: 'upstream', ...times }];
  });
  return { ...base, record: { ...base.record, upstreamId: 'main' }, quotas: new Map(quotas) };
}

function optionsOf(accounts: readonly Account[]): AttentionOptions {
  const clock = createFakeClock(NOW);
  const book = {
    list: () => accounts,
    proxyUrl: () => undefined,
  } as unknown as AdminOptions['book'];
  const monitor = {
    figures: {
      perMinute: () => ({ requests: 0, tokens: 0, errors: 0 }),
      series: () => [],
      inFlight: 0,
    },
    ...{ unsaved: 0, dropped: 0 },
  } as unknown as AttentionOptions['monitor'];
  return {
    ...createFakeOptions({ book, clock, fakes: createFakes() }),
    monitor,
    facts: () => ({
      ...{ isSandbox: false, address: 'http://127.0.0.1:8045', authMode: 'auto', isLoopback: true },
      ...{ consolePassword: 'own', configProblems: [], warnings: [], isLasting: true },
    }),
  };
}
