import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dailyBudget } from '../../test/support/budgets.ts';
import { createChannel } from '../../test/support/channel.ts';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createMemoryAccessStores } from '../../test/support/memory-access-stores.ts';
import { GatewayError } from '../canonical/error.ts';
import { Counters, LocalBank } from '../cluster/counters.ts';
import { createMemoryCluster, Hub } from '../cluster/memory.ts';
import { createWorkerCluster, serveWorker } from '../cluster/parent.ts';
import { ApiKeys } from './api-keys.ts';
import {
  BUDGET_PERIODS,
  BUDGET_UNITS,
  type BudgetStore,
  Budgets,
  type BudgetUnit,
  levelOf,
  type NewBudget,
  type StoredBudgets,
  sayBudget,
} from './budgets.ts';
import type { CallCost, Reservation } from './usage-meter.ts';

const NOON = Date.UTC(2026, 10, 27, 12);
const HOUR = 3_600_000;

async function open(options: Partial<ConstructorParameters<typeof Budgets>[0]> = {}) {
  const clock = createFakeClock(NOON);
  const { clientKeys, budgets: store } = createMemoryAccessStores();
  let count = 0;
  const createId = (prefix: string) => `${prefix}${++count}`;
  const start = async () => {
    const counters = new Counters({ bank: new LocalBank(clock), clock });
    const parts = { clock, createId, counters };
    const budgets = new Budgets({ store, ...parts, ...options }, await store.list(0));
    const keys = new ApiKeys(
      { store: clientKeys, digestKey: Buffer.alloc(32, 1), budgets, ...parts },
      await clientKeys.list(),
    );
    return { budgets, keys };
  };
  const first = await start();
  const { listed } = await first.keys.create({ name: 'Ada', team: 'Lab' });
  return { clock, ...first, id: listed.key.id, restart: start };
}

/** A call of a prompt of 100 tokens and an answer of so many at most. */
function call(answerTokens: number, change: Partial<CallCost> = {}) {
  const most = { inputTokens: 100, answers: 1, answerTokens, baseNanos: 1000, tokenNanos: 10 };
  return { model: 'alpha-3-flash', tokens: 100, images: 0, most, ...change };
}

