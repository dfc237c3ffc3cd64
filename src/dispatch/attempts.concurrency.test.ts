import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createFakeUpstream } from '../../test/support/fake-upstream.ts';
import { createSeedPool } from '../../test/support/seed-pool.ts';
import type { Lease } from '../pool/pool.ts';
import type { ConcurrencyLimits } from '../pool/slots.ts';
import { createRetryBudget, runAttempts } from './attempts.ts';

/** One upstream with accounts `a` and `b`, whose calls last until they are ended by hand. */
function benchOf(limits: Partial<ConcurrencyLimits>) {
  const clock = createFakeClock();
  const upstream = createFakeUpstream(() => ({ frames: [] }));
  const { pool } = createSeedPool({
    ...{ upstream, clock, accounts: [{ id: 'a' }, { id: 'b' }] },
    concurrency: {
      isLimited: () => true,
      ofUpstream: () => undefined,
      ofAccount: () => undefined,
      ...limits,
    },
  });
  const budget = createRetryBudget(clock);
  const started: string[] = [];
  const open: Lease[] = [];
  let mostOpen = 0;
  const ask = (name: string, clientKeyId = 'k', signal = new AbortController().signal) => {
    const route = { target: 'm', webSearch: false };
    return runAttempts(
      {
        routes: [{ route, leaseRequest: { model: 'm', clientKeyId } }],
        context: { signal, record: { attempts: [], timings: {} } },
      },
      async (lease) => {
        started.push(name);
        open.push(lease);
        mostOpen = Math.max(mostOpen, open.length);
        return name;
      },
      { pool, clock, random: () => 0, budget },
    ).catch((error: unknown) => error);
  };
  /** Ends the oldest call. */
  const end = async (): Promise<void> => {
    open.shift()?.release({ kind: 'success' });
    await clock.advance(0);
  };
  return { ask, end, started, clock, mostOpen: () => mostOpen };
}

test('what an upstream takes at once is not exceeded, and the keys that wait take turns', async () => {
  const bench = benchOf({ ofUpstream: () => 1 });
  const asked = [
    ...['a1', 'a2', 'a3'].map((name) => bench.ask(name, 'key-a')),
    ...['b1', 'b2'].map((name) => bench.ask(name, 'key-b')),
  ];
  for (let count = 0; count < 5; count += 1) await bench.end();
  expect(await Promise.all(asked)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2']);
  expect(bench.started).toEqual(['a1', 'a2', 'b1', 'a3', 'b2']);
  expect(bench.mostOpen()).toBe(1);
});

test('a request that comes when a slot is free for one that waited does not overtake it', async () => {
  const bench = benchOf({ ofUpstream: () => 1 });
  const first = bench.ask('first');
  const second = bench.ask('second');
  const ending = bench.end();
  const third = bench.ask('third');
  await ending;
  await bench.end();
  await bench.end();
  await Promise.all([first, second, third]);
  expect(bench.started).toEqual(['first', 'second', 'third']);
});

test('another account takes what one has no room for', async () => {
  const bench = benchOf({ ofAccount: () => 1 });
  await Promise.all([bench.ask('one'), bench.ask('two')]);
  expect(bench.mostOpen()).toBe(2);
  const waiting = bench.ask('three');
  await bench.end();
  expect(await waiting).toBe('three');
});

test('who waits for half a minute is told to come again, and who leaves takes no slot', async () => {
  const bench = benchOf({ ofUpstream: () => 1 });
  await bench.ask('first');
  const gone = new AbortController();
  const left = bench.ask('left', 'k', gone.signal);
  const late = bench.ask('late');
  gone.abort();
  expect(await left).toMatchObject({ kind: 'client-gone' });
  await bench.clock.advance(30_000);
  expect(await late).toMatchObject({ kind: 'overloaded', retryAfterMs: expect.any(Number) });
  await bench.end();
  expect(await bench.ask('next')).toBe('next');
});
