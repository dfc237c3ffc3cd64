import { expect, test } from 'vitest';
import { capabilitiesOf, requestOf, text, user } from '../../test/support/canonical.ts';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createFakeUpstream } from '../../test/support/fake-upstream.ts';
import { createSeedPool } from '../../test/support/seed-pool.ts';
import type { CallRecord } from '../canonical/call-record.ts';
import { GatewayError } from '../canonical/error.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import { type NeedSet, needSet } from '../canonical/needs.ts';
import type { Part } from '../canonical/request.ts';
import { AttemptRun } from './attempts.ts';
import { type RoutedCall, routeCall } from './call-setup.ts';
import { contextOf } from './dispatch.test-support.ts';
import { createRetryBudgets } from './retry-budget.ts';

const MODELS = ['first', 'second', 'third'];

/** What a model's attempt meets; undefined answers well. */
type Meet = (model: string, nth: number) => UpstreamFailure | GatewayError | undefined;

interface RunOptions {
  readonly passesMs?: number;
  readonly models?: readonly string[];
  /** The same for requests that repeat each other. */
  readonly fingerprint?: string;
}

function benchOf(ids: readonly string[] = ['a', 'b']) {
  const clock = createFakeClock();
  const upstream = createFakeUpstream(() => ({ frames: [] }));
  const { pool, book } = createSeedPool({ upstream, clock, accounts: ids.map((id) => ({ id })) });
  const record: CallRecord = { attempts: [], timings: {} };
  const asked: string[] = [];
  const budgetOf = createRetryBudgets(clock);
  const dependencies = { pool, clock, random: () => 0, budgetOf };
  const run = async (
    meet: Meet,
    { passesMs = 120_000, models = MODELS, fingerprint }: RunOptions = {},
  ): Promise<unknown> => {
    const choices = models.map((target) => ({
      route: { target, webSearch: false },
      leaseRequest: { model: target, clientKeyId: 'k' },
    }));
    const routes = choices as unknown as RoutedCall;
    const { signal } = new AbortController();
    const bodies =
      fingerprint === undefined
        ? undefined
        : { repeats: () => true, fingerprint: () => fingerprint };
    const pending = new AttemptRun({ routes, context: { signal, record }, bodies }, dependencies)
      .run(async (lease, { route }) => {
        asked.push(route.target);
        const met = meet(route.target, asked.length);
        if (met instanceof GatewayError) throw met;
        if (met !== undefined) throw failed(met);
        lease.release({ kind: 'success' });
        return route.target;
      })
      .catch((error: unknown) => error);
    await clock.advance(passesMs);
    return pending;
  };
  return { run, record, asked, book };
}

function failed(failure: UpstreamFailure): GatewayError {
  const kind = failure.kind === 'rejected' ? 'invalid-request' : 'upstream-unavailable';
  return new GatewayError({ kind, source: 'upstream', message: `met ${failure.kind}`, failure });
}

test.each<readonly [string, UpstreamFailure, string]>([
  ['at its limit', { kind: 'rate-limited', status: 429 }, 'limited'],
  ['retired', { kind: 'model-not-found', status: 404 }, 'not-offered'],
  ['dead', { kind: 'path' }, 'all-tried'],
  ['overloaded', { kind: 'overloaded', status: 529 }, 'all-tried'],
])(
  'the next model is asked when the first is %s, and the record says why',
  async (_what, failure, reason) => {
    const bench = benchOf();
    expect(await bench.run((model) => (model === 'first' ? failure : undefined))).toBe('second');
    expect(bench.record.fallbacks).toMatchObject([{ from: 'first', to: 'second' }]);
    expect(bench.record.fallbacks?.[0]?.reason).toBe(reason);
    expect(bench.record.routedModel).toBe('second');
  },
);

test('models that fail more often than not are passed over, one after the other', async () => {
  const bench = benchOf();
  const meet: Meet = (model) => (model === 'third' ? undefined : { kind: 'path' });
  for (let nth = 0; nth < 12; nth += 1)
    expect(await bench.run(meet, { passesMs: 2_000 })).toBe('third');
  bench.asked.length = 0;
  expect(await bench.run(meet, { passesMs: 2_000 })).toBe('third');
  expect(bench.asked).toEqual(['third']);
  expect(bench.record.fallbacks?.slice(-2)).toMatchObject([
    { from: 'first', to: 'second', reason: 'fails-more' },
    { from: 'second', to: 'third', reason: 'fails-more' },
  ]);
});

