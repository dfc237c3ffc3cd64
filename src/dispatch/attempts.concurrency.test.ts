import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createFakeUpstream } from '../../test/support/fake-upstream.ts';
import { createSeedPool } from '../../test/support/seed-pool.ts';
import type { CallRecord } from '../canonical/call-record.ts';
import type { Lease } from '../pool/pool.ts';
import type { ConcurrencyLimits } from '../pool/slots.ts';
import { AttemptRun } from './attempts.ts';
import type { RouteChoice } from './call-setup.ts';
import { createRetryBudgets } from './retry-budget.ts';

/** One upstream with accounts `a` and `b`, whose calls last until they are ended by hand. */
function benchOf(limits: Partial<ConcurrencyLimits>) {
  const clock = createFakeClock();
  const upstream = createFakeUpstream(() => ({ frames: [] }));
  const { pool, book } = createSeedPool({
    ...{ upstream, clock, accounts: [{ id: 'a' }, { id: 'b' }] },
    concurrency: {
      isLimited: () => true,
      ofUpstream: () => undefined,
      ofAccount: () => undefined,
      ...limits,
    },
  });
  const budgetOf = createRetryBudgets(clock);
  const started: string[] = [];
  const open: Lease[] = [];
  let mostOpen = 0;
  const ask = (
    name: string,
    clientKeyId = 'k',
    signal = new AbortController().signal,
    onlyAccount?: string,
  ) => {
    const route = { target: 'm', webSearch: false };
    return new AttemptRun(
      {
        routes: [{ route, leaseRequest: { model: 'm', clientKeyId, onlyAccount } }],
        context: { signal, record: { attempts: [], timings: {} } },
      },
      { pool, clock, random: () => 0, budgetOf },
    )
      .run(async (lease) => {
        started.push(name);
        open.push(lease);
        mostOpen = Math.max(mostOpen, open.length);
        return name;
      })
      .catch((error: unknown) => error);
  };
  /** Of a request that may go to the model `n` after `m`. */
  const askChain = (name: string) => {
    const record: CallRecord = { attempts: [], timings: {} };
    const [first, second] = ['m', 'n'].map((target) => ({
      route: { target, webSearch: false },
      leaseRequest: { model: target, clientKeyId: 'k' },
    })) as [RouteChoice, RouteChoice];
    const { signal } = new AbortController();
    const answer = new AttemptRun(
      { routes: [first, second], context: { signal, record } },
      { pool, clock, random: () => 0, budgetOf },
    )
      .run(async (lease) => {
        open.push(lease);
        return name;
      })
      .catch((error: unknown) => error);
    return { answer, record };
  };
  /** Ends the call on an account. */
  const endOn = async (accountId: string): Promise<void> => {
    const at = open.findIndex(({ account }) => account.id === accountId);
    open.splice(at, 1)[0]?.release({ kind: 'success' });
    await clock.advance(0);
  };
  /** Ends the oldest call. */
  const end = async (): Promise<void> => {
    open.shift()?.release({ kind: 'success' });
    await clock.advance(0);
  };
  return { ask, askChain, end, endOn, started, clock, book, mostOpen: () => mostOpen };
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

test('a key with more requests than may wait leaves room for those of others', async () => {
  const bench = benchOf({ ofUpstream: () => 1 });
  const greedy = Array.from({ length: 100 }, (_, nth) => bench.ask(`g${nth}`, 'greedy'));
  const modest = bench.ask('modest', 'modest');
  await bench.clock.advance(0);
  const refused = await Promise.all(greedy.slice(-10));
  expect(refused).toEqual(
    refused.map(() => expect.objectContaining({ kind: 'overloaded', retryAfterMs: 5_000 })),
  );
  await bench.end();
  await bench.end();
  expect(await modest).toBe('modest');
  expect(bench.started).toEqual(['g0', 'g1', 'modest']);
});

test('who waited for a slot and finds its account busy keeps its turn and its time', async () => {
  const bench = benchOf({ ofAccount: () => 1 });
  await Promise.all([bench.ask('one'), bench.ask('two')]);
  const waiting = bench.ask('three', 'k', undefined, 'a@example.org');
  let ended: unknown;
  void waiting.then((end) => {
    ended = end;
  });
  await bench.clock.advance(20_000);
  // The account that it does not want becomes free.
  await bench.endOn('b');
  await bench.clock.advance(9_000);
  expect(ended).toBeUndefined();
  await bench.clock.advance(1_000);
  expect(ended).toMatchObject({ kind: 'overloaded' });
});

test('who waits for a busy account is served by another as soon as that one recovers, in turn', async () => {
  const bench = benchOf({ ofAccount: () => 1 });
  const limit = { kind: 'failure', model: 'm', failure: { kind: 'rate-limited' } } as const;
  bench.book.apply('b', { ...limit, failure: { ...limit.failure, retryAfterMs: 4_000 } });
  await bench.ask('busy');
  const waiting = [bench.ask('a1', 'key-a'), bench.ask('a2', 'key-a'), bench.ask('b1', 'key-b')];
  await bench.clock.advance(6_000);
  expect(bench.started).toEqual(['busy', 'a1']);
  await bench.endOn('b');
  await bench.endOn('b');
  await bench.end();
  expect(await Promise.all(waiting)).toEqual(['a1', 'a2', 'b1']);
});

test('a limit that is raised counts for those that wait, and one whose account is gone waits no more', async () => {
  let limit = 1;
  const bench = benchOf({ ofUpstream: () => limit });
  await bench.ask('busy');
  const waiting = [bench.ask('first'), bench.ask('second')];
  const gone = bench.ask('gone', 'k', undefined, 'a');
  limit = 3;
  await bench.clock.advance(1_000);
  expect(await Promise.all(waiting)).toEqual(['first', 'second']);
  bench.book.apply('a', { kind: 'disable' });
  await bench.clock.advance(1_000);
  expect(await gone).toMatchObject({ kind: 'not-found' });
});

test('of several that wait for one account none is stirred by another that becomes free', async () => {
  const bench = benchOf({ ofAccount: () => 1 });
  await Promise.all([bench.ask('one'), bench.ask('two')]);
  const waiting = ['three', 'four'].map((name) =>
    bench.ask(name, name, undefined, 'a@example.org'),
  );
  await bench.endOn('b');
  // While they hand a turn to each other without end, no timer or socket gets one.
  await new Promise((resolve) => setImmediate(resolve));
  expect(bench.started).toEqual(['one', 'two']);
  await bench.endOn('a');
  await bench.endOn('a');
  expect(await Promise.all(waiting)).toEqual(['three', 'four']);
});

test('a slot that becomes free in the moment its client leaves is nobody’s, and the next one has it', async () => {
  const bench = benchOf({ ofUpstream: () => 1 });
  await bench.ask('first');
  const gone = new AbortController();
  const left = bench.ask('left', 'k', gone.signal);
  await bench.clock.advance(0);
  gone.abort();
  const ending = bench.end();
  expect(await left).toMatchObject({ kind: 'client-gone' });
  await ending;
  expect(await bench.ask('next')).toBe('next');
});

test('the next model is asked where the wait for one is in vain, and the record says why', async () => {
  const bench = benchOf({ ofUpstream: (id) => (id === 'fake' ? 1 : undefined) });
  await bench.ask('first');
  const { answer, record } = bench.askChain('second');
  await bench.clock.advance(30_000);
  await bench.clock.advance(30_000);
  expect(await answer).toMatchObject({ kind: 'overloaded' });
  expect(record.fallbacks).toMatchObject([{ from: 'm', to: 'n', reason: 'busy' }]);
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
