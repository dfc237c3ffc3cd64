// Losing Valkey and having it back, with a real server.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Cluster, ClusterUnavailable } from '../../src/cluster/cluster.ts';
import { Counters } from '../../src/cluster/counters.ts';
import { joinValkeyCluster } from '../../src/cluster/valkey.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { openSealedValues } from '../support/sealed-values.ts';
import { findValkey, startValkey, type ValkeyServer } from '../support/valkey.ts';

const program = findValkey();
const clock = createSystemClock();
const log = { warn: () => undefined, info: () => undefined };

describe.skipIf(program === undefined)('a replica whose Valkey is lost', () => {
  let server: ValkeyServer;
  let first: Cluster;
  let second: Cluster;
  beforeEach(async () => {
    server = await startValkey(program ?? '');
    const join = (replica: string) => joinValkeyCluster({ url: server.url, replica, clock, log });
    first = await join('first');
    second = await join('second');
  });
  afterEach(async () => {
    await first.close();
    await second.close();
    await server.close();
  });

  const reach = (member: Cluster, isConnected: boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (member.state().isConnected !== isConnected) return;
        end();
        resolve();
      };
      const end = member.subscribe(look);
      look();
    });

  const openCounter = (member: Cluster) =>
    new Counters({ bank: member.bank, clock }).open('requests 2026-11-27', 'named');

  test('decides by itself against the whole limit, and what it used counts when Valkey is back', async () => {
    const [own, other] = [openCounter(first), openCounter(second)];
    expect(await own.take(10, 100)).toEqual({ isTaken: true });
    server.pause();
    const lost = reach(first, false);
    // The first who asks waits as long as a command may take, and then goes on alone.
    expect(await own.take(30, 100)).toEqual({ isTaken: true });
    await lost;
    expect(await own.take(60, 100)).toEqual({ isTaken: true });
    expect(await own.take(1, 100)).toMatchObject({ isTaken: false });
    const [back, otherBack] = [reach(first, true), reach(second, true)];
    server.resume();
    await Promise.all([back, otherBack]);
    await told(first, second);
    expect(await other.take(1, 100)).toMatchObject({ isTaken: false, left: 0 });
  });

  test('goes on from what it knows with a Valkey that lost everything', async () => {
    const counter = openCounter(first);
    await counter.take(70, 100);
    const lost = reach(first, false);
    await server.kill();
    await lost;
    await server.restart();
    await Promise.all([reach(first, true), reach(second, true)]);
    expect(await counter.take(40, 100)).toMatchObject({ isTaken: false });
    expect(await counter.take(30, 100)).toEqual({ isTaken: true });
  });

  test('is told to catch up, and hears the others again', async () => {
    let caughtUp = 0;
    first.notices.listen(
      { name: 'keys' },
      { take: () => undefined, catchUp: () => (caughtUp += 1) },
    );
    await told(first, second);
    const before = caughtUp;
    const lost = Promise.all([reach(first, false), reach(second, false)]);
    await server.kill();
    await lost;
    first.notices.tell({ name: 'keys' }, 'lost');
    await server.restart();
    await Promise.all([reach(first, true), reach(second, true)]);
    await told(first, second);
    expect(caughtUp).toBeGreaterThan(before);
  });

  test('refuses what only Valkey can answer', async () => {
    const lost = reach(first, false);
    await server.kill();
    await lost;
    await expect(first.values.put('state', 'x', 1000)).rejects.toThrow(ClusterUnavailable);
    await expect(first.values.take('state')).rejects.toThrow(ClusterUnavailable);
  });

  test('finishes what was begun meanwhile at this replica', async () => {
    const lost = reach(first, false);
    await server.kill();
    await lost;
    const { values } = first;
    const kept = openSealedValues({ values, clock });
    await kept.put('state', 'begun here', 60_000);
    expect(await openSealedValues({ values: second.values, clock }).take('state')).toBeUndefined();
    expect(await kept.take('state')).toBe('begun here');
    expect(await kept.take('state')).toBeUndefined();
  });

  test('starts without it', async () => {
    await server.kill();
    const alone = await joinValkeyCluster({ url: server.url, replica: 'alone', clock, log });
    expect(alone.state()).toMatchObject({ isConnected: false, replicas: ['alone'] });
    expect(await openCounter(alone).take(1, 1)).toEqual({ isTaken: true });
    await server.restart();
    await reach(alone, true);
    await alone.close();
  });
});

/** Resolves when each has read what the other told before. */
async function told(first: Cluster, second: Cluster): Promise<void> {
  const heard = [first, second].map(
    ({ notices }) =>
      new Promise<void>((resolve) => {
        const end = notices.listen(
          { name: 'test.told' },
          {
            take() {
              end();
              resolve();
            },
          },
        );
      }),
  );
  for (const { notices } of [first, second]) notices.tell({ name: 'test.told' }, null);
  await Promise.all(heard);
}