function attempt(keys: ApiKeys, id: string, asked = call(500)): Reservation | GatewayError {
  try {
    const admitted = keys.admit(id, asked);
    if (admitted instanceof Promise) throw new Error('One process answers at once.');
    return admitted;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

const isAdmitted = (outcome: Reservation | GatewayError): outcome is Reservation =>
  !(outcome instanceof GatewayError);

test('of two hundred requests and pictures at once exactly as many pass as the budget has (T29)', async () => {
  for (const unit of ['requests', 'images'] as const) {
    const { budgets, keys, id } = await open();
    await budgets.create(dailyBudget(id, unit, 20));
    const images = unit === 'images' ? 1 : 0;
    const ask = () => attempt(keys, id, call(500, { images }));
    const outcomes = Array.from({ length: 200 }, ask);
    expect(outcomes.filter(isAdmitted)).toHaveLength(20);
    const kinds = new Set(
      outcomes.filter((one) => one instanceof GatewayError).map(({ kind }) => kind),
    );
    // Pictures that are being drawn may fail, and are there again then.
    expect([...kinds]).toEqual([unit === 'requests' ? 'quota-exhausted' : 'rate-limited']);
    for (const one of outcomes.filter(isAdmitted).slice(0, 15))
      one.settle({ tokens: 0, images, nanos: 0 });
    for (const one of outcomes.filter(isAdmitted).slice(15))
      one.settle({ tokens: 0, images: 0, nanos: 0 });
    const left = unit === 'images' ? 5 : 0;
    expect(Array.from({ length: 50 }, ask).filter(isAdmitted)).toHaveLength(left);
  }
});

test('a budget says what it is and when it begins anew, and begins anew then', async () => {
  const { budgets, keys, clock, id } = await open();
  await budgets.create({ ...dailyBudget('', 'requests', 1), scope: 'team', subject: 'Lab' });
  expect(isAdmitted(attempt(keys, id))).toBe(true);
  expect(attempt(keys, id)).toMatchObject({
    ...{ kind: 'quota-exhausted', retryAfterMs: 12 * HOUR },
    message:
      'The team Lab has used its budget of 1 request a day. It resets at 2026-11-28T00:00:00Z (days of UTC), in 12 h 0 min.',
  });
  await clock.advance(12 * HOUR - 1);
  expect(isAdmitted(attempt(keys, id))).toBe(false);
  await clock.advance(1);
  expect(isAdmitted(attempt(keys, id))).toBe(true);
});

test('an answer gets what a budget has left, and what runs is waited for only where it helps', async () => {
  const { budgets, keys, id } = await open();
  await budgets.create(dailyBudget(id, 'tokens', 5000));
  const first = attempt(keys, id, call(60_000));
  expect(first).toMatchObject({ answerTokens: 4900 });
  expect(attempt(keys, id, call(60_000))).toMatchObject({
    ...{ kind: 'rate-limited', retryAfterMs: 3000 },
    message: expect.stringContaining(
      'Running requests have reserved the rest of the budget of 5000',
    ),
  });
  if (isAdmitted(first)) first.settle({ tokens: 900 });
  expect(attempt(keys, id, call(200))).toMatchObject({ answerTokens: undefined });
  expect(attempt(keys, id, call(60_000))).toMatchObject({ answerTokens: 3700 });
});

test('what is left is used to the last, and then refused until the period ends', async () => {
  const { budgets, keys, id } = await open();
  await budgets.create(dailyBudget(id, 'tokens', 1000));
  let used = 0;
  for (const _ of Array.from({ length: 9 })) {
    const one = attempt(keys, id, call(60_000));
    if (!isAdmitted(one)) break;
    const answer = Math.min(50, one.answerTokens ?? 50);
    used += 100 + answer;
    one.settle({ tokens: 100 + answer });
  }
  expect(used).toBe(900);
  expect(attempt(keys, id)).toMatchObject({
    kind: 'quota-exhausted',
    message: expect.stringContaining('has 100 tokens left of its budget of 1000 tokens a day'),
  });
});

test('what is left of an amount of money is told in digits, however little it is', async () => {
  const { budgets, keys, id } = await open();
  await budgets.create(dailyBudget(id, 'money', 120));
  expect(attempt(keys, id)).toMatchObject({
    message: expect.stringContaining('has 0.00000012 USD left of its budget of 0.00000012 USD'),
  });
});

test('tokens and money never exceed their budgets, whatever runs at once and however it ends', () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom<BudgetUnit>('tokens', 'money'),
      fc.integer({ min: 1, max: 20_000 }),
      fc.array(fc.tuple(fc.integer({ min: 0, max: 3000 }), fc.nat(), fc.boolean()), {
        maxLength: 60,
      }),
      async (unit, amount, calls) => {
        const { budgets, keys, id } = await open();
        await budgets.create(dailyBudget(id, unit, amount));
        const running: { readonly one: Reservation; readonly most: number }[] = [];
        const usedNow = () => budgets.list()[0]?.used ?? 0;
        for (const [length, rest, ends] of calls) {
          const one = attempt(keys, id, call(length));
          if (isAdmitted(one)) running.push({ one, most: one.answerTokens ?? length });
          const done = ends ? running.shift() : undefined;
          if (done !== undefined) {
            const answer = rest % (done.most + 1);
            done.one.settle({ tokens: 100 + answer, nanos: 1000 + 10 * answer });
          }
          expect(usedNow()).toBeLessThanOrEqual(amount);
        }
        for (const { one, most } of running)
          one.settle({ tokens: 100 + most, nanos: 1000 + 10 * most });
        expect(usedNow()).toBeLessThanOrEqual(amount);
        expect(budgets.list()[0]?.reserved).toBe(0);
      },
    ),
    { numRuns: 60 },
  ));

test('a call that several budgets refuse or shorten takes nothing of any of them', async () => {
  const { budgets, keys, id } = await open();
  await budgets.create(dailyBudget(id, 'tokens', 10_000));
  await budgets.create({ ...dailyBudget('', 'requests', 2), scope: 'gateway', subject: undefined });
  await budgets.create({ ...dailyBudget('', 'money', 3000), scope: 'team', subject: 'Lab' });
  // 3000 less 1000 for the prompt are 200 tokens of an answer.
  const one = attempt(keys, id, call(60_000));
  expect(one).toMatchObject({ answerTokens: 200 });
  expect(budgets.list().map(({ used, reserved }) => [used, reserved])).toEqual([
    [0, 300],
    [1, 0],
    [0, 3000],
  ]);
  expect(attempt(keys, id)).toMatchObject({ kind: 'rate-limited' });
  if (isAdmitted(one)) one.settle({ tokens: 100, nanos: 0 });
  expect(isAdmitted(attempt(keys, id))).toBe(true);
  expect(attempt(keys, id)).toMatchObject({ kind: 'quota-exhausted' });
  expect(budgets.list()[0]).toMatchObject({ used: 100, reserved: 300 });
});

