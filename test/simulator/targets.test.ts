// The targets of health and retry, on the real pool and dispatcher in simulated time. Prints what it measures.

import { expect, test } from 'vitest';
import { countOf, IS_SLOW } from '../support/counts.ts';
import {
  type FaultKind,
  type Figures,
  figuresOf,
  type Outcome,
  type Scenario,
  simulate,
  successShare,
} from './simulate.ts';

const FAULTS = [
  '500',
  '502',
  '503',
  '503 with Retry-After',
  '504',
  '529',
  'cut',
  'reset',
  'empty',
  'garbage',
  'error in a 200',
] as const;
const ACCOUNTS = IS_SLOW ? [1, 2, 3, 8] : [1, 3];
const REQUESTS = countOf({ slow: 800, everyday: 250 });

function say(scenario: Scenario, { success, attemptsPerRequest, longestRefusedMs }: Figures): void {
  const { fault, share, accounts, perSecond } = scenario;
  process.stdout.write(
    `${fault}, ${share * 100} %, ${accounts} accounts, ${perSecond}/s: ${(success * 100).toFixed(2)} % succeed, ` +
      `${attemptsPerRequest.toFixed(2)} attempts, others refused for ${longestRefusedMs.toFixed(0)} ms at most\n`,
  );
}

async function play(scenario: Scenario): Promise<Outcome> {
  const outcome = await simulate(scenario);
  say(scenario, figuresOf(outcome));
  expect(successShare(outcome.neighbours)).toBe(1);
  expect(outcome.neighbours.every(({ attempts }) => attempts === 1)).toBe(true);
  return outcome;
}

test.each(FAULTS)('A5, A6, A9: of one attempt in ten, %s: 99.9 %% succeed', async (fault) => {
  const samples = [];
  for (const accounts of ACCOUNTS) {
    for (const [perSecond, answerMs] of [[2, 1500] as const, [20, 15_000] as const]) {
      const seconds = REQUESTS / perSecond;
      const seed = accounts * 100 + perSecond;
      const scenario = { fault, share: 0.1, accounts, perSecond, seconds, answerMs, seed };
      samples.push(...(await play(scenario)).samples);
    }
  }
  expect(successShare(samples)).toBeGreaterThanOrEqual(0.999);
  const attempts = samples.reduce((sum, sample) => sum + sample.attempts, 0);
  expect(attempts / samples.length).toBeLessThanOrEqual(1.3);
});

test('one attempt in a hundred at 100 requests a second is noticed by nobody', async () => {
  for (const fault of ['500', '503 with Retry-After'] as const) {
    const scenario = { fault, share: 0.01, accounts: 3, perSecond: 100, seconds: 20 };
    expect(successShare((await play(scenario)).samples)).toBe(1);
  }
});

test.each<[FaultKind, number, number]>([
  ['500', 1, 2],
  ['500', 3, 20],
  ['503', 1, 20],
  ['503', 3, 2],
  ['503 with Retry-After', 1, 2],
  ['reset', 3, 2],
  ['empty', 1, 20],
])('an outage of a minute, %s, %i accounts, %i/s', async (fault, accounts, perSecond) => {
  const [from, until] = [20_000, 80_000];
  const { samples } = await play({
    ...{ fault, share: 1, accounts, perSecond, seconds: 120, outage: [from, until] as const },
    answerMs: 500,
  });
  const within = samples.filter(({ at }) => at > from + 10_000 && at < until);
  const attempts = within.reduce((sum, sample) => sum + sample.attempts, 0);
  expect(attempts / within.length).toBeLessThanOrEqual(1.3);
  const successes = samples.filter(({ isSuccess, endedAt }) => isSuccess && endedAt > until);
  expect(Math.min(...successes.map(({ endedAt }) => endedAt)) - until).toBeLessThanOrEqual(2000);
  expect(successShare(samples.filter(({ at }) => at > until + 2000))).toBeGreaterThanOrEqual(0.99);
  const refused = samples.flatMap(({ error }) => error ?? []);
  expect(refused.length).toBeGreaterThan(0);
});

test.each<[FaultKind, number]>([
  ['401', 1],
  ['403', 1],
  ['403 in a 200', 3],
  ['404', 1],
])(
  'A7, A8: of one attempt in ten, %s, %i accounts: no other request is refused for it',
  async (fault, accounts) => {
    const scenario = { fault, share: 0.1, accounts, perSecond: 5, seconds: 200, answerMs: 1000 };
    const { samples } = await play(scenario);
    // Who meets it is told so, where no other account is left to ask; nobody else.
    const share = accounts === 1 ? 0.85 : 0.97;
    expect(successShare(samples)).toBeGreaterThan(share);
    expect(samples.every(({ isSuccess, attempts }) => isSuccess || attempts > 0)).toBe(true);
  },
);