test('a model that was passed over is asked in the end, once the others have failed', async () => {
  const bench = benchOf();
  const outage: Meet = (model) => (model === 'third' ? undefined : { kind: 'path' });
  for (let nth = 0; nth < 12; nth += 1) await bench.run(outage, { passesMs: 2_000 });
  bench.asked.length = 0;
  bench.record.fallbacks = [];
  const turned: Meet = (model) => (model === 'first' ? undefined : { kind: 'path' });
  expect(await bench.run(turned, { passesMs: 10_000 })).toBe('first');
  expect([...new Set(bench.asked)]).toEqual(['third', 'first']);
  expect(bench.record.fallbacks).toMatchObject([
    { from: 'first', to: 'second', reason: 'fails-more', afterAttempts: 0 },
    { from: 'second', to: 'third', reason: 'fails-more', afterAttempts: 0 },
    { from: 'third', to: 'first', reason: 'all-tried' },
  ]);
});

test('where each model met a fault of the path, they are asked once more, and the last one again', async () => {
  const bench = benchOf(['a']);
  expect(await bench.run(() => ({ kind: 'path' }))).toBeInstanceOf(GatewayError);
  const twice = [...MODELS, ...MODELS];
  expect(bench.asked).toEqual([...twice, 'third', 'third', 'third']);
  bench.asked.length = 0;
  const fourth: Meet = (_model, nth) => (nth < 4 ? { kind: 'path' } : undefined);
  expect(await bench.run(fourth)).toBe('first');
  expect(bench.record.fallbacks?.slice(-3).map(({ to }) => to)).toEqual([
    'second',
    'third',
    'first',
  ]);
});

test('models that are at their limit, or do not know the request, are not asked again', async () => {
  const bench = benchOf(['a']);
  const met: Record<string, UpstreamFailure> = {
    first: { kind: 'rate-limited', status: 429 },
    second: { kind: 'model-not-found', status: 404 },
    third: { kind: 'path' },
  };
  await bench.run((model) => met[model]);
  expect(bench.asked).toEqual(['first', 'second', 'third', 'third', 'third', 'third']);
});

test('an outage of one model leaves the retries of another alone', async () => {
  const bench = benchOf(['a']);
  for (let nth = 0; nth < 6; nth += 1) {
    await bench.run(() => ({ kind: 'path' }), { passesMs: 2_000, models: ['first'] });
  }
  bench.asked.length = 0;
  const meet: Meet = (_model, nth) => (nth === 1 ? { kind: 'path' } : undefined);
  expect(await bench.run(meet, { passesMs: 2_000, models: ['second'] })).toBe('second');
  expect(bench.asked).toEqual(['second', 'second']);
  bench.asked.length = 0;
  await bench.run(meet, { passesMs: 2_000, models: ['first'] });
  expect(bench.asked).toEqual(['first']);
});

test('what the next model answers leaves no more retries to the one before', async () => {
  const bench = benchOf();
  const meet: Meet = (model) => (model === 'first' ? { kind: 'path' } : undefined);
  const models = ['first', 'second'];
  // Of requests that repeat each other one counts for the health of the model: it stays the first that is asked.
  const again = { passesMs: 600, models, fingerprint: 'x' };
  for (let nth = 0; nth < 40; nth += 1) expect(await bench.run(meet, again)).toBe('second');
  const retries = bench.asked.filter((model) => model === 'first').length - 40;
  expect(retries).toBeLessThanOrEqual(20);
});

test('a prompt that is too long for a model goes to the next one', async () => {
  const bench = benchOf();
  const tooLong = new GatewayError({
    kind: 'invalid-request',
    source: 'upstream',
    reason: 'context-length',
    message: 'prompt is too long',
    failure: { kind: 'rejected', status: 400 },
  });
  expect(await bench.run((model) => (model === 'third' ? undefined : tooLong))).toBe('third');
  expect(bench.record.fallbacks?.map(({ to }) => to)).toEqual(['second', 'third']);
});

test("a request's own mistake is told by the first model, and no other is asked", async () => {
  const bench = benchOf();
  const error = await bench.run(() => ({ kind: 'rejected', status: 400 }));
  expect(error).toMatchObject({ kind: 'invalid-request' });
  expect(bench.asked).toEqual(['first']);
  expect(bench.record.fallbacks).toBeUndefined();
});

test('where every model fails the client learns what the last attempt ran into', async () => {
  const bench = benchOf();
  const error = await bench.run(() => ({ kind: 'rate-limited', status: 429, retryAfterMs: 5_000 }));
  expect(error).toMatchObject({ kind: 'rate-limited', retryAfterMs: expect.any(Number) });
  expect(new Set(bench.asked)).toEqual(new Set(MODELS));
});

