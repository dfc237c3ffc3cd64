import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import type { ClusterState } from '../cluster/cluster.ts';
import { createMemoryCluster } from '../cluster/memory.ts';
import type { Reachability } from '../stores/postgres/session.ts';
import { keepUp } from './cluster.ts';

function setUp(kind: ClusterState['kind']) {
  const clock = createFakeClock();
  const alone = createMemoryCluster({ replica: 'one', clock, onFault: () => undefined });
  let isConnected = true;
  let reachability: Reachability = { isReachable: true, since: 0 };
  const listeners = new Set<(reachability: Reachability) => void>();
  let rereads = 0;
  const end = keepUp({
    clock,
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
    clock,
    end,
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

test('a process alone reads anew when its database is back', async () => {
  const { clock, rereads, reach } = setUp('memory');
  await clock.advance(60_000);
  expect(rereads()).toBe(0);
  reach(false);
  reach(true);
  expect(rereads()).toBe(1);
});
