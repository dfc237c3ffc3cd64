import { expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts';
import type { ClusterState } from '../cluster/cluster.ts';
import { createMemoryCluster } from '../cluster/memory.ts';
import type { Reachability } from '../stores/postgres/session.ts';
import { keepUp } from './cluster.ts';

type Leases = Parameters<typeof keepUp>[0]['leases'];

function createLeases({ now }: Pick<FakeClock, 'now'>): Leases {
  let lease = { holder: '', endsAt: 0 };
  return {
    async take(_name, holder, ttlMs) {
      if (lease.endsAt > now() && lease.holder !== holder) return undefined;
      lease = { holder, endsAt: now() + ttlMs };
      return { fence: 1 };
    },
  };
}

function setUp(
  kind: ClusterState['kind'],
  { replica = 'one', clock = createFakeClock(), leases = createLeases(clock) } = {},
) {
  const alone = createMemoryCluster({ replica, clock, onFault: () => undefined });
  let isConnected = true;
  let reachability: Reachability = { isReachable: true, since: 0 };
  const listeners = new Set<(reachability: Reachability) => void>();
  let rereads = 0;
  const end = keepUp({
    ...{ clock, leases },
    cluster: {
      ...alone,
      state: () => ({ ...alone.state(), kind, isConnected }),
      catchUp() {
        rereads += 1;
      },
    },
    shared: {
      reachability: () => reachability,
      subscribe(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
  });
  return {
    ...{ clock, leases, end },
    rereads: () => rereads,
    connect(is: boolean) {
      isConnected = is;
    },
    reach(isReachable: boolean) {
      reachability = { isReachable, since: 0 };
      for (const listener of listeners) listener(reachability);
    },
  };
}

test('while no other process can be heard what is stored is read anew again and again', async () => {
  const { clock, rereads, connect, reach, end } = setUp('valkey');
  // What came during the start.
  expect(rereads()).toBe(1);
  await clock.advance(60_000);
  expect(rereads()).toBe(1);
  connect(false);
  await clock.advance(10_000);
  expect(rereads()).toBe(3);
  reach(false);
  await clock.advance(60_000);
  expect(rereads()).toBe(3);
  reach(true);
  expect(rereads()).toBe(4);
  end();
  await clock.advance(60_000);
  expect(rereads()).toBe(4);
});

test('what a process changes that cannot tell it is read by the others, as long as it cannot', async () => {
  const one = setUp('valkey');
  const { clock, leases } = one;
  const other = setUp('valkey', { ...{ clock, leases }, replica: 'other' });
  one.connect(false);
  await clock.advance(30_000);
  expect([one.rereads(), other.rereads()]).toEqual([7, 7]);
  one.connect(true);
  await clock.advance(5_000);
  const healed = other.rereads();
  await clock.advance(60_000);
  expect([one.rereads(), other.rereads()]).toEqual([7, healed]);
});

test('a process alone reads anew when its database is back', async () => {
  const { clock, rereads, reach } = setUp('memory');
  await clock.advance(60_000);
  expect(rereads()).toBe(0);
  reach(false);
  reach(true);
  expect(rereads()).toBe(1);
});