test.each([
  { limited: 'first', ids: ['a'] },
  { limited: 'first', ids: ['a', 'b'] },
  { limited: 'third', ids: ['a'] },
  { limited: 'third', ids: ['a', 'b'] },
])(
  'a limit of the $limited model is told, not that the others are unknown ($ids)',
  async ({ limited, ids }) => {
    const bench = benchOf(ids);
    const error = await bench.run((model) =>
      model === limited
        ? { kind: 'rate-limited', status: 429, retryAfterMs: 200_000 }
        : { kind: 'model-not-found', status: 404 },
    );
    expect(error).toMatchObject({ kind: 'rate-limited', retryAfterMs: 200_000 });
    expect(new Set(bench.asked)).toEqual(new Set(MODELS));
  },
);

const CHAIN = [
  [
    { model: { target: 'heavy', webSearch: false }, weight: 3 },
    { model: { target: 'light', upstreamId: 'u', webSearch: false }, weight: 1 },
  ],
  [{ model: { target: 'last', webSearch: false }, weight: 1 }],
];

function chosen(session: string | undefined, random = Math.random, isFallbackOff = false) {
  const clock = createFakeClock();
  const upstream = createFakeUpstream(() => ({ frames: [] }));
  const { pool } = createSeedPool({ upstream, clock, accounts: [] });
  const router = { route: () => ({ target: 'heavy', webSearch: false, chain: CHAIN }) };
  const context = { ...contextOf(), isFallbackOff };
  return routeCall({ model: 'm', protocol: 'chat' }, context, { router, pool, random, session });
}

test('a model that cannot be shown a picture is asked once those that can have failed', async () => {
  const clock = createFakeClock();
  const upstream = {
    ...createFakeUpstream(() => ({ frames: [] })),
    capabilities: (modelId: string) =>
      capabilitiesOf(modelId === 'second' ? {} : { refusesMedia: ['image'] }),
  };
  const { pool } = createSeedPool({ upstream, clock, accounts: [{ id: 'a' }] });
  const run = async (needs: NeedSet, ...refusing: readonly string[]) => {
    const record: CallRecord = { attempts: [], timings: {} };
    const routes = MODELS.map((target) => ({
      route: { target, webSearch: false },
      leaseRequest: {
        ...{ model: target, clientKeyId: 'k' },
        needs: { wire: undefined, read: () => needs },
      },
    })) as unknown as RoutedCall;
    const { signal } = new AbortController();
    const budgetOf = createRetryBudgets(clock);
    const ended = new AttemptRun(
      { routes, context: { signal, record } },
      { pool, clock, random: () => 0, budgetOf },
    ).run(async (lease, { route: { target } }) => {
      if (refusing.includes(target)) throw failed({ kind: 'model-not-found', status: 404 });
      lease.release({ kind: 'success' });
    });
    await clock.advance(1_000);
    await ended;
    const { attempts, fallbacks = [] } = record;
    return [attempts.map(({ modelId }) => modelId), fallbacks.map(({ reason }) => reason)];
  };
  const picture = needSet('image');
  expect(await run(needSet('thinking'))).toEqual([['first'], []]);
  expect(await run(picture)).toEqual([['second'], ['loses-more']]);
  const later = ['loses-more', 'all-tried', 'all-tried'];
  expect(await run(picture, 'second', 'third')).toEqual([['second', 'third', 'first'], later]);
});

test('within a step the weights share the sessions, and a session keeps its order', async () => {
  const firsts: Record<string, number> = {};
  for (let index = 0; index < 4_000; index += 1) {
    const routes = await chosen(`session ${index}`);
    expect(routes.map(({ route }) => route.target).at(-1)).toBe('last');
    const [first] = routes;
    firsts[first.route.target] = (firsts[first.route.target] ?? 0) + 1;
  }
  expect((firsts.heavy ?? 0) / 4_000).toBeGreaterThan(0.73);
  expect((firsts.heavy ?? 0) / 4_000).toBeLessThan(0.77);
  const [one, two] = [await chosen('session 7'), await chosen('session 7')];
  const namesOf = (routes: typeof one) => routes.map(({ route }) => route.target);
  expect(namesOf(one)).toEqual(namesOf(two));
  expect(one.find(({ route }) => route.target === 'light')?.leaseRequest.upstreamId).toBe('u');
});

