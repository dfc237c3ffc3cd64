import { expect, test } from 'vitest';
import type { AccessOptions } from '../accounts/token-source.ts';
import { createPoolBench, type PoolBench } from './pool.test-support.ts';
import type { LeaseOutcome } from './pool.ts';

const { signal } = new AbortController();

function overload(bench: PoolBench, retryAfterMs?: number): number | undefined {
  bench.use({}, { kind: 'overloaded', status: 503, retryAfterMs });
  const next = bench.ask();
  return next.kind === 'none' ? next.retryAfterMs : undefined;
}

test('overloads that follow one another rest the model 5, 10, then 15 s; an answer ends the row', async () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }] });
  for (const restMs of [5000, 10_000, 15_000, 15_000]) {
    expect(overload(bench)).toBe(restMs);
    await bench.clock.advance(restMs);
  }
  bench.use();
  expect(overload(bench)).toBe(5000);
});

test.each([
  [3000, 3000],
  [40_000, 40_000],
  [3_600_000, 60_000],
])('an overload that asks for %i ms rests the model for %i', (hint, restMs) => {
  expect(overload(createPoolBench({ accounts: [{ id: 'a' }] }), hint)).toBe(restMs);
});

test('overloads that calls meet at the same time are one overload', async () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }] });
  const leases = [bench.lease(), bench.lease(), bench.lease()];
  await bench.clock.advance(100);
  for (const { release } of leases) {
    release({ kind: 'failure', failure: { kind: 'overloaded', status: 503 } });
    await bench.clock.advance(10);
  }
  expect(bench.ask()).toMatchObject({ reason: 'overloaded', retryAfterMs: 4990 });
});

test('an answer that was under way before the overload does not end it', async () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }] });
  const [early, refused] = [bench.lease(), bench.lease()];
  await bench.clock.advance(100);
  refused.release({ kind: 'failure', failure: { kind: 'overloaded', status: 503 } });
  await bench.clock.advance(10);
  early.release({ kind: 'success' });
  expect(bench.ask()).toMatchObject({ reason: 'overloaded', retryAfterMs: 4990 });
});

test('the models that rest are listed until their rest is over or ended', async () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }] });
  const { rests } = bench.pool;
  const told: string[] = [];
  rests.subscribe((upstreamId) => told.push(upstreamId));
  const { upstream } = bench.lease();
  for (const model of ['m', 'n']) bench.use({ model }, { kind: 'overloaded', status: 503 });
  expect([...rests.of(upstream.id).values()]).toEqual(
    [5000, 5000].map((ms) => bench.clock.now() + ms),
  );
  rests.end(upstream.id, 'm');
  expect([...rests.of(upstream.id).keys()]).toEqual(['n']);
  expect(bench.ask().kind).toBe('lease');
  await bench.clock.advance(5000);
  expect(rests.of(upstream.id).size).toBe(0);
  expect(told).toEqual([upstream.id, upstream.id, upstream.id]);
});

test('a lease that is given back twice frees one place', () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }, { id: 'b' }] });
  const [first, , third] = [bench.lease(), bench.lease(), bench.lease()];
  expect([first.account.id, third.account.id]).toEqual(['a', 'a']);
  first.release({ kind: 'neutral' });
  first.release({ kind: 'neutral' });
  // Each has one call under way now, and b was used longer ago.
  expect(bench.lease().account.id).toBe('b');
});

test('refusals of calls that were under way together count once', async () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }] });
  const restMs = (): number => {
    const next = bench.ask();
    return next.kind === 'none' ? (next.retryAfterMs ?? 0) : 0;
  };
  const leases = Array.from({ length: 5 }, () => bench.lease());
  await bench.clock.advance(10);
  for (const { release } of leases) {
    release({ kind: 'failure', failure: { kind: 'quota-exhausted', status: 429 } });
  }
  expect(restMs()).toBe(60_000);
  await bench.clock.advance(60_000);
  bench.use({}, { kind: 'quota-exhausted', status: 429 });
  expect(restMs()).toBe(300_000);
});

test('an answer that was begun before a limit does not end it', async () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }] });
  const begunBefore = bench.lease();
  await bench.clock.advance(10);
  bench.use({}, { kind: 'rate-limited', retryAfterMs: 30_000 });
  await bench.clock.advance(10);
  begunBefore.release({ kind: 'success' });
  expect(bench.ask()).toMatchObject({ kind: 'none', reason: 'limited', retryAfterMs: 29_990 });
});

test('who asks for a newer credential names the one that was refused', async () => {
  const asked: AccessOptions[] = [];
  const bench = createPoolBench({
    accounts: [{ id: 'a', isRenewable: true }],
    tokens: {
      async accessFor({ record }, options) {
        asked.push(options);
        return {
          accountId: record.id,
          credential: `token ${asked.length}`,
          credentialKind: 'access-token',
          projectId: undefined,
          proxyUrl: undefined,
        };
      },
    },
  });
  const lease = bench.lease();
  await lease.access({ refresh: false, signal });
  await lease.access({ refresh: true, signal });
  expect(asked).toEqual([
    { refresh: false, signal, refused: undefined },
    { refresh: true, signal, refused: 'token 1' },
  ]);
});

test('an account that was taken out of use meanwhile is not blamed, although it is back', async () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }] });
  const lease = bench.lease();
  bench.book.apply('a', { kind: 'disable' });
  const refused = await lease.access({ refresh: false, signal }).catch((error: unknown) => error);
  expect(refused).toMatchObject({ failure: { kind: 'credential-revoked' } });
  bench.book.apply('a', { kind: 'enable' });
  lease.release({ kind: 'failure', failure: { kind: 'credential-revoked' } });
  expect(bench.book.find('a')?.health).toMatchObject({ revocations: 0, outUntil: 0 });
});

test('how each lease ended is told once, with its account and model', () => {
  const told: (readonly [string, string, LeaseOutcome])[] = [];
  const bench = createPoolBench({
    accounts: [{ id: 'a' }],
    onOutcome: (...ended) => told.push(ended),
  });
  const failure = { kind: 'path', status: 500 } as const;
  bench.use();
  bench.use({ model: 'n' }, failure);
  bench.lease().release({ kind: 'neutral' });
  expect(told).toEqual([
    ['a', 'm', { kind: 'success' }],
    ['a', 'n', { kind: 'failure', failure }],
    ['a', 'm', { kind: 'neutral' }],
  ]);
});
