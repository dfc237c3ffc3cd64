import { expect, test } from 'vitest';
import { SuccessShares } from './success-shares.ts';

const FAULT = { kind: 'path', status: 500 } as const;

function benchOf() {
  const shares = new SuccessShares();
  return {
    shares,
    note(client: string, isSuccess: boolean, change: { at?: number; fingerprint?: string } = {}) {
      const { at = 1000, fingerprint } = change;
      const failure = isSuccess ? undefined : FAULT;
      shares.note({ accountId: 'a', model: 'm', clientKeyId: client, fingerprint, failure, at });
    },
  };
}

test('A5: the share is known from five attempts on, and gives the band', () => {
  const { shares, note } = benchOf();
  for (let nth = 0; nth < 4; nth += 1) note('k', false);
  expect([shares.shareOf('a', 'm', 1000), shares.bandOf('a', 'm', 1000)]).toEqual([undefined, 0]);
  note('k', true);
  expect([shares.shareOf('a', 'm', 1000), shares.bandOf('a', 'm', 1000)]).toEqual([0.2, 2]);
  for (let nth = 0; nth < 5; nth += 1) note('k', true);
  expect(shares.bandOf('a', 'm', 1000)).toBe(1);
  for (let nth = 0; nth < 90; nth += 1) note('k', true);
  expect(shares.bandOf('a', 'm', 1000)).toBe(0);
});

test('one client’s failures weigh no more than another’s successes', () => {
  const { shares, note } = benchOf();
  for (let nth = 0; nth < 100; nth += 1) note('bad', false);
  note('good', true);
  expect(shares.shareOf('a', 'm', 1000)).toBe(0.5);
});

test('the same request of one key that fails again and again counts once', () => {
  const { shares, note } = benchOf();
  for (let nth = 0; nth < 50; nth += 1) note('k', false, { fingerprint: 'same' });
  for (let nth = 0; nth < 9; nth += 1) note('k', true);
  expect(shares.shareOf('a', 'm', 1000)).toBe(0.9);
});

test('successes before the first failure count beside it, and after the last one all is well', () => {
  const { shares, note } = benchOf();
  for (let nth = 0; nth < 9; nth += 1) note('one', true);
  note('other', true);
  expect([shares.shareOf('a', 'm', 1000), shares.bandOf('a', 'm', 1000)]).toEqual([1, 0]);
  note('other', false, { at: 2000 });
  expect([shares.shareOf('a', 'm', 2000), shares.bandOf('a', 'm', 2000)]).toEqual([0.75, 1]);
  for (let nth = 0; nth < 5; nth += 1) note('other', true, { at: 3000 });
  expect(shares.shareOf('a', 'm', 31_000)).toBe(5 / 6);
  expect([shares.shareOf('a', 'm', 32_000), shares.bandOf('a', 'm', 32_000)]).toEqual([1, 0]);
  expect(shares.lowered.size).toBe(0);
});

test('what is older than thirty seconds counts no more', () => {
  const { shares, note } = benchOf();
  for (let nth = 0; nth < 10; nth += 1) note('k', false, { at: 1000 });
  expect(shares.bandOf('a', 'm', 30_999)).toBe(2);
  expect(shares.bandOf('a', 'm', 31_000)).toBe(0);
  expect(shares.lowered.size).toBe(0);
});

test('people are shown the last twenty attempts, the last success and the last failure', () => {
  const { shares, note } = benchOf();
  for (let nth = 0; nth < 30; nth += 1) note('k', nth % 2 === 0, { at: 1000 + nth });
  expect(shares.conditionOf('a')).toMatchObject({
    attempts: 20,
    share: 0.5,
    lastSuccessAt: 1028,
    lastFailure: { at: 1029, failure: FAULT },
  });
  expect(shares.conditionOf('b').share).toBeUndefined();
});

test('how an account did before the start is shown until it is asked, and leads no request', () => {
  const { shares, note } = benchOf();
  shares.recall('a', { good: 30, failed: 10 });
  expect(shares.conditionOf('a')).toMatchObject({ attempts: 20, share: 0.75 });
  expect(shares.bandOf('a', 'm', 1000)).toBe(0);
  expect(shares.servedAt('a')).toBeUndefined();
  shares.recall('a', { good: 1, failed: 0 });
  for (let nth = 0; nth < 5; nth += 1) note('k', true);
  expect(shares.conditionOf('a')).toMatchObject({ attempts: 20, share: 1 });
});

test('of many accounts that do not know a model a thousand rest, and others once those have rested', () => {
  const { shares } = benchOf();
  const restAll = (word: string, now: number) => {
    for (let nth = 0; nth < 1_500; nth += 1) {
      shares.rest(`${word}${nth}`, 'm', { until: now + 300_000, now });
    }
  };
  restAll('a', 1000);
  expect([shares.lowered.size, shares.isResting('a999', 'm', 1000)]).toEqual([1_000, true]);
  expect(shares.isResting('a1000', 'm', 1000)).toBe(false);
  restAll('b', 400_000);
  expect([shares.lowered.size, shares.isResting('b0', 'm', 400_000)]).toEqual([1_000, true]);
});
