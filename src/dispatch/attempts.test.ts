import { expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts';
import { createFakeUpstream } from '../../test/support/fake-upstream.ts';
import {
  createSeedPool,
  type PoolSeed,
  type SeedPool,
  type SeedPoolOptions,
} from '../../test/support/seed-pool.ts';
import type { CallRecord } from '../canonical/call-record.ts';
import { GatewayError, upstreamError } from '../canonical/error.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import { textOf, told } from '../lib/localized-message.ts';
import type { Lease, LeaseOutcome, LeaseRequest, LeaseResult } from '../pool/pool.ts';
import type { AttemptPlan } from './attempt-plan.ts';
import { type AttemptDependencies, AttemptRun } from './attempts.ts';
import { createRetryBudgets } from './retry-budget.ts';

/** What an attempt on that account meets; undefined answers well. */
type Met = UpstreamFailure | Error | undefined;
type Meet = (account: string, nth: number) => Met | Promise<Met>;

interface Bench extends SeedPool {
  readonly clock: FakeClock;
  readonly record: CallRecord;
  /** The accounts attempts were made on, in order. */
  readonly asked: string[];
  readonly plans: AttemptPlan[];
  /** How each lease ended; dry runs are in it as well. */
  readonly ends: { readonly account: string; readonly outcome: LeaseOutcome }[];
  /** Leases that nobody gave back. */
  openLeases(): number;
  run(meet: Meet, request?: Partial<LeaseRequest>, signal?: AbortSignal): Promise<string>;
  /** As `run`; resolves with the error. */
  fail(meet: Meet, request?: Partial<LeaseRequest>, signal?: AbortSignal): Promise<unknown>;
}

interface BenchOptions extends Partial<Omit<SeedPoolOptions, 'accounts'>> {
  readonly accounts: string | readonly PoolSeed[];
  readonly budget?: ReturnType<AttemptDependencies['budgetOf']>;
  readonly jitter?: number;
}

/** Accounts are named by letters and asked in their order. */
function benchOf({ accounts, budget, jitter = 0, ...options }: BenchOptions): Bench {
  const clock = createFakeClock();
  const upstream = createFakeUpstream(() => ({ frames: [] }));
  const seeds =
    typeof accounts === 'string'
      ? [...accounts].map((id, index) => ({ id, priority: -index }))
      : accounts;
  const seeded = createSeedPool({ upstream, clock, ...options, accounts: seeds });
  const record: CallRecord = { attempts: [], timings: {} };
  const asked: string[] = [];
  const plans: AttemptPlan[] = [];
  const ends: { account: string; outcome: LeaseOutcome }[] = [];
  let open = 0;
  const watch = (lease: Lease): Lease => {
    open += 1;
    const release = (outcome: LeaseOutcome): void => {
      open -= 1;
      ends.push({ account: lease.account.id, outcome });
      lease.release(outcome);
    };
    return { ...lease, release };
  };
  const lease = (request: LeaseRequest): LeaseResult => {
    const result = seeded.pool.lease(request);
    return result.kind === 'lease' ? { ...result, lease: watch(result.lease) } : result;
  };
  const dependencies = {
    pool: { ...seeded.pool, lease },
    clock,
    random: () => jitter,
    budgetOf: budget === undefined ? createRetryBudgets(clock) : () => budget,
  };
  const run: Bench['run'] = (meet, request = {}, signal = new AbortController().signal) => {
    const route = { target: 'm', webSearch: false };
    const leaseRequest = { model: 'm', clientKeyId: 'k', ...request };
    return new AttemptRun(
      { routes: [{ route, leaseRequest }], context: { signal, record } },
      dependencies,
    ).run(async ({ account, release }, { plan }) => {
      asked.push(account.id);
      plans.push(plan);
      const met = await meet(account.id, asked.length);
      if (met instanceof Error) throw met;
      if (met !== undefined) throw failed(met);
      release({ kind: 'success' });
      return account.id;
    });
  };
  return {
    ...seeded,
    clock,
    record,
    asked,
    plans,
    ends,
    openLeases: () => open,
    run,
    fail: (...given) => run(...given).catch((error: unknown) => error),
  };
}

function failed(failure: UpstreamFailure): GatewayError {
  return new GatewayError({
    kind: failure.kind === 'rejected' ? 'invalid-request' : 'upstream-unavailable',
    source: 'upstream',
    message: `met ${failure.kind}`,
    failure,
  });
}

/** Lets all waits of a request pass. */
async function settled<Value>(bench: Bench, pending: Promise<Value>): Promise<Value> {
  await bench.clock.advance(120_000);
  return pending;
}

const LIMITED = { kind: 'rate-limited', status: 429, retryAfterMs: 30_000 } as const;
const RENEWABLE = [...'abcdefgh'].map((id, index) => ({
  id,
  priority: -index,
  isRenewable: true,
}));

test.each<readonly [string, Meet]>([
  ['an answer', () => undefined],
  ['a limit of each account', () => LIMITED],
  ['refused credentials', () => ({ kind: 'unauthenticated', status: 401 })],
  ['faults of the path', () => ({ kind: 'path', status: 500 })],
  ['lost connections', () => ({ kind: 'connection-lost' })],
  ['an overload', () => ({ kind: 'overloaded', status: 503 })],
  ['a 400', () => ({ kind: 'rejected', status: 400 })],
  ['a bad signature', () => ({ kind: 'bad-signature', status: 400 })],
  ['a fault of our own', () => new Error('a bug')],
])('every account is given back, once: %s', async (_what, meet) => {
  const bench = benchOf({ accounts: RENEWABLE });
  await settled(bench, bench.fail(meet));
  expect(bench.openLeases()).toBe(0);
  expect(bench.ends.length).toBeGreaterThan(0);
});

test('who met a limit is answered when the other processes know of it, and nobody else waits for them', async () => {
  const questions: PromiseWithResolvers<boolean>[] = [];
  const heard = (): Promise<boolean> => {
    const question = Promise.withResolvers<boolean>();
    questions.push(question);
    return question.promise;
  };
  const bench = benchOf({ accounts: 'abc', hearing: { heard, close: () => undefined } });
  const ends: string[] = [];
  const note = (end: unknown): void => void ends.push(String(end));
  void bench.run((account) => (account === 'a' ? LIMITED : undefined)).then(note);
  await bench.clock.advance(0);
  expect([bench.asked, ends, questions.length]).toEqual([['a', 'b'], [], 1]);
  expect(await bench.run(() => undefined)).toBe('b');
  questions[0]?.resolve(true);
  await bench.clock.advance(0);
  expect(ends).toEqual(['b']);
  void bench.fail(() => LIMITED).then(note);
  await bench.clock.advance(120_000);
  expect(ends.length).toBe(1);
  for (const { resolve } of questions) resolve(true);
  await bench.clock.advance(0);
  expect(ends.length).toBe(2);
});

test('the time that goes by with limits is bounded, and none of it is that of an account that was silent', async () => {
  const ended = async (met: Readonly<Record<string, readonly [number, UpstreamFailure]>>) => {
    const bench = benchOf({ accounts: 'abcdef' });
    const meet: Meet = async (account) => {
      const [ms, failure] = met[account] ?? [0, undefined];
      await bench.clock.sleep(ms, new AbortController().signal);
      return failure;
    };
    const pending = bench.fail(meet);
    for (let n = 0; n < 30; n += 1) await bench.clock.advance(10_000);
    return [bench.asked.join(''), await pending];
  };
  expect(await ended({ a: [120_000, { kind: 'path' }], b: [0, LIMITED] })).toEqual(['abc', 'c']);
  const slow = [4_000, LIMITED] as const;
  expect(await ended({ a: slow, b: slow, c: slow, d: slow, e: slow })).toEqual([
    'abcd',
    expect.objectContaining({ kind: 'rate-limited' }),
  ]);
});

test('a fault of our own is held against no account, and is not tried on another', async () => {
  const bench = benchOf({ accounts: 'ab' });
  expect(await bench.fail(() => new TypeError('a bug'))).toBeInstanceOf(TypeError);
  expect(bench.record.attempts).toMatchObject([{ accountId: 'a', outcome: 'internal' }]);
  expect(bench.asked).toEqual(['a']);
  expect(bench.ends).toEqual([{ account: 'a', outcome: { kind: 'neutral' } }]);
});

test('a failure that comes when the client has left is held against no account', async () => {
  const bench = benchOf({ accounts: 'ab' });
  const leaving = new AbortController();
  const meet: Meet = () => {
    leaving.abort();
    return { kind: 'path', status: 500 };
  };
  expect(await bench.fail(meet, {}, leaving.signal)).toMatchObject({ kind: 'client-gone' });
  expect(bench.record.attempts).toMatchObject([{ accountId: 'a', outcome: 'client-gone' }]);
  expect(bench.asked).toEqual(['a']);
  expect(bench.ends).toEqual([{ account: 'a', outcome: { kind: 'neutral' } }]);
});

test('six accounts are asked, each with its token and with a renewed one, and no seventh', async () => {
  const bench = benchOf({ accounts: RENEWABLE });
  const error = await bench.fail(() => ({ kind: 'unauthenticated', status: 401 }));
  expect(bench.asked.join('')).toBe('aabbccddeeff');
  expect(bench.plans.map(({ refreshCredential }) => refreshCredential)).toEqual(
    bench.asked.map((_account, at) => at % 2 === 1),
  );
  expect(error).toMatchObject({ kind: 'upstream-auth', retryAfterMs: 1000 });
});

test('a lost connection is repeated on a fresh one once, and what is lost on fresh ones counts', async () => {
  const bench = benchOf({ accounts: 'abcde' });
  await settled(
    bench,
    bench.fail(() => ({ kind: 'connection-lost' })),
  );
  expect(bench.asked.join('')).toBe('aabcd');
  expect(bench.plans.map(({ freshConnection }) => freshConnection)).toEqual(
    bench.asked.map((_account, at) => at > 0),
  );
});

test('an outage that closes every connection is asked hardly more often than clients ask (R11)', async () => {
  const budget = createRetryBudgets(createFakeClock())('u m');
  const bench = benchOf({ accounts: 'abcde', budget });
  const lost: Meet = () => ({ kind: 'connection-lost' });
  for (let round = 0; round < 20; round += 1) {
    await settled(bench, Promise.all(Array.from({ length: 10 }, () => bench.fail(lost))));
  }
  // The floor, and what ten at once may begin before the first of them has failed twice.
  expect(bench.asked.length).toBeLessThanOrEqual(200 * 1.2 + 10 + 10);
});

test('connections that are lost between requests are repeated without end, and cost no retry', async () => {
  const bench = benchOf({ accounts: 'a' });
  const kept: Meet = (_account, nth) => (nth === 1 ? { kind: 'connection-lost' } : undefined);
  for (let request = 0; request < 200; request += 1) {
    bench.asked.length = 0;
    await bench.run(kept);
    expect(bench.asked).toHaveLength(2);
  }
});

test.each(['path', 'unusable-answer'] as const)('%s: four accounts are asked', async (kind) => {
  const bench = benchOf({ accounts: 'abcde' });
  const error = await settled(
    bench,
    bench.fail(() => ({ kind })),
  );
  expect(bench.asked.join('')).toBe('abcd');
  expect(error).toMatchObject({ failure: { kind } });
});

test('a retry of a fault of the path is taken from the budget of all, one of a limit is not', async () => {
  let taken = 0;
  let hasRoom = true;
  let requests = 0;
  const budget = {
    noteRequest: () => {
      requests += 1;
    },
    hasRoom: () => hasRoom,
    take: () => {
      taken += 1;
    },
    giveBack: () => {},
  };
  const bench = benchOf({ accounts: 'abcdefgh', budget });
  const path: Meet = (_account, nth) => (nth < 3 ? { kind: 'path' } : undefined);
  await settled(bench, bench.run(path));
  expect([requests, taken]).toEqual([1, 2]);
  await bench.run((account) => (account < 'd' ? LIMITED : undefined));
  expect([requests, taken]).toEqual([2, 2]);
  hasRoom = false;
  for (const kind of ['path', 'overloaded'] as const) {
    bench.asked.length = 0;
    expect(await bench.fail(() => ({ kind }))).toMatchObject({ failure: { kind } });
    expect(bench.asked).toHaveLength(1);
  }
});

test.each<readonly [UpstreamFailure['kind'], GatewayError['kind'], number]>([
  ['unauthenticated', 'upstream-auth', 1000],
  ['credential-revoked', 'upstream-auth', 1000],
])('%s of six accounts, with others left, is told as %s', async (kind, told, retryAfterMs) => {
  const bench = benchOf({ accounts: 'abcdefgh' });
  const error = await bench.fail(() => ({ kind, retryAfterMs: 50_000 }), { session: 's' });
  expect(bench.asked.join('')).toBe('abcdef');
  expect(error).toMatchObject({ kind: told, retryAfterMs });
  expect(error).not.toMatchObject({ message: `met ${kind}` });
  // Looking for what is left moves no session.
  expect(bench.pool.sessions.sessions().map(({ accountId }) => accountId)).not.toContain('g');
  expect(JSON.stringify(bench.pool.sessions.sessions())).not.toContain('"g"');
});

test.each<readonly [UpstreamFailure['kind'], GatewayError['kind'], number]>([
  ['quota-exhausted', 'quota-exhausted', 50_000],
  ['unauthenticated', 'upstream-auth', 1000],
])('%s of all accounts is told as %s, with the soonest recovery', async (kind, told, wait) => {
  const bench = benchOf({ accounts: 'abc' });
  const error = await bench.fail(() => ({ kind, retryAfterMs: 50_000 }));
  expect(error).toMatchObject({ kind: told, retryAfterMs: wait });
});

test.each(['forbidden', 'verification-required'] as const)(
  '%s alike by two accounts may be the request’s own: the walk ends, and neither is held to it',
  async (kind) => {
    const bench = benchOf({ accounts: 'abc' });
    const error = await bench.fail(() => ({ kind, status: 403 }));
    expect(bench.asked.join('')).toBe('ab');
    expect(error).toMatchObject({ kind: 'upstream-auth', retryAfterMs: 1000 });
    for (const id of 'abc') expect(bench.book.find(id)?.health.status.kind).toBe('active');
  },
);

test('a limit of all six accounts that are asked is told with the soonest recovery', async () => {
  const bench = benchOf({ accounts: 'abcdef' });
  const error = await bench.fail((account) => ({
    kind: 'rate-limited',
    retryAfterMs: account === 'd' ? 20_000 : 50_000,
  }));
  expect(error).toMatchObject({ kind: 'rate-limited', retryAfterMs: 20_000 });
});

test.each(['ab', 'a'])(
  'of %s the word that there is no such model reaches the client',
  async (known) => {
    const bench = benchOf({ accounts: 'ab' });
    if (known === 'a') bench.book.apply('b', { kind: 'disable' });
    const error = await bench.fail(() => ({ kind: 'model-not-found', status: 404 }));
    expect(bench.asked.join('')).toBe(known);
    expect(error).toMatchObject({ message: 'met model-not-found' });
  },
);

test('a request that is larger than the limit of an account is tried on the others, and uses up the limit of none', async () => {
  const bench = benchOf({ accounts: 'ab' });
  const large = { kind: 'rate-limited', status: 429, isOversized: true } as const;
  expect(await bench.run((account) => (account === 'a' ? large : undefined))).toBe('b');
  expect(await bench.fail(() => large)).toMatchObject({ failure: large, retryAfterMs: undefined });
  expect(await bench.run(() => undefined)).toBe('a');
});

test('a prompt that is too long for the model of one upstream is tried on that of another, once', async () => {
  const played = createFakeUpstream(() => ({ frames: [] }));
  const upstreams = new Map(['small', 'large'].map((id) => [id, { ...played, id }]));
  const accounts = [...'abc'].map((id) => ({ id, upstreamId: id === 'c' ? 'large' : 'small' }));
  const tooLong = new GatewayError({
    ...{ kind: 'invalid-request', source: 'upstream', message: 'too long' },
    ...{ reason: 'context-length', failure: { kind: 'rejected', status: 400 } },
  });
  const bench = benchOf({ accounts, upstreams });
  expect(await bench.run((account) => (account === 'c' ? undefined : tooLong))).toBe('c');
  expect(bench.asked).toHaveLength(2);
  expect(await bench.fail(() => tooLong)).toBe(tooLong);
  expect(bench.asked).toHaveLength(4);
  expect(bench.openLeases()).toBe(0);
  expect(await benchOf({ accounts: 'ab' }).fail(() => tooLong)).toBe(tooLong);
});

test('an account without a list that does not know the model comes after others for five minutes', async () => {
  const bench = benchOf({ accounts: 'ab' });
  const meet: Meet = (account) =>
    account === 'a' ? { kind: 'model-not-found', status: 404 } : undefined;
  const askOften = async (): Promise<string> => {
    bench.asked.length = 0;
    for (let nth = 0; nth < 12; nth += 1) {
      await bench.run(meet);
      await bench.clock.advance(2_000);
    }
    return bench.asked.join('');
  };
  expect(await askOften()).toBe('abbbbbbbbbbbb');
  await bench.clock.advance(300_000);
  expect(await askOften()).toBe('abbbbbbbbbbbb');
  // With nobody else it is asked all the same: what one request was refused may be its own.
  bench.book.apply('b', { kind: 'disable' });
  bench.asked.length = 0;
  expect(await bench.run(() => undefined)).toBe('a');
});

test('an outage is told also when the last account that was asked was at its limit', async () => {
  const bench = benchOf({ accounts: 'ab', jitter: 1 });
  bench.book.apply('b', {
    kind: 'failure',
    model: 'm',
    failure: { kind: 'rate-limited', retryAfterMs: 1000 },
  });
  await bench.clock.advance(400);
  const error = await settled(
    bench,
    bench.fail((account) => (account === 'a' ? { kind: 'path', status: 502 } : LIMITED)),
  );
  expect(bench.asked).toEqual(['a', 'a', 'a', 'b', 'a']);
  expect(error).toMatchObject({ failure: { kind: 'path' } });
});

const CACHE_FIRST = { mode: 'cache-first', maxWaitMs: 10_000 } as const;

/** Makes an account rest, as a request of somebody else may at any time. */
function rest({ book }: Bench, account: string, restMs: number): void {
  const failure = { kind: 'rate-limited', retryAfterMs: restMs } as const;
  book.apply(account, { kind: 'failure', model: 'm', failure });
}

test('a request waits for the account of its session no longer than it may in all', async () => {
  const bench = benchOf({ accounts: 'ab', settings: CACHE_FIRST });
  await bench.run(() => undefined, { session: 's' });
  rest(bench, 'a', 4000);
  const pending = bench.run(() => undefined, { session: 's' });
  await bench.clock.advance(3500);
  rest(bench, 'a', 4000);
  await bench.clock.advance(3900);
  rest(bench, 'a', 4000);
  await bench.clock.advance(99);
  expect(bench.asked).toEqual(['a']);
  await bench.clock.advance(1);
  expect(await pending).toBe('b');
});

test.each([
  ['is there again', { kind: 'clear-cooldown' }, 'a'],
  ['is disabled', { kind: 'disable' }, 'b'],
] as const)(
  'a request that waits for the account of its session learns within a second that it %s',
  async (_what, event, served) => {
    const bench = benchOf({ accounts: 'ab', settings: CACHE_FIRST });
    await bench.run(() => undefined, { session: 's' });
    rest(bench, 'a', 9000);
    const pending = bench.run(() => undefined, { session: 's' });
    await bench.clock.advance(1500);
    expect(bench.asked).toEqual(['a']);
    bench.book.apply('a', event);
    await bench.clock.advance(1000);
    expect(bench.asked).toEqual(['a', served]);
    expect(await pending).toBe(served);
  },
);

test('calls that go back as they were issued go with their own signatures, without stand-ins', async () => {
  const bench = benchOf({ accounts: 'a' });
  const said = ['bad-signature', 'bad-signature', 'missing-signature', 'bad-signature'] as const;
  await bench.run((_account, nth) => {
    const kind = said[nth - 1];
    return kind === undefined ? undefined : { kind };
  });
  expect(bench.plans).toMatchObject([
    { signatures: 'carried', usesPlaceholders: false },
    { signatures: 'remembered', usesPlaceholders: false },
    { signatures: 'stripped', usesPlaceholders: false },
    { signatures: 'stripped', usesPlaceholders: true },
    { signatures: 'reissued', usesPlaceholders: false },
  ]);
});

test('what lies behind a failed connection is told of the account too', async () => {
  const bench = benchOf({ accounts: 'a' });
  const cause = new Error('connect ECONNREFUSED 192.0.2.1:443');
  const failure = { kind: 'path' } as const;
  const message = told`It could not be reached.`;
  const failed = bench.fail(() =>
    upstreamError('upstream-unavailable', message, { failure, cause }),
  );
  await bench.clock.advance(10_000);
  await failed;
  const { detail = '' } = bench.pool.conditionOf('a').lastFailure?.failure ?? {};
  expect(textOf(detail)).toBe('It could not be reached. (connect ECONNREFUSED 192.0.2.1:443)');
});