test('a soft budget refuses nothing, and both kinds warn from their share on', async () => {
  const { budgets, keys, id } = await open();
  await budgets.create({ ...dailyBudget(id, 'requests', 5), isHard: false, warnPercent: 60 });
  const levels: string[] = [];
  for (const _ of Array.from({ length: 7 })) {
    expect(isAdmitted(attempt(keys, id))).toBe(true);
    levels.push(...budgets.list().map(levelOf));
  }
  expect(levels).toEqual(['ok', 'ok', 'warning', 'warning', 'spent', 'spent', 'spent']);
});

test('what was used survives a restart, also of what nobody settled', async () => {
  const { budgets, keys, id, restart } = await open();
  await budgets.create(dailyBudget(id, 'requests', 3));
  await budgets.create(dailyBudget(id, 'tokens', 1000));
  const [done, _open] = [attempt(keys, id), attempt(keys, id, call(10))];
  if (isAdmitted(done)) done.settle({ tokens: 300 });
  await budgets.close();
  const again = await restart();
  expect(again.budgets.list().map(({ used }) => used)).toEqual([2, 300]);
  expect(isAdmitted(attempt(again.keys, id))).toBe(true);
  expect(attempt(again.keys, id)).toMatchObject({ kind: 'quota-exhausted' });
});

test('a budget that is made within its period counts what records say was used in it', async () => {
  const asked: [NewBudget, object][] = [];
  const usedIn = async (budget: NewBudget, period: object) => {
    asked.push([budget, period]);
    return 7;
  };
  const { budgets, keys, id } = await open({ usedIn });
  const monthly = {
    ...dailyBudget(id, 'requests', 8),
    period: 'month',
    timeZone: 'Europe/Berlin',
  } as const;
  expect(await budgets.create(monthly)).toMatchObject({ used: 7 });
  const from = Date.parse('2026-11-01T00:00:00+01:00');
  // To its end: another replica may be ahead.
  expect(asked).toEqual([[monthly, { from, until: Date.parse('2026-12-01T00:00:00+01:00') }]]);
  expect([isAdmitted(attempt(keys, id)), isAdmitted(attempt(keys, id))]).toEqual([true, false]);
});

test('no process finds a budget without what was used of it before', async () => {
  const { budgets: store } = createMemoryAccessStores();
  const found: StoredBudgets[] = [];
  const looking = async <Done>(done: Promise<Done>): Promise<Done> => {
    await done;
    found.push(await store.list(0));
    return done;
  };
  const watched: BudgetStore = {
    ...store,
    insert: (...made) => looking(store.insert(...made)),
    addUses: (uses) => looking(store.addUses(uses)),
  };
  const { budgets, id } = await open({ store: watched, usedIn: async () => 7 });
  await budgets.create(dailyBudget(id, 'requests', 8));
  for (const { uses } of found) expect(uses).toMatchObject([{ used: 7 }]);
});

