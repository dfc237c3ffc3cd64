import { expect, test } from 'vitest';
import { untilFirstTurn, untilNextTurn, untilReset } from './refresher.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const NOW = 1_700_000_000_000;

test.each([
  [0, MINUTE],
  [1, MINUTE],
  [5 * MINUTE, 5 * MINUTE],
  [30 * DAY, DAY],
  [Number.MAX_SAFE_INTEGER, DAY],
])(
  'an interval of %i ms is one of %i: no turn overflows a timer or follows at once (P199)',
  (given, interval) => {
    for (const jitter of [0, 0.5, 0.999]) {
      for (let at = 0; at < 50; at += 1) {
        const moment = { now: NOW + at * 12_345, intervalMs: given, jitter };
        const first = untilFirstTurn(`account ${at}`, moment);
        expect(first).toBeGreaterThanOrEqual(0);
        expect(first).toBeLessThan(interval);
        const next = untilNextTurn(`account ${at}`, moment);
        expect(next).toBeGreaterThanOrEqual(0.4 * interval);
        expect(next).toBeLessThanOrEqual(1.6 * interval);
      }
    }
  },
);

test('a turn that was had a little early or late is followed by the next one, not by itself', () => {
  const intervalMs = 5 * MINUTE;
  const atPhase = NOW + untilFirstTurn('a', { now: NOW, intervalMs });
  for (const offMs of [-20_000, 0, 20_000]) {
    const moment = { now: atPhase + offMs, intervalMs, jitter: 0.5 };
    expect(untilNextTurn('a', moment)).toBe(intervalMs - offMs);
  }
});

test('a window that ends before the turn is looked at two seconds behind its end', () => {
  const ends = [NOW - 1, NOW + 30_000, NOW + 20_000];
  expect(untilReset(ends, { now: NOW, withinMs: MINUTE })).toBe(22_000);
  expect(untilReset(ends, { now: NOW, withinMs: 22_000 })).toBeUndefined();
  expect(untilReset([NOW], { now: NOW, withinMs: MINUTE })).toBeUndefined();
  expect(untilReset([], { now: NOW, withinMs: MINUTE })).toBeUndefined();
});
