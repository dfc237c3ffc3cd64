import { expect, test } from 'vitest';
import { type OverloadOutcome, Overloads } from './overload.ts';

function benchOf() {
  let now = 1_000_000;
  const overloads = new Overloads({ now: () => now });
  return {
    overloads,
    pass(byMs: number) {
      now += byMs;
    },
    meet(outcome: OverloadOutcome, times = 1) {
      for (let nth = 0; nth < times; nth += 1) {
        overloads.noteEnd(overloads.noteStart('u', 'm', now), outcome, now);
      }
    },
    refusalMs: (random = 0) =>
      overloads.refusalMs('u', 'm', { now, random: () => random, isDryRun: false }),
  };
}

test('A6: fewer than twenty attempts are no overload, and neither is one in ten', () => {
  const few = benchOf();
  few.meet('overloaded', 19);
  expect(few.refusalMs()).toBe(0);
  const some = benchOf();
  for (let round = 0; round < 100; round += 1) {
    some.meet('overloaded');
    some.meet('success', 9);
    expect(some.refusalMs()).toBe(0);
  }
});

test('from twenty on most are refused at once, one a second passes, and a success lets all through', () => {
  const bench = benchOf();
  bench.meet('overloaded', 20);
  expect(bench.refusalMs()).toBe(1000);
  expect(bench.refusalMs(0.99)).toBe(0);
  expect(bench.overloads.of('u').has('m')).toBe(true);
  expect(bench.overloads.of('other').size).toBe(0);
  bench.pass(1000);
  expect(bench.refusalMs()).toBe(0);
  bench.meet('overloaded');
  expect(bench.refusalMs()).toBe(1000);
  bench.meet('success');
  expect(bench.refusalMs()).toBe(0);
});

test('what the upstream accepts half of is not throttled', () => {
  const bench = benchOf();
  for (let round = 0; round < 20; round += 1) {
    bench.meet('overloaded');
    bench.meet('answered');
  }
  expect(bench.refusalMs()).toBe(0);
});

test('overloads are said at once and answers take a while: those under way may yet be answered', () => {
  const bench = benchOf();
  for (let nth = 0; nth < 40; nth += 1) bench.overloads.noteStart('u', 'm', 1_000_000);
  bench.meet('overloaded', 30);
  expect(bench.refusalMs()).toBe(0);
});

test('after thirty seconds nothing is left of an overload', () => {
  const bench = benchOf();
  bench.meet('overloaded', 40);
  bench.pass(500);
  expect(bench.refusalMs()).toBe(500);
  bench.pass(30_000);
  expect(bench.overloads.of('u').size).toBe(0);
});