/** Two workers with one budget store, of which one is slow to read it. */
async function openWorkers() {
  const clock = createFakeClock(NOON);
  const hub = new Hub(clock);
  const { budgets: store, clientKeys } = createMemoryAccessStores();
  let reading: Promise<void> | undefined;
  const slowly = async <Found>(found: Promise<Found>): Promise<Found> => {
    await found;
    await reading;
    return found;
  };
  const slow = {
    budgets: { ...store, list: (since: number) => slowly(store.list(since)) },
    keys: { ...clientKeys, list: () => slowly(clientKeys.list()) },
  };
  const enter = (replica: string) => {
    const [parentEnd, channel] = createChannel();
    const leave = serveWorker(hub, parentEnd);
    const onFault = (error: unknown): void => expect.fail(String(error));
    return { cluster: createWorkerCluster({ replica, channel, clock, onFault }), leave };
  };
  const load = (
    { cluster, leave }: ReturnType<typeof enter>,
    stores = { budgets: store, keys: clientKeys },
  ) => {
    const counters = new Counters({ bank: cluster.bank, clock });
    const parts = { clock, cluster, counters, createId: (prefix: string) => `${prefix}1` };
    const budgets = new Budgets({ store: stores.budgets, ...parts });
    const digestKey = Buffer.alloc(32, 1);
    const keys = new ApiKeys({ store: stores.keys, digestKey, budgets, ...parts });
    return { budgets, keys, cluster, leave };
  };
  const join = (replica: string) => load(enter(replica));
  const [one, other] = [join('one'), load(enter('other'), slow)];
  const { id } = (await one.keys.create({ name: 'Ada' })).listed.key;
  await clock.advance(0);
  return {
    ...{ clock, one, other, id, join, enter, load },
    used: () => [one, other].map(({ budgets }) => budgets.list()[0]?.used),
    async readSlowly(work: () => Promise<void>) {
      const done = Promise.withResolvers<void>();
      reading = done.promise;
      await work();
      done.resolve();
      await clock.advance(0);
    },
  };
}

test('what is used of a budget while others read it is the same everywhere', async () => {
  const { clock, one, id, used, readSlowly } = await openWorkers();
  await readSlowly(async () => {
    void one.budgets.create(dailyBudget(id, 'requests', 9));
    await clock.advance(0);
    await one.keys.admit(id, call(9));
    await one.keys.admit(id, call(9));
    await clock.advance(50);
  });
  expect(used()).toEqual([2, 2]);
  await clock.advance(2_000);
  expect(used()).toEqual([2, 2]);
});

test('a budget and the limits of a key that are answered to be changed are so at every process', async () => {
  const { clock, one, other, id, readSlowly } = await openWorkers();
  const known: unknown[] = [];
  const changeSlowly = (change: Promise<unknown>): Promise<void> =>
    readSlowly(async () => {
      void change.then(() =>
        known.push([
          other.budgets.list()[0]?.budget.amount,
          other.keys.get(id)?.key.requestsPerMinute,
        ]),
      );
      await clock.advance(1_000);
    });
  const { budget } = await one.budgets.create(dailyBudget(id, 'requests', 9));
  await changeSlowly(one.budgets.change(budget.id, { amount: 5 }, undefined));
  await changeSlowly(one.keys.change(id, { requestsPerMinute: 7 }, undefined));
  await changeSlowly(one.budgets.remove(budget.id));
  await changeSlowly(one.budgets.create(dailyBudget(id, 'tokens', 500)));
  expect(known).toEqual([
    [5, undefined],
    [5, 7],
    [undefined, 7],
    [500, 7],
  ]);
});

test('what runs while a budget is made is counted in it when it ends, at once and wherever that is', async () => {
  const clock = createFakeClock(NOON);
  const hub = new Hub(clock);
  const { budgets: store, clientKeys } = createMemoryAccessStores();
  const waiting: (() => void)[] = [];
  let count = 0;
  const join = (replica: string) => {
    const onFault = (error: unknown): void => expect.fail(String(error));
    const member = createMemoryCluster({ replica, clock, hub, onFault });
    const { tell, listen } = member.notices;
    // What may wait is told in the end only.
    const late: typeof tell = (topic, notice, canWait) => {
      if (canWait === undefined) tell(topic, notice);
      else waiting.push(() => tell(topic, notice));
    };
    const cluster = { ...member, notices: { tell: late, listen } };
    const counters = new Counters({ bank: cluster.bank, clock });
    const parts = { clock, cluster, counters, createId: (prefix: string) => `${prefix}${++count}` };
    const budgets = new Budgets({ store, ...parts });
    const digestKey = Buffer.alloc(32, 1);
    return { budgets, keys: new ApiKeys({ store: clientKeys, digestKey, budgets, ...parts }) };
  };
  const [one, other] = [join('one'), join('other')];
  const { id } = (await one.keys.create({ name: 'Ada' })).listed.key;
  const running = await Promise.all([one, other].map(({ keys }) => keys.admit(id, call(500))));
  for (const unit of BUDGET_UNITS)
    await one.budgets.create(dailyBudget(id, unit, unit === 'requests' ? 2 : 9000));
  running[0]?.settle({ tokens: 300, images: 1, nanos: 200 });
  running[1]?.settle({ tokens: 100, images: 0, nanos: 700 });
  expect(attempt(other.keys, id)).toMatchObject({ kind: 'quota-exhausted' });
  for (const tell of waiting) tell();
  for (const { budgets } of [one, other])
    expect(budgets.list().map(({ used }) => used)).toEqual([2, 1, 400, 900]);
});

