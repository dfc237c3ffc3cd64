// An account's quota of pictures over several processes: what is left is drawn, and nothing more.

import { describe, expect, test } from 'vitest';
import type { QuotaReading } from '../../src/accounts/account.ts';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { Counters } from '../../src/cluster/counters.ts';
import { createMemoryCluster, Hub } from '../../src/cluster/memory.ts';
import { createWorkerCluster, serveWorker } from '../../src/cluster/parent.ts';
import { joinValkeyCluster } from '../../src/cluster/valkey.ts';
import { type Clock, createSystemClock } from '../../src/lib/clock.ts';
import type { Lease, LeaseOutcome } from '../../src/pool/pool.ts';
import { capabilitiesOf } from '../support/canonical.ts';
import { createChannel } from '../support/channel.ts';
import { createFakeUpstream } from '../support/fake-upstream.ts';
import { createSeedPool } from '../support/seed-pool.ts';
import { startValkey, VALKEY } from '../support/valkey.ts';

const NAMES = ['one', 'two', 'three'] as const;
const NEVER = new AbortController().signal;
const SUCCESS: LeaseOutcome = { kind: 'success' };

const DRAWING = {
  ...createFakeUpstream(() => ({ frames: [] })),
  capabilities: () => ({ ...capabilitiesOf(), drawsImages: true }),
};

interface Opened {
  readonly members: readonly Cluster[];
  close(): Promise<void>;
}

const clock = createSystemClock();

async function inOneProcess(): Promise<Opened> {
  const hub = new Hub(clock);
  const members = NAMES.map((replica) => createMemoryCluster({ replica, clock, hub, onFault }));
  return { members, close: () => closeAll(members) };
}

async function asWorkers(): Promise<Opened> {
  const hub = new Hub(clock);
  const members = NAMES.map((replica) => {
    const [parentEnd, channel] = createChannel();
    serveWorker(hub, parentEnd);
    return createWorkerCluster({ replica, channel, clock, onFault });
  });
  return { members, close: () => closeAll(members) };
}

async function overValkey(): Promise<Opened> {
  const server = await startValkey();
  const log = { warn: () => undefined, info: () => undefined };
  const members: Cluster[] = [];
  for (const replica of NAMES)
    members.push(await joinValkeyCluster({ url: server.url, replica, clock, log }));
  return {
    members,
    async close() {
      await closeAll(members);
      await server.close();
    },
  };
}

async function closeAll(members: readonly Cluster[]): Promise<void> {
  for (const member of members) await member.close();
}

function openReplicas(members: readonly Cluster[]) {
  return members.map((cluster) => {
    const counters = new Counters({ bank: cluster.bank, clock });
    return createSeedPool({
      accounts: [{ id: 'a' }],
      ...{ upstream: DRAWING, clock: clock as Clock, notices: cluster.notices },
      sharing: { cluster, counters },
    });
  });
}

type Replica = ReturnType<typeof openReplicas>[number];

/** One replica reads how much is left; resolves when all know. */
async function read(replicas: readonly Replica[], calls: number): Promise<void> {
  const reading: QuotaReading = {
    ...{ remainingFraction: calls === 0 ? 0 : 0.5, remainingCalls: calls, resetsAt: undefined },
    ...{ source: 'upstream', fetchedAt: clock.now() },
  };
  replicas[0]?.book.setQuotas('a', new Map([['m', reading]]));
  await expect
    .poll(() => replicas.map(({ book }) => book.find('a')?.quotas.get('m')?.remainingCalls))
    .toEqual(replicas.map(() => calls));
}

/** Undefined where there is none left. */
async function draw({ pool }: Replica): Promise<Lease | undefined> {
  const result = pool.lease({ model: 'm', exclude: new Set(), clientKeyId: 'k' });
  if (result.kind !== 'lease') return undefined;
  const { lease } = result;
  try {
    await lease.access({ refresh: false, signal: NEVER });
    return lease;
  } catch {
    lease.release({ kind: 'neutral' });
    return undefined;
  }
}

