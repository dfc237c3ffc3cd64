import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { Leader, type LeaseStore } from './leases.ts';

function openLeaders() {
  const clock = createFakeClock();
  let lease: { holder: string; endsAt: number } | undefined;
  let isAway = false;
  let fence = 0;
  const leases: LeaseStore = {
    async take(_name, holder, ttlMs) {
      if (isAway) throw new Error('away');
      if (lease !== undefined && lease.endsAt > clock.now() && lease.holder !== holder) return;
      lease = { holder, endsAt: clock.now() + ttlMs };
      fence += 1;
      return { fence };
    },
    async release(_name, holder) {
      if (lease?.holder === holder) lease = undefined;
    },
  };
  const open = (holder: string) => new Leader({ leases, holder, clock });
  return {
    clock,
    one: open('one'),
    other: open('other'),
    lose: (lost: boolean) => {
      isAway = lost;
    },
  };
}

test('one of two leads, as long as it is there', async () => {
  const { clock, one, other } = openLeaders();
  for (let turn = 0; turn < 10; turn += 1) {
    await clock.advance(7000);
    expect([one.isLeading(), other.isLeading()]).toEqual([true, false]);
  }
  await one.close();
  await clock.advance(10_000);
  expect([one.isLeading(), other.isLeading()]).toEqual([false, true]);
});

test('while nobody can say who leads, each does', async () => {
  const { clock, one, other, lose } = openLeaders();
  await clock.advance(0);
  lose(true);
  await clock.advance(10_000);
  expect([one.isLeading(), other.isLeading()]).toEqual([true, true]);
  lose(false);
  await clock.advance(20_000);
  expect([one.isLeading(), other.isLeading()].filter((leads) => leads)).toHaveLength(1);
});
