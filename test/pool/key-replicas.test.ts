// The keys of several replicas: one change is everybody's, and one limit holds over all.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ApiKeys } from '../../src/access/api-keys.ts';
import { Budgets } from '../../src/access/budgets.ts';
import { GatewayError } from '../../src/canonical/error.ts';
import { GATHER_MS } from '../../src/cluster/cluster.ts';
import { Counters } from '../../src/cluster/counters.ts';
import { createMemoryCluster, Hub } from '../../src/cluster/memory.ts';
import { createWorkerCluster, serveWorker } from '../../src/cluster/parent.ts';
import { dailyBudget } from '../support/budgets.ts';
import { createChannel } from '../support/channel.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryAccessStores } from '../support/memory-access-stores.ts';

const CALL = { model: 'alpha-3-flash', tokens: 100, images: 0 };

function openReplicas(kind: 'one process' | 'workers') {
  const clock = createFakeClock(Date.UTC(2026, 10, 27, 12));
  const hub = new Hub(clock);
  const { clientKeys: store, budgets: budgetStore } = createMemoryAccessStores();
  let count = 0;
  const createId = (prefix: string): string => {
    count += 1;
    return `${prefix}${count}`;
  };
  const join = (replica: string) => {
    if (kind === 'one process') return createMemoryCluster({ replica, clock, hub, onFault });
    const [parentEnd, channel] = createChannel();
    serveWorker(hub, parentEnd);
    return createWorkerCluster({ replica, channel, clock, onFault });
  };
  const all: Budgets[] = [];
  const open = (replica: string): ApiKeys => {
    const cluster = join(replica);
    const counters = new Counters({ bank: cluster.bank, clock });
    const budgets = new Budgets({ store: budgetStore, counters, clock, createId, cluster });
    all.push(budgets);
    return new ApiKeys({
      ...{ store, clock, createId, digestKey: Buffer.alloc(32, 1) },
      ...{ cluster, counters, budgets },
    });
  };
  const replicas = [open('a'), open('b'), open('c')] as const;
  return { clock, replicas, budgets: all };
}

describeOver('a key that is made, changed or removed on one replica is so on all', async (kind) => {
  const { clock, replicas } = openReplicas(kind);
  const [first, second, third] = replicas;
  const { listed, secret } = await first.create({ name: 'Ada' });
  const { id } = listed.key;
  await clock.advance(0);
  expect([second.identify([secret]), third.identify([secret])]).toEqual([id, id]);
  await third.change(id, { allowedModels: ['beta-*'] }, undefined);
  await clock.advance(0);
  expect(first.allows(id, 'alpha-3-flash')).toBe(false);
  await second.remove(id);
  await clock.advance(0);
  expect(first.identify([secret])).toBeUndefined();
});

describeOver(
  'requests of a minute and pictures of a day are exact over all replicas',
  async (kind) => {
    const { clock, replicas, budgets } = openReplicas(kind);
    const { listed } = await replicas[0].create({ name: 'Ada', requestsPerMinute: 100 });
    const { id } = listed.key;
    await budgets[1]?.create(dailyBudget(id, 'images', 40));
    await clock.advance(0);
    const admitted = await countAdmitted(replicas, 300, id, CALL);
    // What one took in stock and did not use is back within a second.
    await clock.advance(2_000);
    expect(admitted + (await countAdmitted(replicas, 300, id, CALL))).toBe(100);
    await clock.advance(60_000);
    expect(await countAdmitted(replicas, 60, id, { ...CALL, images: 1 })).toBe(40);
  },
);

describeOver(
  'requests at the same time are exact over all replicas, also while the limit is changed',
  async (kind) => {
    const { clock, replicas } = openReplicas(kind);
    const { listed } = await replicas[0].create({ name: 'Ada', maxConcurrency: 20 });
    const { id } = listed.key;
    await clock.advance(0);
    const run = () =>
      Promise.allSettled(
        Array.from({ length: 60 }, async (_, index) => replicas[index % 3]?.admit(id, CALL)),
      );
    const running = await run();
    const admitted = running.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(admitted).toHaveLength(20);
    const asked = run();
    await replicas[0].change(id, { maxConcurrency: null }, undefined);
    await asked;
    await replicas[0].change(id, { maxConcurrency: 20 }, undefined);
    await clock.advance(0);
    for (const one of admitted) one?.settle({});
    await clock.advance(0);
    expect(await countAdmitted(replicas, 60, id, CALL)).toBe(20);
  },
);

describeOver(
  'a budget of tokens is never exceeded, and what was not used is there again',
  async (kind) => {
    const { clock, replicas, budgets } = openReplicas(kind);
    const { listed } = await replicas[0].create({ name: 'Ada' });
    const { id } = listed.key;
    await budgets[2]?.create(dailyBudget(id, 'tokens', 10_000));
    await clock.advance(0);
    const most = { inputTokens: 100, answers: 1, answerTokens: 800, baseNanos: 0, tokenNanos: 0 };
    const call = { ...CALL, tokens: 900, most };
    const running = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        try {
          return await replicas[index % 3]?.admit(id, call);
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error;
          return undefined;
        }
      }),
    );
    const admitted = running.filter((one) => one !== undefined);
    expect(admitted.length).toBeGreaterThanOrEqual(8);
    expect(admitted.length).toBeLessThanOrEqual(11);
    for (const one of admitted) one.settle({ tokens: 100 });
    await clock.advance(2_000);
    for (const replica of replicas)
      expect(replica.get(id)?.usedToday.tokens).toBe(100 * admitted.length);
    const later = await countAdmitted(replicas, 30, id, call);
    expect(100 * admitted.length + 900 * later).toBeLessThanOrEqual(10_000);
    expect(later).toBeGreaterThanOrEqual(7);
  },
);

