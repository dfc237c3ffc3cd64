import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createAccount } from '../accounts/account.test-support.ts';
import type { Account } from '../accounts/account.ts';
import { HEALTHY } from '../accounts/health.ts';
import { GatewayError } from '../canonical/error.ts';
import type { UpstreamQuota } from '../canonical/quota.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import { createFakeBook, createReading } from './quota.test-support.ts';
import { QuotaRefresher } from './refresher.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const INTERVAL = 5 * MINUTE;

const HALF: UpstreamQuota = {
  tier: 'pro',
  projectId: 'p',
  models: [{ id: 'm', remainingFraction: 0.5, resetsAt: undefined }],
};

function setUp(
  accounts: readonly Account[],
  answer: () => Promise<UpstreamQuota | undefined>,
  random: () => number = () => 0.5,
) {
  const clock = createFakeClock();
  const book = createFakeBook(accounts);
  const asked: { readonly id: string; readonly at: number }[] = [];
  const warnings: object[] = [];
  const settings = { refreshIntervalMs: INTERVAL };
  const upstream: Pick<Upstream, 'modelIds' | 'readQuota'> = {
    modelIds: (name) => [name, `old-${name}`],
    readQuota: ({ accountId }) => {
      asked.push({ id: accountId, at: clock.now() });
      return answer();
    },
  };
  const upstreams = new Map([['u', upstream]]);
  const refresher = new QuotaRefresher({
    ...{ book, upstreams },
    tokens: {
      accessFor: async ({ record }) => ({
        accountId: record.id,
        credential: 'c',
        credentialKind: 'api-key',
      }),
    },
    settings: () => ({
      ...settings,
      protection: { enabled: false, thresholdPercent: 10, models: [] },
    }),
    normalizeName: (name) => name.toLowerCase().replace(/^other-/, 'own-'),
    clock,
    random,
    log: { warn: (fields) => warnings.push(fields) },
  });
  return { clock, book, asked, warnings, refresher, settings, upstreams, upstream };
}

const known = (id: string): Account =>
  createAccount(id, { quotas: new Map([['m', createReading()]]) });

test('an account without figures is asked at once, one with figures on its turn', async () => {
  const { clock, book, asked, refresher } = setUp(
    [createAccount('new'), known('old')],
    async () => HALF,
  );
  refresher.start();
  await clock.advance(0);
  expect(asked.map(({ id }) => id)).toEqual(['new']);
  expect(book.find('new')?.quotas.get('m')).toEqual({
    remainingFraction: 0.5,
    resetsAt: undefined,
    source: 'upstream',
    fetchedAt: clock.now(),
  });
  await clock.advance(INTERVAL);
  expect(asked.filter(({ id }) => id === 'old')).toHaveLength(1);
  refresher.close();
  expect(clock.pendingTimers).toBe(0);
});

test('a hundred accounts spread over the interval, never more than five in a second', async () => {
  const accounts = Array.from({ length: 100 }, (_, index) => known(`account-${index}`));
  const { clock, asked, refresher } = setUp(accounts, async () => HALF);
  const startedAt = clock.now();
  refresher.start();
  for (let step = 0; step < 30; step += 1) await clock.advance(INTERVAL / 10);
  const times = asked.map(({ at }) => at - startedAt);
  expect(new Set(asked.map(({ id }) => id)).size).toBe(100);
  for (const time of times) {
    expect(times.filter((other) => other >= time && other < time + 1000).length).toBeLessThan(6);
  }
  const firstRound = times.filter((time) => time <= INTERVAL);
  expect(Math.max(...firstRound) - Math.min(...firstRound)).toBeGreaterThan(0.8 * INTERVAL);
  // Three intervals: about three turns each, none skipped and none doubled.
  expect(asked.length).toBeGreaterThan(250);
  expect(asked.length).toBeLessThan(350);
  refresher.close();
});

test.each([
  [0, MINUTE],
  [1, MINUTE],
  [5 * MINUTE, 5 * MINUTE],
  [30 * DAY, DAY],
  [Number.MAX_SAFE_INTEGER, DAY],
])(
  'an interval of %i ms is one of %i: turns come about once in each, also behind early and late ones (P199)',
  async (given, interval) => {
    const ids = Array.from({ length: 50 }, (_, index) => `account ${index}`);
    const early = [0, 0.999, 0.5];
    let turn = 0;
    const random = () => early[turn++ % early.length] ?? 0;
    const { clock, asked, refresher, settings } = setUp(ids.map(known), async () => HALF, random);
    settings.refreshIntervalMs = given;
    const startedAt = clock.now();
    refresher.start();
    for (let step = 0; step < 50; step += 1) await clock.advance(interval / 10);
    for (const id of ids) {
      const times = asked.filter((one) => one.id === id).map(({ at }) => at - startedAt);
      const [first = interval] = times;
      expect(first).toBeLessThan(interval);
      expect(times.length).toBeGreaterThanOrEqual(4);
      for (const [index, time] of times.entries()) {
        expect(Math.abs(time - first - index * interval)).toBeLessThanOrEqual(0.15 * interval);
      }
    }
    refresher.close();
  },
);

