import { expect, test } from 'vitest';
import { createAccount } from '../accounts/account.test-support.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import { createQuotaEstimates } from './estimates.ts';
import { createFakeBook, createReading } from './quota.test-support.ts';

type QuotaLimit = ReturnType<Parameters<typeof createQuotaEstimates>[0]['limitOf']>;

const NOW = 1_000_000;
const HOUR = 3_600_000;

function setUp(
  limit?: QuotaLimit,
  quotas: ReadonlyMap<string, ReturnType<typeof createReading>> = new Map(),
) {
  const time = { now: NOW };
  const book = createFakeBook([createAccount('a', { quotas })]);
  const estimates = createQuotaEstimates({
    book,
    limitOf: () => limit,
    isConfigured: () => limit !== undefined,
    now: () => time.now,
  });
  return { time, estimates, reading: () => book.find('a')?.quotas.get('m') };
}

test('what a refusal tells of the limit is kept also where the upstream reports its figures', () => {
  const quotas = new Map([['m', createReading({ remainingFraction: 0.5 })]]);
  const { estimates } = setUp(undefined, quotas);
  const account = createAccount('a', { quotas });
  expect(estimates.callLimitOf(account, 'm')).toBeUndefined();
  estimates.noteRefusal('a', 'm', {
    kind: 'quota-exhausted',
    quota: { limit: 4, windowMs: HOUR, resetsAt: NOW + HOUR },
  });
  expect(estimates.callLimitOf(account, 'm')).toBe(4);
  const configured = setUp({ requests: 9, windowMs: HOUR });
  expect(configured.estimates.callLimitOf(account, 'm')).toBe(9);
});

test('calls run a configured limit down, and the window starts with the first of them', () => {
  const { estimates, reading } = setUp({ requests: 3, windowMs: HOUR });
  estimates.noteUse('a', 'm', 1);
  expect(reading()).toEqual({
    remainingFraction: 2 / 3,
    resetsAt: NOW + HOUR,
    source: 'estimated',
    fetchedAt: NOW,
  });
  estimates.noteUse('a', 'm', 1);
  estimates.noteUse('a', 'm', 1);
  expect(reading()?.remainingFraction).toBe(0);
  estimates.noteUse('a', 'm', 1);
  expect(reading()?.remainingFraction).toBe(0);
});

test('later calls of a window do not move its end', () => {
  const { time, estimates, reading } = setUp({ requests: 10, windowMs: HOUR });
  for (let call = 0; call < 5; call += 1) {
    estimates.noteUse('a', 'm', 1);
    time.now += 60_000;
  }
  expect(reading()).toMatchObject({ remainingFraction: 0.5, resetsAt: NOW + HOUR });
});

test('the operator’s own limit counts before one that a refusal named', () => {
  const { estimates } = setUp({ requests: 9, windowMs: HOUR });
  const quota = { limit: 4, windowMs: HOUR, resetsAt: NOW + HOUR };
  estimates.noteRefusal('a', 'm', { kind: 'quota-exhausted', quota });
  expect(estimates.callLimitOf(createAccount('a'), 'm')).toBe(9);
});

test('a limit that is changed or taken away begins anew; figures by others stay', () => {
  let limits: Record<string, QuotaLimit> = { m: { requests: 3, windowMs: HOUR } };
  const limitOf = (_upstream: string, model: string): QuotaLimit => limits[model];
  const book = createFakeBook([createAccount('a')]);
  const { noteUse, noteRefusal, forgetChanged } = createQuotaEstimates({
    ...{ book, limitOf, isConfigured: () => true, now: () => NOW },
  });
  const left = (model: string) => book.find('a')?.quotas.get(model)?.remainingFraction;
  const change = (changed: Record<string, QuotaLimit>): void => {
    const before = limits;
    limits = changed;
    forgetChanged((_upstream, model) => before[model]);
  };
  noteUse('a', 'm', 3);
  noteRefusal('a', 'n', { kind: 'quota-exhausted', quota: { resetsAt: NOW + HOUR } });
  change({ m: { requests: 3, windowMs: HOUR }, n: { requests: 5, windowMs: HOUR } });
  expect([left('m'), left('n')]).toEqual([0, 0]);
  change({ m: { requests: 300, windowMs: HOUR } });
  expect(left('m')).toBeUndefined();
  noteUse('a', 'm', 30);
  expect(left('m')).toBe(0.9);
  change({});
  expect(left('m')).toBeUndefined();
});

test('a new window starts full', () => {
  const { time, estimates, reading } = setUp({ requests: 10, windowMs: HOUR });
  estimates.noteUse('a', 'm', 10);
  time.now += HOUR;
  estimates.noteUse('a', 'm', 1);
  expect(reading()).toMatchObject({ remainingFraction: 0.9, resetsAt: NOW + 2 * HOUR });
});

test('a thousand calls lose nothing to rounding', () => {
  const { estimates, reading } = setUp({ requests: 999, windowMs: HOUR });
  for (let call = 0; call < 998; call += 1) estimates.noteUse('a', 'm', 1);
  expect(reading()?.remainingFraction).toBe(1 / 999);
});

test('without a limit nothing is estimated', () => {
  const { estimates, reading } = setUp();
  estimates.noteUse('a', 'm', 1);
  expect(reading()).toBeUndefined();
});

test('a refusal that names the limit and its end teaches both', () => {
  const { time, estimates, reading } = setUp();
  const failure: UpstreamFailure = {
    kind: 'quota-exhausted',
    quota: { limit: 4, windowMs: HOUR, resetsAt: NOW + 60_000 },
  };
  estimates.noteRefusal('a', 'm', failure);
  expect(reading()).toMatchObject({ remainingFraction: 0, resetsAt: NOW + 60_000 });
  time.now += 60_000;
  estimates.noteUse('a', 'm', 1);
  expect(reading()).toMatchObject({ remainingFraction: 0.75, source: 'estimated' });
});

test('a refusal with a wait alone says when there is room again', () => {
  const { estimates, reading } = setUp();
  estimates.noteRefusal('a', 'm', { kind: 'quota-exhausted', retryAfterMs: 5000 });
  expect(reading()).toMatchObject({ remainingFraction: 0, resetsAt: NOW + 5000 });
});

test('a refusal without any hint, or of the rate, leaves the figures alone', () => {
  const { estimates, reading } = setUp();
  estimates.noteRefusal('a', 'm', { kind: 'quota-exhausted' });
  estimates.noteRefusal('a', 'm', { kind: 'rate-limited', retryAfterMs: 5000 });
  expect(reading()).toBeUndefined();
});

test('what the upstream reports itself is never overwritten', () => {
  const quotas = new Map([['m', createReading({ remainingFraction: 0.5 })]]);
  const { estimates, reading } = setUp({ requests: 10, windowMs: HOUR }, quotas);
  estimates.noteUse('a', 'm', 1);
  estimates.noteRefusal('a', 'm', { kind: 'quota-exhausted', retryAfterMs: 5000 });
  expect(reading()).toEqual(createReading({ remainingFraction: 0.5 }));
});

test('of what refusals told the latest ten thousand limits are remembered', () => {
  const { estimates } = setUp();
  const quota = { limit: 4, windowMs: HOUR };
  for (let index = 0; index <= 10_000; index += 1) {
    estimates.noteRefusal('a', `m-${index}`, { kind: 'quota-exhausted', quota });
  }
  const account = createAccount('a');
  const limits = ['m-0', 'm-1', 'm-10000'].map((id) => estimates.callLimitOf(account, id));
  expect(limits).toEqual([undefined, 4, 4]);
});
