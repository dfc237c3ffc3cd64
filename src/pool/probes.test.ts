import { expect, test } from 'vitest';
import { createFakeUpstream } from '../../test/support/fake-upstream.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import { createPoolBench } from './pool.test-support.ts';

const MINUTE = 60_000;
const REFUSED = { kind: 'unauthenticated', status: 401 } as const;
const DENIED = { kind: 'model-forbidden', status: 403 } as const;

function benchOf(failure: () => UpstreamFailure | undefined) {
  const upstream = createFakeUpstream(() => {
    const fail = failure();
    return fail === undefined ? { frames: ['Hi', 'end'] } : { fail };
  });
  return { upstream, ...createPoolBench({ accounts: [{ id: 'a' }], upstream }) };
}

test('B3: a new key that is refused twice is invalid, probed after 1, 5, 15, then every 60 minutes', async () => {
  let failure: UpstreamFailure | undefined = REFUSED;
  const bench = benchOf(() => failure);
  await bench.pool.ensureModels();
  bench.use({}, REFUSED);
  await bench.clock.advance(1000);
  bench.use({}, REFUSED);
  const status = () => bench.book.find('a')?.health.status;
  expect(status()).toMatchObject({ kind: 'disabled', reason: 'invalid-key' });
  expect(bench.ask()).toMatchObject({ kind: 'none', reason: 'unusable' });
  const probes: number[] = [];
  const startedAt = bench.clock.now();
  for (let minute = 1; minute <= 150; minute += 1) {
    const before = bench.upstream.calls.length;
    await bench.clock.advance(MINUTE);
    if (bench.upstream.calls.length > before) {
      probes.push(Math.round((bench.clock.now() - startedAt) / MINUTE));
    }
  }
  expect(probes).toEqual([1, 6, 21, 81, 141]);
  failure = undefined;
  await bench.clock.advance(60 * MINUTE);
  expect(status()).toEqual({ kind: 'active' });
  expect(bench.ask().kind).toBe('lease');
});

test('an error in a good answer to a probe is no answer', async () => {
  let words = ['error'];
  const upstream = createFakeUpstream(() => ({ frames: words }));
  const bench = createPoolBench({ accounts: [{ id: 'a' }], upstream });
  await bench.pool.ensureModels();
  bench.use({}, REFUSED);
  await bench.clock.advance(1000);
  bench.use({}, REFUSED);
  const status = () => bench.book.find('a')?.health.status.kind;
  await bench.clock.advance(MINUTE);
  expect(upstream.calls).toHaveLength(1);
  expect(status()).toBe('disabled');
  words = ['Hi', 'end'];
  await bench.clock.advance(60 * MINUTE);
  expect(status()).toBe('active');
});

test('a key that served is found invalid after five refusals over ten minutes', async () => {
  const bench = benchOf(() => REFUSED);
  bench.use();
  await bench.clock.advance(MINUTE);
  for (let nth = 0; nth < 4; nth += 1) {
    bench.use({}, REFUSED);
    await bench.clock.advance(3 * MINUTE);
    expect(bench.book.find('a')?.health.status.kind).toBe('active');
  }
  bench.use({}, REFUSED);
  expect(bench.book.find('a')?.health.status).toMatchObject({ reason: 'invalid-key' });
});

test.each([
  ['refused, too: the account is out', DENIED, 'disabled'],
  ['answered: only the model is', undefined, 'active'],
] as const)(
  'A7: after three 403 a model it served is asked for a token: %s',
  async (_what, met, kind) => {
    const bench = benchOf(() => met);
    bench.use({ model: 'served' });
    for (let nth = 0; nth < 3; nth += 1) {
      await bench.clock.advance(10 * MINUTE);
      bench.use({}, DENIED);
      expect(bench.book.find('a')?.health.status.kind).toBe('active');
    }
    await bench.clock.advance(1);
    expect(bench.upstream.calls.map(({ modelId }) => modelId)).toEqual(['served']);
    expect(bench.book.find('a')?.health.status.kind).toBe(kind);
  },
);

test('A7, A8: refusals of one account leave every request one to try, once a second', async () => {
  for (const failure of [REFUSED, DENIED]) {
    const bench = benchOf(() => undefined);
    bench.use({}, failure);
    expect(bench.use()).toBe('a');
    expect(bench.use()).toBe('a');
    expect(bench.use()).toBe('a');
  }
});

const QUOTA = { kind: 'quota-exhausted', status: 429 } as const;

test('A7: a quota that is used up until nobody knows when is tried once a minute, and not at once', async () => {
  const bench = createPoolBench({ accounts: [{ id: 'a' }] });
  bench.use({}, QUOTA);
  await bench.clock.advance(MINUTE);
  bench.use({}, QUOTA);
  for (let nth = 0; nth < 3; nth += 1) {
    expect(bench.ask()).toMatchObject({ reason: 'limited', retryAfterMs: MINUTE });
    // The request that was refused itself is told the same.
    expect(bench.ask({ exclude: new Set(['a']) })).toMatchObject({ retryAfterMs: MINUTE });
    await bench.clock.advance(MINUTE - 1);
    expect(bench.ask()).toMatchObject({ reason: 'limited', retryAfterMs: 1 });
    await bench.clock.advance(1);
    expect(bench.use({}, QUOTA)).toBe('a');
  }
});

test.each([
  { first: 'known', second: 'unknown' },
  { first: 'unknown', second: 'known' },
])(
  'A7: beside an account that did not say how long it is limited one that did is left alone: $first first',
  async ({ first, second }) => {
    const bench = createPoolBench({ accounts: [{ id: 'known' }, { id: 'unknown' }] });
    const refuse = (id: string): void => {
      const others = new Set(['known', 'unknown'].filter((one) => one !== id));
      const retryAfterMs = id === 'known' ? 60 * MINUTE : undefined;
      bench.use({ exclude: others }, { ...QUOTA, retryAfterMs });
    };
    refuse('unknown');
    await bench.clock.advance(MINUTE);
    refuse(first);
    refuse(second);
    const tried: string[] = [];
    for (let minute = 0; minute < 4; minute += 1) {
      await bench.clock.advance(MINUTE);
      const result = bench.ask();
      if (result.kind === 'lease') tried.push(result.lease.account.id);
    }
    expect(tried).toEqual(['unknown', 'unknown', 'unknown', 'unknown']);
  },
);