async function drawAtOnce(replicas: readonly Replica[], times: number): Promise<readonly Lease[]> {
  const drawn = await Promise.all(
    Array.from({ length: times }, (_, index) => {
      const replica = replicas[index % replicas.length];
      return replica === undefined ? undefined : draw(replica);
    }),
  );
  return drawn.filter((lease) => lease !== undefined);
}

/** Whatever one holds in stock comes back within a second. */
async function drawRest(replicas: readonly Replica[], most: number): Promise<readonly Lease[]> {
  const all: Lease[] = [];
  await expect
    .poll(
      async () => {
        all.push(...(await drawAtOnce(replicas, replicas.length)));
        return all.length;
      },
      { timeout: 15_000, interval: 100 },
    )
    .toBe(most);
  return all;
}

describe.each([
  ['members in one process', inOneProcess, true],
  ['workers', asWorkers, true],
  ['replicas and Valkey', overValkey, VALKEY !== undefined],
] as const)('%s', (_name, open, isThere) => {
  test.skipIf(!isThere)('draw together exactly what is left of an account', async () => {
    const { members, close } = await open();
    const replicas = openReplicas(members);
    await read(replicas, 20);
    const drawn = await drawAtOnce(replicas, 90);
    expect(drawn.length).toBeLessThanOrEqual(20);
    const rest = drawn.length === 20 ? [] : await drawRest(replicas, 20 - drawn.length);
    expect(await drawAtOnce(replicas, 30)).toEqual([]);
    // What is not answered is there for the others again, and what is answered is not.
    const all = [...drawn, ...rest];
    for (const lease of all.slice(0, 5)) lease.release({ kind: 'neutral' });
    for (const lease of all.slice(5)) lease.release(SUCCESS);
    await drawRest(replicas, 5);
    expect(await drawAtOnce(replicas, 30)).toEqual([]);
    await close();
  });

  test.skipIf(!isThere)(
    'count what is under way against a figure that is read meanwhile',
    async () => {
      const { members, close } = await open();
      const replicas = openReplicas(members);
      await read(replicas, 6);
      const before = await drawAtOnce(replicas.slice(1), 4);
      expect(before).toHaveLength(4);
      await expect.poll(() => replicas.map(leftAt)).toEqual([2, 2, 2]);
      // Nobody says whether the upstream has counted them.
      await read(replicas, 5);
      const after = [...(await drawAtOnce(replicas, 9))];
      if (after.length < 2) after.push(...(await drawRest(replicas, 2 - after.length)));
      expect(after).toHaveLength(2);
      await close();
    },
  );

  test.skipIf(!isThere)(
    'draw no more where one began before it knew of a figure that another had read',
    async () => {
      const { members, close } = await open();
      const replicas = openReplicas(members);
      await read(replicas, 6);
      const reading = read(replicas, 6);
      const drawn = [...(await drawAtOnce(replicas.slice(1, 2), 3))];
      await reading;
      await expect.poll(() => replicas.map(leftAt)).toEqual([3, 3, 3]);
      drawn.push(...(await drawAtOnce(replicas, 9)));
      if (drawn.length < 6) drawn.push(...(await drawRest(replicas, 6 - drawn.length)));
      expect(drawn).toHaveLength(6);
      await close();
    },
  );
});

/** How many more this replica would begin, as it knows: asked by reserving and giving back. */
function leftAt({ pool }: Replica): number {
  const leases: Lease[] = [];
  for (;;) {
    const result = pool.lease({ model: 'm', exclude: new Set(), clientKeyId: 'k' });
    if (result.kind !== 'lease') break;
    leases.push(result.lease);
  }
  for (const lease of leases) lease.release({ kind: 'neutral' });
  return leases.length;
}

function onFault(error: unknown): never {
  throw error;
}
