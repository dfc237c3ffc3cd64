import { expect, test } from 'vitest';
import type { AccessOptions } from '../accounts/account.ts';
import { createPoolBench } from './pool.test-support.ts';
import type { LeaseOutcome } from './pool.ts';

const { signal } = new AbortController();

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
    release({ kind: 'failure', failure: { kind: 'rate-limited', status: 429 } });
  }
  expect(restMs()).toBe(2500);
  await bench.clock.advance(60_000);
  bench.use({}, { kind: 'rate-limited', status: 429 });
  expect(restMs()).toBe(5000);
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
  const told: (readonly [string, string, LeaseOutcome, boolean])[] = [];
  const bench = createPoolBench({
    accounts: [{ id: 'a' }],
    onOutcome: (...ended) => told.push(ended),
  });
  const failure = { kind: 'path', status: 500 } as const;
  bench.use();
  bench.use({ model: 'n' }, failure);
  bench.lease().release({ kind: 'neutral' });
  expect(told).toEqual([
    ['a', 'm', { kind: 'success' }, false],
    ['a', 'n', { kind: 'failure', failure }, false],
    ['a', 'm', { kind: 'neutral' }, false],
  ]);
});
