import { expect, test } from 'vitest';
import { ADA, createTestClock, GRACE, NOON } from './sandbox.test-support.ts';
import {
  createFaults,
  createPrefixCache,
  createQuotaCounters,
  DEFAULT_TIER_QUOTAS,
} from './state.ts';

test('a quota runs down per model, is refused with its reset, and comes back', () => {
  const clock = createTestClock();
  const quotas = createQuotaCounters(clock, DEFAULT_TIER_QUOTAS);
  const account = { ...ADA, quota: { requests: 2, windowMs: 3_600_000 } };
  quotas.spend(account, 'm');
  expect(quotas.read(account, 'm')).toMatchObject({
    remaining: 1,
    remainingFraction: 0.5,
    resetsAt: NOON + 3_600_000,
  });
  expect(quotas.read(account, 'other').remainingFraction).toBe(1);
  quotas.spend(account, 'm');
  clock.advance(1_800_000);
  expect(() => quotas.spend(account, 'm')).toThrow(/resets after 1800s/);
  clock.advance(1_800_000);
  expect(quotas.read(account, 'm').remainingFraction).toBe(1);
});

test('a long beginning seen before counts as cached, for the same scope only', () => {
  const cache = createPrefixCache();
  const long = { role: 'user', parts: [{ text: 'x'.repeat(8000) }] };
  const request = { contents: [long] };
  const longer = {
    contents: [long, { role: 'model', parts: [{ text: 'a' }] }, { role: 'user', parts: [] }],
  };
  expect(cache.visit('ada', request)).toBe(0);
  expect(cache.visit('ada', longer)).toBe(2000);
  expect(cache.visit('grace', longer)).toBe(0);
  expect(cache.visit('ada', { ...longer, systemInstruction: long })).toBe(0);
});

test('a short beginning is never cached', () => {
  const cache = createPrefixCache();
  const request = { contents: [{ role: 'user', parts: [{ text: 'short' }] }] };
  cache.visit('ada', request);
  expect(cache.visit('ada', request)).toBe(0);
});

test('a fault applies so often as it was told, to the calls it names', () => {
  const faults = createFaults();
  faults.add({ status: 503, count: 2, account: GRACE.email });
  faults.add({ status: 500, model: 'm' });
  const take = (account: string, model: string) =>
    faults.take({ endpoint: 'generate', account, models: [model] });
  expect(take(ADA.email, 'other')).toBeUndefined();
  expect(take(ADA.email, 'm')?.status).toBe(500);
  expect(take(GRACE.email, 'm')?.status).toBe(503);
  expect(faults.list()).toMatchObject([{ status: 503, remaining: 1 }]);
  faults.clear();
  expect(take(GRACE.email, 'm')).toBeUndefined();
});

test('a fault that makes no sense is refused with its fields', () => {
  const faults = createFaults();
  expect(() => faults.add({ status: 200, nope: 1 })).toThrow(/status: .*\nnope: /);
  expect(() => faults.add([])).toThrow(/must be a JSON object/);
});

test('a long medium is known again, and another of its length is not', () => {
  const cache = createPrefixCache();
  const visit = (data: string): number =>
    cache.visit('ada', {
      contents: [
        { role: 'user', parts: [{ text: 'x'.repeat(8000) }, { inlineData: { data } }] },
        { role: 'user', parts: [{ text: 'Again' }] },
      ],
    });
  const medium = 'AAAA'.repeat(100_000);
  expect(visit(medium)).toBe(0);
  expect(visit(medium)).toBeGreaterThan(2000);
  expect(visit(`${medium.slice(0, -4)}AAAB`)).toBe(0);
});
