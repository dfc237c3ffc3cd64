import { expect, test } from 'vitest';
import { createPoolBench, createSeededRandom } from './pool.test-support.ts';

/** Waits an upstream may ask for, as its 429 answers are read; undefined asks for none. */
const WAITS_MS: readonly (number | undefined)[] = [
  undefined,
  0,
  1,
  200,
  511,
  999,
  1000,
  1001,
  1500,
  3000,
  5000,
  7500,
  9999,
  12_000,
  30_000,
  45_838,
  60_000,
  90_500,
  300_000,
  1_800_000,
  4_560_667,
  7_200_000,
  8_485_832,
  86_400_000,
  10 ** 12,
];
const DAY_MS = 86_400_000;

test('no account is used while it cools: 1,000 refusals in 25 forms, over models and sessions', async () => {
  const accounts = Array.from({ length: 12 }, (_, index) => ({ id: `a${index}` }));
  const bench = createPoolBench({ accounts, random: createSeededRandom(5) });
  const random = createSeededRandom(17);
  const coolUntil = new Map<string, number>();
  let refusals = 0;
  let turns = 0;
  let served = 0;
  while (refusals < 1000) {
    turns += 1;
    if (turns > 20_000) throw new Error('accounts that had cooled were not used again');
    const model = random() < 0.5 ? 'm' : 'n';
    const session = random() < 0.5 ? `s${Math.floor(random() * 20)}` : undefined;
    const result = bench.ask({ model, session });
    if (result.kind !== 'lease') {
      if (result.kind !== 'none') throw new Error('nobody is to wait here');
      expect(result.reason).toBe('limited');
      await bench.clock.advance(result.retryAfterMs ?? 0);
      continue;
    }
    const { account, release } = result.lease;
    const key = `${account.id} ${model}`;
    expect(coolUntil.get(key) ?? 0).toBeLessThanOrEqual(bench.clock.now());
    if (random() < 0.3) {
      release({ kind: 'success' });
      served += 1;
      continue;
    }
    const retryAfterMs = WAITS_MS[refusals % WAITS_MS.length];
    const kind = random() < 0.5 ? 'rate-limited' : 'quota-exhausted';
    const at = bench.clock.now();
    release({ kind: 'failure', failure: { kind, status: 429, retryAfterMs } });
    refusals += 1;
    coolUntil.set(key, at + leastRestMs(retryAfterMs));
    if (random() < 0.2) await bench.clock.advance(random() * 2000);
  }
  expect(served).toBeGreaterThan(100);
  expect(turns).toBeGreaterThan(1000);
});

function leastRestMs(retryAfterMs = 1000): number {
  return Math.min(Math.max(retryAfterMs, 1000), DAY_MS);
}