test('whoever asks while a refresh runs shares its answer', async () => {
  const { clock, asked, refresher } = setUp([known('a')], async () => HALF);
  const outcomes = Promise.all([refresher.refreshNow('a'), refresher.refreshNow('a')]);
  await clock.advance(0);
  expect(await outcomes).toEqual([
    { kind: 'read', models: 1 },
    { kind: 'read', models: 1 },
  ]);
  expect(asked).toHaveLength(1);
  refresher.close();
});

test('a change while the upstream is being asked makes it be asked once more', async () => {
  const answers: (() => void)[] = [];
  const { clock, asked, refresher } = setUp([known('a')], async () => {
    await new Promise<void>((resolve) => answers.push(resolve));
    return HALF;
  });
  refresher.noteChanged('a');
  await clock.advance(0);
  refresher.noteChanged('a');
  refresher.noteChanged('a');
  answers[0]?.();
  await clock.advance(1000);
  answers[1]?.();
  await clock.advance(1000);
  expect(asked).toHaveLength(2);
  refresher.close();
});

test.each(['credential-revoked', 'verification-required'] as const)(
  'what ends the whole account (%s) is held against it before a request meets it',
  async (kind) => {
    const failure = { kind };
    const { clock, book, refresher } = setUp([known('a')], async () => {
      throw new GatewayError({ kind: 'upstream-auth', source: 'upstream', message: 'no', failure });
    });
    const startedAt = clock.now();
    void refresher.refreshNow('a');
    await clock.advance(0);
    expect(book.events).toEqual([
      { id: 'a', event: { kind: 'failure', model: '', failure, startedAt } },
    ]);
    refresher.close();
  },
);

test('rows the upstream no longer names are removed', async () => {
  const quotas = new Map([['gone', createReading()]]);
  const { clock, book, refresher } = setUp([createAccount('a', { quotas })], async () => HALF);
  void refresher.refreshNow('a');
  await clock.advance(0);
  expect([...(book.find('a')?.quotas.keys() ?? [])]).toEqual(['m']);
  refresher.close();
});

test('tier and project the upstream reports reach the record, of the environment too; a given project stays', async () => {
  const fixed = createAccount('b', { record: { ...createAccount('b').record, projectId: 'own' } });
  const seed = createAccount('a', { origin: 'environment' });
  const { clock, book, refresher } = setUp([seed, fixed], async () => HALF);
  refresher.start();
  await clock.advance(1000);
  expect(book.changes).toEqual([
    { id: 'a', change: { tier: 'pro', projectId: 'p' } },
    { id: 'b', change: { tier: 'pro' } },
  ]);
  refresher.close();
});

test('figures are read again two seconds behind the first end of a window', async () => {
  const { clock, asked, refresher } = setUp([createAccount('a')], async () => ({
    ...HALF,
    models: [-1, 30_000, 20_000, 2 * INTERVAL].map((leftMs) => ({
      id: `m${leftMs}`,
      remainingFraction: 0,
      resetsAt: clock.now() + leftMs,
    })),
  }));
  refresher.start();
  await clock.advance(0);
  await clock.advance(21_999);
  expect(asked).toHaveLength(1);
  await clock.advance(1);
  expect(asked).toHaveLength(2);
  refresher.close();
});

test('figures of an account with a new credential are forgotten, and read at once', async () => {
  const { clock, book, asked, refresher } = setUp([known('a')], async () => undefined);
  refresher.start();
  book.reauthenticate(known('a'));
  await clock.advance(0);
  expect(asked.map(({ id }) => id)).toEqual(['a']);
  expect([...(book.find('a')?.quotas ?? [])]).toEqual([]);
  refresher.close();
});

test('figures that come late of an upstream that was changed meanwhile are not taken', async () => {
  const late = Promise.withResolvers<UpstreamQuota>();
  const { clock, book, refresher, upstreams, upstream } = setUp(
    [createAccount('a')],
    () => late.promise,
  );
  refresher.start();
  await clock.advance(0);
  upstreams.set('u', { ...upstream, readQuota: async () => undefined });
  book.reauthenticate(createAccount('a'));
  late.resolve(HALF);
  await clock.advance(1_000);
  expect([...(book.find('a')?.quotas ?? [])]).toEqual([]);
  refresher.close();
});