test('a change is answered where another process hangs or is gone', async () => {
  const { clock, one, other, id } = await openWorkers();
  other.cluster.close();
  let isMade = false;
  void one.budgets.create(dailyBudget(id, 'tokens', 500)).then(() => {
    isMade = true;
  });
  await clock.advance(4_900);
  expect(isMade).toBe(false);
  await clock.advance(100);
  expect(isMade).toBe(true);
  const changed = one.keys.change(id, { requestsPerMinute: 7 }, undefined);
  await clock.advance(0);
  other.leave();
  expect(await changed).toMatchObject({ key: { requestsPerMinute: 7 } });
});

test('a change waits for a process that begins no longer than until that has read everything', async () => {
  const { clock, one, id, enter, load } = await openWorkers();
  const member = enter('late');
  await clock.advance(0);
  const made = one.budgets.create(dailyBudget(id, 'tokens', 500));
  await clock.advance(1_000);
  const { budgets, cluster } = load(member);
  cluster.catchUp();
  await clock.advance(0);
  expect(budgets.list()).toEqual([await made]);
});

test('what is used of a budget and read before it is told counts once', async () => {
  const { clock, one, other, id, used } = await openWorkers();
  await one.budgets.create(dailyBudget(id, 'requests', 9));
  await clock.advance(0);
  await one.keys.admit(id, call(9));
  await clock.advance(990);
  await one.keys.admit(id, call(9));
  // It is saved, and would be told a moment later.
  await clock.advance(10);
  other.cluster.catchUp();
  await clock.advance(50);
  expect(used()).toEqual([2, 2]);
});

test('a process that begins knows within a second what others used of a budget', async () => {
  const { clock, one, other, id, join } = await openWorkers();
  await one.budgets.create(dailyBudget(id, 'tokens', 9000));
  await clock.advance(0);
  (await one.keys.admit(id, call(500))).settle({ tokens: 300 });
  const running = await other.keys.admit(id, call(500));
  await clock.advance(50);
  const late = join('late');
  late.cluster.catchUp();
  running.settle({ tokens: 0 });
  await clock.advance(1_000);
  for (const { budgets } of [one, other, late])
    expect(budgets.list()).toMatchObject([{ used: 300, reserved: 0 }]);
});

test('what no period has room for is refused for good', async () => {
  const { budgets, keys, id } = await open();
  const { budget } = await budgets.create(dailyBudget(id, 'images', 3));
  expect(attempt(keys, id, call(9, { images: 4 }))).toMatchObject({
    ...{ kind: 'forbidden', reason: 'key-rejected' },
    message: expect.stringContaining('has a budget of 3 images a day, and this request asks for 4'),
  });
  await budgets.change(budget.id, { amount: 0 }, 1);
  expect(attempt(keys, id, call(9, { images: 1 }))).toMatchObject({ kind: 'forbidden' });
  expect(BUDGET_PERIODS.map((period) => sayBudget({ ...budget, period }))).toEqual(
    ['day', 'week', 'month'].map((period) => `3 images a ${period}`),
  );
  // Text is no picture.
  expect(isAdmitted(attempt(keys, id))).toBe(true);
  await expect(budgets.change(budget.id, { amount: 9 }, 1)).rejects.toMatchObject({
    fault: 'stale',
  });
  await keys.remove(id);
  expect(budgets.list()).toEqual([]);
});

test.each([
  [{ scope: 'gateway' }, 'subject'],
  [{ subject: undefined }, 'subject'],
  [{ timeZone: 'Mars/Base' }, 'timeZone'],
] as const)('a budget with %j is refused by its field', async (change, field) => {
  const { budgets, id } = await open();
  await expect(
    budgets.create({ ...dailyBudget(id, 'tokens', 1), ...change }),
  ).rejects.toMatchObject({
    kind: 'invalid-request',
    field,
  });
});