const BUDGET = 20_000;
const INPUT = 100;
const ANSWER = 800;

test('kills let a budget be exceeded by no more than what the killed replicas had in hand', async () => {
  const step = fc.record({
    index: fc.nat(2),
    what: fc.constantFrom(...(['ask', 'ask', 'ask', 'end', 'end', 'wait', 'kill'] as const)),
    tokens: fc.integer({ min: 1, max: INPUT + ANSWER }),
  });
  const steps = fc.array(step, { minLength: 100, maxLength: 160 });
  await fc.assert(fc.asyncProperty(steps, useThroughKills), { numRuns: 20, seed: 5 });
});

interface Step {
  readonly index: number;
  readonly what: 'ask' | 'end' | 'wait' | 'kill';
  readonly tokens: number;
}

async function useThroughKills(steps: readonly Step[]): Promise<void> {
  const { clock, start } = openMortals();
  const replicas = [await start(), await start(), await start()];
  const [first] = replicas;
  const { id } = (await first?.keys.create({ name: 'Ada' }))?.listed.key ?? { id: '' };
  await first?.budgets.create(dailyBudget(id, 'tokens', BUDGET));
  await clock.advance(0);
  const most = { inputTokens: INPUT, answers: 1, baseNanos: 0, tokenNanos: 0 };
  const call = { ...CALL, tokens: INPUT + ANSWER, most: { ...most, answerTokens: ANSWER } };
  // What was in hand when its replica was killed is not among it: a call that ran, or had ended and was not told of yet.
  let used = 0;
  const end = (replica: Mortal | undefined, tokens: number): void => {
    const running = replica?.running.shift();
    const { answerTokens = ANSWER } = running ?? { answerTokens: -INPUT };
    const spent = Math.min(tokens, INPUT + answerTokens);
    running?.settle({ tokens: spent });
    used += spent;
  };
  for (const { index, what, tokens } of steps) {
    const replica = replicas[index];
    if (what === 'wait') await clock.advance(tokens);
    if (what === 'ask') replica?.running.push(...(await admitted(replica.keys, id, call)));
    if (what === 'end') end(replica, tokens);
    if (what === 'kill') {
      // What it had not stored yet, nobody stores.
      replica?.kill();
      replicas[index] = await start();
    }
    await clock.advance(GATHER_MS);
    expect(used).toBeLessThanOrEqual(BUDGET);
  }
  for (const replica of replicas) {
    while (replica.running.length > 0) end(replica, INPUT + ANSWER);
  }
  expect(used).toBeLessThanOrEqual(BUDGET);
}

type Mortal = Awaited<ReturnType<ReturnType<typeof openMortals>['start']>>;

/** Replicas of which each may be gone at once, as killed ones are. */
function openMortals() {
  const clock = createFakeClock(Date.UTC(2026, 10, 27, 12));
  const hub = new Hub(clock);
  const { clientKeys, budgets: budgetStore } = createMemoryAccessStores();
  let count = 0;
  const createId = (prefix: string): string => {
    count += 1;
    return `${prefix}${count}`;
  };
  const start = async () => {
    const [parentEnd, channel] = createChannel();
    const leave = serveWorker(hub, parentEnd);
    const cluster = createWorkerCluster({ replica: createId('r'), channel, clock, onFault });
    const counters = new Counters({ bank: cluster.bank, clock });
    const common = { clock, createId, cluster, counters };
    const isDead = { now: false };
    // Nothing that a dead one still waits for reaches the store.
    const store = {
      ...budgetStore,
      addUses: (uses: Parameters<typeof budgetStore.addUses>[0]) =>
        isDead.now ? new Promise<never>(() => undefined) : budgetStore.addUses(uses),
    };
    const budgets = new Budgets({ ...common, store }, await store.list(0));
    const digestKey = Buffer.alloc(32, 1);
    const keys = new ApiKeys(
      { ...common, store: clientKeys, budgets, digestKey },
      await clientKeys.list(),
    );
    await clock.advance(0);
    const running: Awaited<ReturnType<ApiKeys['admit']>>[] = [];
    return {
      ...{ keys, budgets, running },
      kill(): void {
        isDead.now = true;
        leave();
      },
    };
  };
  return { clock, start };
}

async function admitted(keys: ApiKeys, id: string, call: Parameters<ApiKeys['admit']>[1]) {
  try {
    return [await keys.admit(id, call)];
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return [];
  }
}

function describeOver(name: string, run: (kind: 'one process' | 'workers') => Promise<void>): void {
  test.each(['one process', 'workers'] as const)(`${name} (%s)`, run);
}

async function countAdmitted(
  replicas: readonly ApiKeys[],
  times: number,
  id: string,
  call: Parameters<ApiKeys['admit']>[1],
): Promise<number> {
  const outcomes = Array.from({ length: times }, async (_, index) => {
    try {
      await replicas[index % replicas.length]?.admit(id, call);
      return true;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return false;
    }
  });
  return (await Promise.all(outcomes)).filter((isAdmitted) => isAdmitted).length;
}

function onFault(error: unknown): never {
  throw error;
}