test('a failure keeps the old figures, is told, and the turns go on', async () => {
  const { clock, book, asked, warnings, refresher } = setUp([known('a')], async () => {
    throw new Error('no route');
  });
  const outcome = refresher.refreshNow('a');
  await clock.advance(0);
  expect(await outcome).toEqual({ kind: 'failed', message: 'no route' });
  expect(book.find('a')?.quotas.get('m')).toEqual(createReading());
  expect(warnings).toEqual([{ account: 'a', error: 'no route' }]);
  await clock.advance(2 * INTERVAL);
  expect(asked.length).toBeGreaterThan(1);
  refresher.close();
});

test('an upstream that reports nothing leaves the figures alone', async () => {
  const { clock, book, refresher } = setUp([known('a')], async () => undefined);
  const outcome = refresher.refreshNow('a');
  await clock.advance(0);
  expect(await outcome).toEqual({ kind: 'not-reported' });
  expect(book.find('a')?.quotas.size).toBe(1);
  refresher.close();
});

test('a disabled account is not asked on its turns', async () => {
  const health = {
    ...HEALTHY,
    status: { kind: 'disabled', reason: 'manual' },
  } as Account['health'];
  const { clock, asked, refresher } = setUp([{ ...known('a'), health }], async () => HALF);
  refresher.start();
  await clock.advance(3 * INTERVAL);
  expect(asked).toEqual([]);
  refresher.close();
});

test('an account that is enabled again has its turns again', async () => {
  const health = {
    ...HEALTHY,
    status: { kind: 'disabled', reason: 'manual' },
  } as Account['health'];
  const { clock, book, asked, refresher } = setUp([{ ...known('a'), health }], async () => HALF);
  refresher.start();
  await clock.advance(3 * INTERVAL);
  book.replace(known('a'));
  await clock.advance(2 * INTERVAL);
  expect(asked.length).toBeGreaterThan(0);
  refresher.close();
});

test('figures are dated by when they were asked for, not by when they came', async () => {
  const { clock, book, refresher } = setUp([known('a')], async () => {
    await clock.sleep(3000, new AbortController().signal);
    return HALF;
  });
  const askedAt = clock.now();
  void refresher.refreshNow('a');
  await clock.advance(3000);
  expect(book.find('a')?.quotas.get('m')?.fetchedAt).toBe(askedAt);
  refresher.close();
});

test('an added account is asked at once, a removed one never again', async () => {
  const { clock, book, asked, refresher } = setUp([], async () => HALF);
  refresher.start();
  book.put(createAccount('a'));
  await clock.advance(0);
  expect(asked).toHaveLength(1);
  await book.remove('a');
  await clock.advance(3 * INTERVAL);
  expect(asked).toHaveLength(1);
  expect(await refresher.refreshNow('a')).toEqual({ kind: 'gone' });
  refresher.close();
});

test('a changed interval acts with the next plan', async () => {
  const { clock, asked, refresher, settings } = setUp([known('a')], async () => HALF);
  refresher.start();
  settings.refreshIntervalMs = MINUTE;
  refresher.reschedule();
  await clock.advance(10 * MINUTE);
  expect(asked.length).toBeGreaterThan(8);
  refresher.close();
});

const rows = (...names: readonly (readonly [string, number])[]): UpstreamQuota => ({
  tier: undefined,
  projectId: undefined,
  models: names.map(([id, remainingFraction]) => ({ id, remainingFraction, resetsAt: undefined })),
});

const leftOf = (account: Account | undefined) =>
  Object.fromEntries(
    [...(account?.quotas ?? [])].map(([id, { remainingFraction }]) => [id, remainingFraction]),
  );

test('figures go by the account’s own ids, however the upstream spells them', async () => {
  const models = new Map(['Own-Flash', 'own-pro'].map((id) => [id, { id }]));
  const { clock, book, refresher } = setUp(
    [createAccount('a', { models }), createAccount('b')],
    async () => rows(['own-pro', 0.5], ['OTHER-flash', 0], ['other-pro', 0.9], ['elsewhere', 1]),
  );
  refresher.start();
  await clock.advance(1000);
  expect(leftOf(book.find('a'))).toEqual({ 'Own-Flash': 0, 'own-pro': 0.5, elsewhere: 1 });
  // Without a list, the upstream says how it spells the name.
  expect(leftOf(book.find('b'))).toEqual({ 'own-flash': 0, 'own-pro': 0.5, elsewhere: 1 });
  refresher.close();
});

test('figures that came before the list of models are found under its ids', async () => {
  const { clock, book, refresher } = setUp([createAccount('a')], async () =>
    rows(['own-pro', 0.2]),
  );
  refresher.start();
  await clock.advance(1000);
  const account = book.find('a');
  if (account === undefined) throw new Error('The account is gone.');
  book.learnModels({ ...account, models: new Map([['OWN-Pro', { id: 'OWN-Pro' }]]) });
  expect(leftOf(book.find('a'))).toEqual({ 'OWN-Pro': 0.2 });
  refresher.close();
});
