import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createRetryBudgets } from './retry-budget.ts';

type RetryBudget = ReturnType<typeof createRetryBudget>;

const createRetryBudget = (clock: Parameters<typeof createRetryBudgets>[0]) =>
  createRetryBudgets(clock)('u m');

/** Says an earlier time each time it is asked. */
let wallTime = 1_700_000_000_000;
const SET_BACK = {
  now() {
    wallTime -= 60_000;
    return wallTime;
  },
};

function noteRequests(budget: RetryBudget, count: number): void {
  for (let noted = 0; noted < count; noted += 1) budget.noteRequest('a');
}

/** Retries that are allowed until none is. */
function takeAll(budget: RetryBudget): number {
  let taken = 0;
  for (; taken < 10_000 && budget.hasRoom('a'); taken += 1) budget.take('a');
  return taken;
}

test.each([
  [0, 10],
  [50, 10],
  [55, 11],
  [1000, 200],
])('of %i requests %i may be retried', (requests, retries) => {
  const budget = createRetryBudget(createFakeClock());
  noteRequests(budget, requests);
  expect(takeAll(budget)).toBe(retries);
  expect(budget.hasRoom('a')).toBe(false);
});

test('asking for room takes none', () => {
  const budget = createRetryBudget(createFakeClock());
  for (let asked = 0; asked < 100; asked += 1) expect(budget.hasRoom('a')).toBe(true);
  expect(takeAll(budget)).toBe(10);
});

test('a clock that is set back keeps nobody from retrying', async () => {
  const clock = createFakeClock();
  const budget = createRetryBudget({ monotonic: () => clock.monotonic(), ...SET_BACK });
  expect(takeAll(budget)).toBe(10);
  await clock.advance(20_000);
  expect(takeAll(budget)).toBe(10);
});

test('what was retried and asked in the ten seconds before still counts, what is older does not', async () => {
  const clock = createFakeClock();
  const budget = createRetryBudget(clock);
  noteRequests(budget, 1000);
  expect(takeAll(budget)).toBe(200);
  await clock.advance(10_000);
  expect(budget.hasRoom('a')).toBe(false);
  noteRequests(budget, 500);
  expect(takeAll(budget)).toBe(100);
  await clock.advance(10_000);
  expect(takeAll(budget)).toBe(0);
  await clock.advance(10_000);
  expect(takeAll(budget)).toBe(10);
});

test('after a pause nothing of before counts', async () => {
  const clock = createFakeClock();
  const budget = createRetryBudget(clock);
  noteRequests(budget, 1000);
  expect(takeAll(budget)).toBe(200);
  await clock.advance(20_000);
  expect(takeAll(budget)).toBe(10);
});

test('a client takes no more than its own requests allow', () => {
  const budget = createRetryBudget(createFakeClock());
  noteRequests(budget, 100);
  for (let noted = 0; noted < 100; noted += 1) budget.noteRequest('b');
  expect(takeAll(budget)).toBe(20);
  expect(budget.hasRoom('b')).toBe(true);
  budget.giveBack('a');
  expect(budget.hasRoom('a')).toBe(true);
});
