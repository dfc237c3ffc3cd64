import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { countTurns } from '../../test/support/turns.ts';
import { createAccount } from '../accounts/account.test-support.ts';
import type { Account, QuotaReading } from '../accounts/account.ts';
import { NO_USAGE, type UsageBreakdown } from '../monitor/request-store.ts';
import { createAccountRoutes } from './accounts.ts';
import { ownerInput } from './admin.test-support.ts';
import { createFakeOptions, createFakes, NOW } from './admin-fakes.test-support.ts';
import { createExportRoutes } from './monitor/export.ts';
import { type AttentionOptions, readAttention } from './monitor/overview.ts';
import type { AdminOptions } from './options.ts';

/** Of the main thread, on which every stream waits for it. */
const MAX_MS = 100;

test('what ten thousand accounts need is seen in little time: it is asked every few seconds', async () => {
  const options = optionsOf(manyAccounts());
  const cost = await leastMs(async () => {
    expect(readAttention(options).map(({ kind }) => kind)).toEqual(['quota-low']);
  });
  expect(cost).toBeLessThan(MAX_MS);
});

test('ten thousand accounts are listed again for little, with turns for others between them', async () => {
  const route = createAccountRoutes(optionsOf(manyAccounts())).find(
    ({ method }) => method === 'GET',
  );
  let turns = 0;
  const cost = await leastMs(async () => {
    turns = 0;
    let isDone = false;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const answer = await route?.run(ownerInput());
    isDone = true;
    expect(answer).toMatchObject({ body: { accounts: { length: 10_000 } } });
  });
  expect(cost).toBeLessThan(MAX_MS);
  expect(turns).toBeGreaterThan(3);
});

test('an export of many rows leaves turns to others, however fast its rows are there', async () => {
  const row: UsageBreakdown = {
    ...{ ...NO_USAGE, at: NOW, model: 'm', account: 'ann', keyId: 'k', keyName: undefined },
    ...{ owner: '', team: '', tags: [], protocol: 'chat' },
  };
  const store = { breakdown: async () => Array.from({ length: 5_000 }, () => row) };
  const monitor = { store } as unknown as AttentionOptions['monitor'];
  const clock = createFakeClock(NOW);
  const route = createExportRoutes({ monitor, clock, keyName: () => undefined }).find(
    ({ path }) => path === '/api/export/usage',
  );
  const query = new URLSearchParams({ from: `${NOW - 1}`, to: `${NOW}`, step: 'day' });
  const { result, turns } = await countTurns(async () => {
    const answer = await route?.run({ ...ownerInput(), query });
    if (answer?.kind !== 'download') throw new Error('It is no file.');
    return Array.fromAsync(answer.chunks);
  });
  expect(result.join('').split('\n').length).toBe(5_002);
  expect(turns).toBeGreaterThanOrEqual(result.length - 1);
});

async function leastMs(work: () => Promise<void>): Promise<number> {
  const costs: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const begun = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(begun);
    costs.push((user + system) / 1000);
  }
  return Math.min(...costs);
}

function manyAccounts(): readonly Account[] {
  return Array.from({ length: 10_000 }, (_, nth) => accountOf(nth));
}

function accountOf(nth: number): Account {
  const base = createAccount(`account-${nth}`);
  const quotas = Array.from({ length: 10 }, (_, model): readonly [string, QuotaReading] => {
    const remainingFraction = model === 0 ? 0.01 : (nth % 100) / 100;
    const times = { resetsAt: NOW + nth, fetchedAt: NOW - nth };
    return [`model${model}-large`, { remainingFraction, source: 'upstream', ...times }];
  });
  return { ...base, record: { ...base.record, upstreamId: 'main' }, quotas: new Map(quotas) };
}

function optionsOf(accounts: readonly Account[]): AdminOptions & AttentionOptions {
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
    ...{ monitor, access: {} as unknown as AdminOptions['access'] },
    facts: () => ({
      ...{ isSandbox: false, address: 'http://127.0.0.1:8045', authMode: 'auto', isLoopback: true },
      ...{ consolePassword: 'own', configProblems: [], warnings: [], isLasting: true },
    }),
  };
}