test('within a step those go first that lose nothing of the request, whatever their weight', async () => {
  const clock = createFakeClock();
  const blind = {
    ...createFakeUpstream(() => ({ frames: [] })),
    listModels: async () => [{ id: 'heavy' }, { id: 'light' }, { id: 'last' }],
    capabilities: (modelId: string) =>
      capabilitiesOf(modelId === 'heavy' ? { refusesMedia: ['image'] } : {}),
  };
  const { pool } = createSeedPool({ upstream: blind, clock, accounts: [{ id: 'a' }] });
  const step = ['heavy', 'light'].map((target, at) => ({
    model: { target, webSearch: false },
    weight: 1_000_000 - at * 999_999,
  }));
  const last = [{ model: { target: 'last', webSearch: false }, weight: 1 }];
  const router = {
    route: () => ({ target: 'heavy', webSearch: false, chain: [step, last] }),
  };
  const orderFor = async (...parts: readonly Part[]) => {
    const call = {
      model: 'm',
      protocol: 'chat',
      request: requestOf({ turns: [user(...parts)] }),
    } as const;
    const routes = await routeCall(call, contextOf(), { router, pool, random: () => 0.5 });
    return routes.map(({ route }) => route.target);
  };
  const picture: Part = {
    kind: 'media',
    modality: 'image',
    source: { kind: 'base64', base64: 'AAAA' },
  };
  expect(await orderFor(text('hello'))).toEqual(['heavy', 'light', 'last']);
  expect(await orderFor(picture)).toEqual(['light', 'heavy', 'last']);
});

test.each(['a client', 'the settings'])(
  'the model whose account %s names is asked first, while that account serves',
  async (who) => {
    const clock = createFakeClock();
    const played = createFakeUpstream(() => ({ frames: [] }));
    const ids = ['first', 'second', 'third'];
    const upstreams = new Map(ids.map((id) => [id, { ...played, id }]));
    const accounts = [
      ...ids.map((id) => ({ id: `of-${id}`, upstreamId: id })),
      { id: 'other', upstreamId: 'third' },
    ];
    let wanted: string | undefined;
    const settings = () => ({ fixedAccount: who === 'a client' ? undefined : wanted });
    const { pool, book } = createSeedPool({
      upstream: played,
      upstreams,
      clock,
      accounts,
      settings,
    });
    const chain = ids.map((id) => [
      { model: { target: 'm', upstreamId: id, webSearch: false }, weight: 1 },
    ]);
    const router = { route: () => ({ target: 'm', webSearch: false, chain }) };
    const order = async (account?: string) => {
      wanted = account;
      const preferredAccount = who === 'a client' ? account && `${account}@example.org` : undefined;
      const context = { ...contextOf(), preferredAccount };
      const routes = await routeCall({ model: 'm', protocol: 'chat' }, context, {
        router,
        pool,
        random: () => 0,
      });
      return routes.map(({ route }) => route.upstreamId);
    };
    expect(await order()).toEqual(['first', 'second', 'third']);
    expect(await order('of-third')).toEqual(['third', 'first', 'second']);
    expect(await order('nobody')).toEqual(['first', 'second', 'third']);
    const failure = { kind: 'rate-limited', retryAfterMs: 60_000 } as const;
    book.apply('of-third', { kind: 'failure', model: 'm', failure });
    expect(await order('of-third')).toEqual(['first', 'second', 'third']);
  },
);

test('without fallback only the first is asked', async () => {
  expect(await chosen('s', () => 0.5, true)).toHaveLength(1);
});

test.each<readonly [string, (nth: number) => boolean]>([
  ['fails one attempt in ten', (nth) => nth % 10 === 3],
  ['is dead', () => true],
])(
  'while the first model %s no request is lost, and few attempts are made in vain',
  async (_what, fails) => {
    const clock = createFakeClock();
    const upstream = createFakeUpstream(() => ({ frames: [] }));
    let seed = 1;
    const random = (): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const accounts = [{ id: 'a' }, { id: 'b' }];
    const { pool } = createSeedPool({ upstream, clock, accounts, random });
    const budgetOf = createRetryBudgets(clock);
    let [attempts, ofFirst, lost] = [0, 0, 0];
    const requests = 1_500;
    const pending: Promise<void>[] = [];
    for (let nth = 0; nth < requests; nth += 1) {
      const routes = MODELS.slice(0, 2).map((target) => ({
        route: { target, webSearch: false },
        leaseRequest: { model: target, clientKeyId: `k${nth % 5}` },
      })) as unknown as RoutedCall;
      const { signal } = new AbortController();
      const ended = new AttemptRun(
        { routes, context: { signal, record: { attempts: [], timings: {} } } },
        { pool, clock, random, budgetOf },
      )
        .run(async (lease, { route }) => {
          attempts += 1;
          if (route.target === 'first') {
            ofFirst += 1;
            if (fails(ofFirst)) throw failed({ kind: 'path', status: 500 });
          }
          lease.release({ kind: 'success' });
        })
        .catch(() => {
          lost += 1;
        });
      pending.push(ended);
      await clock.advance(50);
    }
    await clock.advance(30_000);
    await Promise.all(pending);
    expect(lost).toBe(0);
    expect(attempts / requests).toBeLessThan(1.3);
  },
);
