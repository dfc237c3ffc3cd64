// The contract of clusters over every kind there is.

import { Redis } from 'ioredis';
import { type Cluster, GATHER_MS } from '../../src/cluster/cluster.ts';
import { createMemoryCluster, Hub } from '../../src/cluster/memory.ts';
import { createWorkerCluster, serveWorker } from '../../src/cluster/parent.ts';
import { joinValkeyCluster } from '../../src/cluster/valkey.ts';
import { createSystemClock } from '../../src/lib/clock.ts';
import { createChannel } from '../support/channel.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { startValkey, VALKEY } from '../support/valkey.ts';
import { type ClusterUnderTest, describeCluster } from './cluster.ts';

const NAMES = ['one', 'two', 'three'] as const;

describeCluster('members in one process', async () => {
  const clock = createFakeClock();
  const hub = new Hub(clock);
  return underTest(clock, (replica) => {
    const member = createMemoryCluster({ replica, clock, hub, onFault });
    return { member, leave: () => member.close() };
  });
});

describeCluster('workers and their parent', async () => {
  const clock = createFakeClock();
  const hub = new Hub(clock);
  return underTest(clock, (replica) => {
    const [parentEnd, workerEnd] = createChannel();
    const leave = serveWorker(hub, parentEnd);
    const member = createWorkerCluster({ replica, channel: workerEnd, clock, onFault });
    return { member, leave: async () => leave() };
  });
});

if (VALKEY !== undefined) describeCluster(`replicas and ${VALKEY}`, withValkey);

async function withValkey(): Promise<ClusterUnderTest> {
  const server = await startValkey();
  const { url } = server;
  const clock = createSystemClock();
  const log = { warn: onFault, info: () => undefined };
  const join = (replica: string) => joinValkeyCluster({ url, replica, clock, log });
  const [one, two, three] = NAMES;
  const members = [await join(one), await join(two), await join(three)] as const;
  const redis = new Redis(url);
  return {
    members,
    clock,
    settle: () => settle(members),
    pass: (ms) => passTime(redis, ms),
    leave: (index) => members[index].close(),
    async close() {
      for (const member of members) await member.close();
      redis.disconnect();
      await server.close();
    },
  };
}

/** Each tells the others, who have read everything before that then. */
async function settle(members: ClusterUnderTest['members']): Promise<void> {
  const heard = members.map((member) => {
    const from = new Set<string>();
    return new Promise<void>((resolve) => {
      const end = member.notices.listen(
        { name: 'test.settle' },
        {
          take(_notice, replica) {
            from.add(replica);
            if (from.size < members.length - 1) return;
            end();
            resolve();
          },
        },
      );
    });
  });
  for (const { notices } of members) notices.tell({ name: 'test.settle' }, null);
  await Promise.all(heard);
}

/** The server's clock cannot be moved: everything it holds is made older. */
async function passTime(redis: Redis, ms: number): Promise<void> {
  for (const key of await redis.keys('*')) {
    const leftMs = await redis.pttl(key);
    if (leftMs > 0) await redis.pexpire(key, Math.max(1, leftMs - ms));
    if ((await redis.type(key)) !== 'hash') continue;
    const counts = Object.entries(await redis.hgetall(key));
    await redis.del(key);
    for (const [second, count] of counts)
      await redis.hset(key, Number(second) - Math.ceil(ms / 1000), count);
  }
  // What has a millisecond left is gone when the server has looked at it twice.
  while ((await redis.keys('*value*')).length > 0 && ms > 60_000) await redis.ping();
}

function underTest(
  clock: ReturnType<typeof createFakeClock>,
  join: (replica: string) => { readonly member: Cluster; leave(): Promise<void> },
): ClusterUnderTest {
  const [one, two, three] = NAMES;
  const joined = [join(one), join(two), join(three)] as const;
  const members = [joined[0].member, joined[1].member, joined[2].member] as const;
  return {
    members,
    clock,
    settle: () => clock.advance(GATHER_MS),
    pass: (ms) => clock.advance(ms),
    leave: (index) => joined[index].leave(),
    async close() {
      for (const member of members) await member.close();
    },
  };
}

function onFault(error: unknown): never {
  throw error;
}
