import { expect, test } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.ts';
import { createMemoryAccessStores } from '../../test/support/memory-access-stores.ts';
import { GatewayError } from '../canonical/error.ts';
import type { Bank } from '../cluster/cluster.ts';
import { Counters, LocalBank } from '../cluster/counters.ts';
import { createMemoryCluster, Hub } from '../cluster/memory.ts';
import { looksLikeKeySecret } from '../lib/redact.ts';
import { createBlockedHoursCheck, createKeySecret } from './api-key.ts';
import { ApiKeys } from './api-keys.ts';
import { Budgets } from './budgets.ts';
import { UsageMeter } from './usage-meter.ts';

type KeyInput = Parameters<ApiKeys['create']>[0];

const START = Date.UTC(2026, 0, 15, 12);
const HOUR = 3_600_000;

async function openKeys(
  input: Partial<KeyInput> = {},
  clock = createFakeClock(START),
  bank: Bank = new LocalBank(clock),
) {
  const { clientKeys: store, budgets: budgetStore } = createMemoryAccessStores();
  let count = 0;
  const createId = (prefix: string) => `${prefix}${++count}`;
  const counters = new Counters({ bank, clock });
  const budgets = new Budgets({ store: budgetStore, counters, clock, createId });
  const options = {
    ...{ store, digestKey: Buffer.alloc(32, 1), clock, createId },
    ...{ counters, budgets },
  };
  const book = new ApiKeys(options);
  const gate = book;
  const { listed, secret } = await book.create({ name: 'Ada', ...input });
  const { id } = listed.key;
  const reopen = async () => new ApiKeys(options, await store.list());
  return { book, gate, clock, store, id, secret, reopen };
}

function refusal(
  run: () => unknown,
): { kind: string; reason: unknown; retryAfterMs: unknown; message: string } | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { kind, reason, retryAfterMs, message } = error;
    return { kind, reason, retryAfterMs, message };
  }
}

const CALL = { model: 'alpha-3-flash', tokens: 100, images: 0 };

test('a secret has 160 random bits and a checksum, and is kept as a keyed digest only', async () => {
  const secrets = Array.from({ length: 100 }, createKeySecret);
  expect(new Set(secrets).size).toBe(100);
  for (const secret of secrets) expect(secret).toMatch(/^sk-[0-9a-z]{38}$/);
  expect(secrets.every(looksLikeKeySecret)).toBe(true);
  const [first = ''] = secrets;
  const misspelt = first.slice(0, 10) + (first[10] === 'a' ? 'b' : 'a') + first.slice(11);
  expect(looksLikeKeySecret(misspelt)).toBe(false);
  const { gate, store, secret, id } = await openKeys();
  expect(gate.identify(['x', secret])).toBe(id);
  expect(gate.identify([misspelt, createKeySecret()])).toBeUndefined();
  const stored = JSON.stringify(await store.list());
  expect(stored).not.toContain(secret);
  expect(stored).not.toContain(secret.slice(12));
});

test('a key that is disabled, expired or removed is refused; without an end it never expires', async () => {
  const { book, gate, clock, id, secret } = await openKeys();
  await clock.advance(10 * 365 * 24 * HOUR);
  expect(refusal(() => gate.enter(id, '192.0.2.1'))).toBeUndefined();
  await book.change(id, { expiresAt: clock.now() }, undefined);
  expect(refusal(() => gate.enter(id, '192.0.2.1'))).toMatchObject({
    kind: 'forbidden',
    reason: 'key-rejected',
    message: expect.stringContaining('expired'),
  });
  await book.change(id, { expiresAt: null, enabled: false }, undefined);
  expect(refusal(() => gate.enter(id, '192.0.2.1'))?.message).toContain('disabled');
  await book.remove(id);
  expect(gate.identify([secret])).toBeUndefined();
});

test('the third address of a key for two is refused until a day has passed (V164)', async () => {
  const { gate, clock, id } = await openKeys({ maxAddresses: 2 });
  const enter = (address: string) => refusal(() => gate.enter(id, address))?.message;
  expect(enter('192.0.2.1')).toBeUndefined();
  expect(enter('2001:db8::1')).toBeUndefined();
  expect(enter('2001:db8::2')).toBeUndefined();
  expect(enter('::ffff:192.0.2.1')).toBeUndefined();
  expect(enter('192.0.2.3')).toContain('2 other addresses');
  await clock.advance(23 * HOUR);
  expect(enter('192.0.2.1')).toBeUndefined();
  await clock.advance(2 * HOUR);
  expect(enter('192.0.2.3')).toBeUndefined();
  expect(enter('192.0.2.4')).toContain('2 other addresses');
  const alone = await openKeys({ maxAddresses: 1 });
  alone.gate.enter(alone.id, '192.0.2.1');
  const message = refusal(() => alone.gate.enter(alone.id, '192.0.2.2'))?.message;
  expect(message).toContain('already used from 1 other address');
});

test('a curfew lasts over midnight by the clock of its own zone (V164)', async () => {
  const curfew = { from: '23:00', to: '06:00', timeZone: 'Europe/Berlin' };
  const { gate, id } = await openKeys({ curfew }, createFakeClock(Date.UTC(2026, 0, 15, 0)));
  expect(refusal(() => gate.enter(id, '192.0.2.1'))).toMatchObject({
    kind: 'forbidden',
    message: expect.stringContaining('23:00 to 06:00 (Europe/Berlin)'),
  });
  const isOn = (time: string, zone = 'Europe/Berlin') =>
    createBlockedHoursCheck({ ...curfew, timeZone: zone })(Date.parse(time));
  expect(isOn('2026-01-15T21:59:59Z')).toBe(false);
  expect(isOn('2026-01-15T22:00:00Z')).toBe(true);
  expect(isOn('2026-01-16T04:59:59Z')).toBe(true);
  expect(isOn('2026-01-16T05:00:00Z')).toBe(false);
  // Summer time.
  expect(isOn('2026-07-15T21:00:00Z')).toBe(true);
  expect(isOn('2026-07-16T04:00:00Z')).toBe(false);
  expect(isOn('2026-01-15T14:30:00Z', 'Asia/Tokyo')).toBe(true);
  expect(isOn('2026-01-15T12:00:00Z', 'Nowhere/Lost')).toBe(true);
  const noon = createBlockedHoursCheck({ from: '09:00', to: '17:00', timeZone: 'UTC' });
  expect([noon(START), noon(START + 5 * HOUR)]).toEqual([true, false]);
  const night = createBlockedHoursCheck({ from: '00:00', to: '06:00', timeZone: 'UTC' });
  expect(['00:00', '00:30', '23:59'].map((at) => night(Date.parse(`2026-01-15T${at}Z`)))).toEqual([
    true,
    true,
    false,
  ]);
});

test.each([
  [{ from: '24:00', to: '06:00', timeZone: 'UTC' }, 'curfew.from'],
  [{ from: '23:00', to: '6:00', timeZone: 'UTC' }, 'curfew.to'],
  [{ from: '23:00', to: '23:00', timeZone: 'UTC' }, 'another time'],
  [{ from: '23:00', to: '06:00', timeZone: 'Mars/Base' }, 'time zone'],
])('the curfew %j is refused with the reason', async (curfew, reason) => {
  await expect(openKeys({ curfew })).rejects.toThrow(reason);
});

test('only allowed models pass, by name or pattern', async () => {
  const { gate, id } = await openKeys({ allowedModels: ['Alpha-*', 'beta'] });
  const models = ['alpha-3-flash', 'ALPHA-x', 'beta', 'beta-2', 'gamma'];
  expect(models.map((model) => gate.allows(id, model))).toEqual([true, true, true, false, false]);
  expect(gate.allows('api-key', 'gamma')).toBe(true);
  expect(refusal(() => gate.admit(id, { ...CALL, model: 'gamma' }))).toMatchObject({
    kind: 'forbidden',
    reason: 'key-rejected',
    message: expect.stringContaining('"gamma"'),
  });
});

test('an allowed model passes under its name in either vocabulary', async () => {
  const { gate, id } = await openKeys({ allowedModels: ['alpha-3-flash', 'Claude-*', 'cla*y'] });
  const allowed = ['gemini-3-flash', 'Gemini-3-Flash', 'beta-opus-4-6', 'claude-x', 'clay'];
  for (const model of allowed) expect(gate.allows(id, model)).toBe(true);
  expect(gate.allows(id, 'gemini-3-pro')).toBe(false);
});

test('requests of a minute are limited, with the time until the next', async () => {
  const { gate, clock, id } = await openKeys({ requestsPerMinute: 2 });
  const admit = () => refusal(() => gate.admit(id, CALL));
  expect(admit()).toBeUndefined();
  await clock.advance(20_000);
  expect(admit()).toBeUndefined();
  expect(admit()).toMatchObject({ kind: 'rate-limited', retryAfterMs: 40_000 });
  await clock.advance(40_000);
  expect(admit()).toBeUndefined();
  expect(admit()).toMatchObject({ retryAfterMs: 20_000 });
});

test('requests at the same time are limited, and each that ends makes room for another', async () => {
  const { gate, book, clock, id } = await openKeys({ maxConcurrency: 2, requestsPerMinute: 9 });
  const first = await gate.admit(id, CALL);
  const second = await gate.admit(id, CALL);
  expect(refusal(() => gate.admit(id, CALL))).toMatchObject({
    kind: 'rate-limited',
    retryAfterMs: 1000,
    message: 'This key may run 2 requests at the same time. Wait until one has ended.',
  });
  await clock.advance(3_600_000);
  expect(refusal(() => gate.admit(id, CALL))).toMatchObject({ retryAfterMs: 1000 });
  first.settle({});
  first.settle({});
  const third = await gate.admit(id, CALL);
  expect(refusal(() => gate.admit(id, CALL))).toBeDefined();
  // What runs without the limit neither takes nor gives back of it.
  await book.change(id, { maxConcurrency: null }, undefined);
  const free = await gate.admit(id, CALL);
  await book.change(id, { maxConcurrency: 2 }, undefined);
  free.settle({});
  expect(refusal(() => gate.admit(id, CALL))).toBeDefined();
  second.settle({});
  third.settle({});
  expect(refusal(() => gate.admit(id, CALL))).toBeUndefined();
});

test('a limit of one is said as one', async () => {
  const { gate, id } = await openKeys({ requestsPerMinute: 1 });
  gate.admit(id, CALL);
  expect(refusal(() => gate.admit(id, CALL))?.message).toMatch(/its 1 request a minute\. /);
});

test('tokens of a minute are counted as used, and reserved while calls run', async () => {
  const { gate, clock, id } = await openKeys({ tokensPerMinute: 1_000 });
  const running = await gate.admit(id, { ...CALL, tokens: 1_000 });
  expect(refusal(() => gate.admit(id, CALL))).toMatchObject({ kind: 'rate-limited' });
  running?.settle({ tokens: 10, images: 0 });
  running?.settle({ tokens: 5_000, images: 0 });
  (await gate.admit(id, CALL))?.settle({ tokens: 2_000 });
  expect(refusal(() => gate.admit(id, CALL))).toMatchObject({ retryAfterMs: 60_000 });
  await clock.advance(60_000);
  expect(refusal(() => gate.admit(id, CALL))).toBeUndefined();
});

test('tokens of a call that runs for longer than a minute count when it ends', async () => {
  const { gate, clock, id } = await openKeys({ tokensPerMinute: 1_000 });
  const long = await gate.admit(id, { ...CALL, tokens: 900 });
  expect(gate.limitStates(id).tokens).toMatchObject({ limit: 1_000, remaining: 100 });
  await clock.advance(60_000);
  expect(gate.limitStates(id).tokens).toEqual({ limit: 1_000, remaining: 1_000, resetMs: 0 });
  long.settle({ tokens: 1_200 });
  expect(gate.limitStates(id).tokens).toMatchObject({ remaining: 0, resetMs: 60_000 });
  expect(refusal(() => gate.admit(id, CALL))).toMatchObject({ retryAfterMs: 60_000 });
});

test('what a key used today begins anew at midnight of UTC', async () => {
  const { gate, book, clock, id } = await openKeys({}, createFakeClock(Date.UTC(2026, 0, 15, 23)));
  (await gate.admit(id, { ...CALL, images: 1 })).settle({ tokens: 500, images: 2 });
  expect(book.get(id)?.usedToday).toEqual({
    ...{ day: '2026-01-15', requests: 1, tokens: 500, images: 2 },
  });
  await clock.advance(HOUR);
  expect(book.get(id)?.usedToday).toEqual({
    ...{ day: '2026-01-16', requests: 0, tokens: 0, images: 0 },
  });
});

test('without a limit of addresses none are kept, and those of an earlier limit go', async () => {
  const { book, gate, store, id } = await openKeys({ maxAddresses: 2 });
  gate.enter(id, '192.0.2.1');
  await book.change(id, { maxAddresses: null }, undefined);
  for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) gate.enter(id, address);
  await book.close();
  const [stored] = await store.list();
  expect([stored?.addresses.size, stored?.key.lastUsedAt]).toEqual([0, START]);
});

test('addresses that came while the clock was days ahead do not count after it was set back', () => {
  let now = Date.UTC(2027, 0, 1);
  const clock = { ...createFakeClock(), now: () => now };
  const stored = { use: undefined, addresses: new Map() };
  const meter = new UsageMeter(stored, {
    id: 'key',
    counters: new Counters({ bank: new LocalBank(clock), clock }),
    clock,
    onUse: () => {},
  });
  expect(meter.takeAddress('192.0.2.1', 1)).toBe(true);
  now = Date.UTC(2026, 0, 1);
  expect(meter.takeAddress('192.0.2.2', 1)).toBe(true);
  expect(meter.takeAddress('192.0.2.3', 1)).toBe(false);
});

test('tokens pass while any are left also where another process counts them', async () => {
  const clock = createFakeClock(START);
  const local = new LocalBank(clock);
  const bank: Bank = {
    isLocal: false,
    lease: async (request) => local.lease(request),
    giveBack: (counter, amount) => local.giveBack(counter, amount),
  };
  const { gate, id } = await openKeys({ tokensPerMinute: 1_000 }, clock, bank);
  for (let count = 0; count < 20; count += 1) await gate.admit(id, { ...CALL, tokens: 1 });
  await gate.admit(id, { ...CALL, tokens: 1_000 });
  const late = async () => gate.admit(id, { ...CALL, tokens: 1 });
  await expect(late()).rejects.toMatchObject({ kind: 'rate-limited' });
});

test('what a key used today and from where survives a restart', async () => {
  const { gate, book, clock, id, reopen, secret } = await openKeys({ maxAddresses: 1 });
  gate.enter(id, '192.0.2.1');
  (await gate.admit(id, CALL))?.settle({ tokens: 500 });
  await book.close();
  const again = await reopen();
  const gateAgain = again;
  expect(gateAgain.identify([secret])).toBe(id);
  expect(again.get(id)?.usedToday).toMatchObject({ requests: 1, tokens: 500 });
  expect(refusal(() => gateAgain.enter(id, '192.0.2.2'))?.kind).toBe('forbidden');
  expect(again.get(id)?.key.lastUsedAt).toBe(clock.now());
});

test('what could not be saved of a key is saved with the next', async () => {
  const { gate, clock, id, store, reopen } = await openKeys();
  const { saveProgress } = store;
  store.saveProgress = () => Promise.reject(new Error('no room'));
  (await gate.admit(id, CALL))?.settle({ tokens: 500 });
  await clock.advance(1_000);
  store.saveProgress = saveProgress;
  await clock.advance(5_000);
  expect((await reopen()).get(id)?.usedToday).toMatchObject({ requests: 1, tokens: 500 });
});

test('a change of models, curfew and switch counts from the next request, and forgets no use', async () => {
  const { gate, book, clock, id } = await openKeys({ allowedModels: ['alpha-*'] });
  (await gate.admit(id, CALL))?.settle({ tokens: 7 });
  const change = (limits: Parameters<typeof book.change>[1]) => book.change(id, limits, undefined);
  const enter = () => refusal(() => gate.enter(id, '192.0.2.1'))?.message;
  const { key, usedToday } = await change({ allowedModels: ['beta-*'] });
  expect([key.lastUsedAt, usedToday.tokens]).toEqual([clock.now(), 7]);
  expect([gate.allows(id, 'alpha-3-flash'), gate.allows(id, 'beta-x')]).toEqual([false, true]);
  await change({ curfew: { from: '11:00', to: '13:00', timeZone: 'UTC' } });
  expect(enter()).toContain('11:00 to 13:00');
  await change({ curfew: { from: '13:00', to: '14:00', timeZone: 'UTC' } });
  expect(enter()).toBeUndefined();
  await change({ curfew: null, enabled: false });
  expect(enter()).toContain('disabled');
});

test('a change keeps what it does not name, null takes away, and an old revision is refused', async () => {
  const { book, id } = await openKeys({ tokensPerMinute: 5, requestsPerMinute: 6 });
  const changed = await book.change(id, { name: 'Eve', tokensPerMinute: null }, 1);
  expect(changed.key).toMatchObject({ name: 'Eve', requestsPerMinute: 6, revision: 2 });
  expect(changed.key.tokensPerMinute).toBeUndefined();
  await expect(book.change(id, { name: 'late' }, 1)).rejects.toMatchObject({ fault: 'stale' });
  await expect(book.change('key_none', {}, undefined)).rejects.toMatchObject({ fault: 'missing' });
});

test('ids that are no keys of persons have no limits', async () => {
  const { gate } = await openKeys();
  gate.enter('local', '192.0.2.1');
  expect(refusal(() => gate.admit('api-key', CALL))).toBeUndefined();
  expect(gate.limitStates('api-key')).toEqual({ requests: undefined, tokens: undefined });
});

test('after a rotation both secrets work for the overlap, then the new one alone', async () => {
  const { book, clock, id, secret, reopen } = await openKeys();
  const rotated = await book.rotate(id, { overlapMs: HOUR });
  expect(rotated.secret).not.toBe(secret);
  expect(rotated.listed.key).toMatchObject({ id, prefix: rotated.secret.slice(0, 9), revision: 2 });
  const endsAt = START + HOUR;
  expect(rotated.listed.previous).toMatchObject([{ prefix: secret.slice(0, 9), endsAt }]);
  expect(rotated.listed.previous[0]?.lastUsedAt).toBeUndefined();
  await clock.advance(1_000);
  const found = [book.identify([secret]), book.identify([rotated.secret])];
  expect(found).toEqual([id, id]);
  expect(book.get(id)?.previous).toMatchObject([{ lastUsedAt: START + 1_000 }]);
  await book.close();
  // As after a restart.
  const again = await reopen();
  expect(again.get(id)?.previous).toMatchObject([{ lastUsedAt: START + 1_000, endsAt }]);
  expect(again.identify([secret])).toBe(id);
  await clock.advance(HOUR);
  expect([again.identify([secret]), again.identify([rotated.secret])]).toEqual([undefined, id]);
  expect(again.get(id)?.previous).toEqual([]);
});

test('a rotation without overlap ends the secret at once, and an overlap can be ended early', async () => {
  const { book, id, secret } = await openKeys();
  const second = await book.rotate(id, { overlapMs: 0 });
  expect([book.identify([secret]), book.identify([second.secret])]).toEqual([undefined, id]);
  const third = await book.rotate(id, { overlapMs: HOUR });
  const fourth = await book.rotate(id, { overlapMs: HOUR });
  for (const one of [second, third, fourth]) expect(book.identify([one.secret])).toBe(id);
  const { previous } = await book.endPrevious(id);
  expect(previous).toEqual([]);
  const after = [second, third, fourth].map((one) => book.identify([one.secret]));
  expect(after).toEqual([undefined, undefined, id]);
  await book.remove(id);
  expect(book.identify([fourth.secret])).toBeUndefined();
});

test('a rotation without overlap ends the secrets of earlier overlaps too', async () => {
  const { book, id, secret } = await openKeys();
  const second = await book.rotate(id, { overlapMs: HOUR });
  const { listed, secret: third } = await book.rotate(id, { overlapMs: 0 });
  expect(listed.previous).toEqual([]);
  const found = [secret, second.secret, third].map((one) => book.identify([one]));
  expect(found).toEqual([undefined, undefined, id]);
});

test('a rotation of a key that was changed meanwhile makes no secret', async () => {
  const { book, id, secret } = await openKeys();
  await book.change(id, { name: 'Ann' }, 1);
  const late = book.rotate(id, { overlapMs: 0, revision: 1 });
  await expect(late).rejects.toMatchObject({ fault: 'stale' });
  expect(book.identify([secret])).toBe(id);
});

test('what one process rotates holds in the others, and they hear that an old secret is used', async () => {
  const { clientKeys: store, budgets: budgetStore } = createMemoryAccessStores();
  const clock = createFakeClock(START);
  const hub = new Hub(clock);
  const onFault = (error: unknown): void => expect.fail(String(error));
  const open = async (replica: string) => {
    const cluster = createMemoryCluster({ replica, clock, hub, onFault });
    const counters = new Counters({ bank: cluster.bank, clock });
    const shared = { clock, cluster, counters, createId: (prefix: string) => `${prefix}1` };
    const budgets = new Budgets({ store: budgetStore, ...shared });
    const options = { store, digestKey: Buffer.alloc(32, 1), budgets, ...shared };
    return new ApiKeys(options, await store.list());
  };
  const one = await open('one');
  const { listed, secret } = await one.create({ name: 'Ada' });
  const { id } = listed.key;
  const other = await open('other');
  const rotated = await one.rotate(id, { overlapMs: HOUR });
  await expect.poll(() => other.identify([rotated.secret])).toBe(id);
  expect(other.identify([secret])).toBe(id);
  await clock.advance(1_000);
  await expect.poll(() => one.get(id)?.previous[0]?.lastUsedAt).toBe(START);
  await one.rotate(id, { overlapMs: 0 });
  await one.endPrevious(id);
  await expect.poll(() => other.identify([secret])).toBeUndefined();
  // Requests that run on when their key is removed are still of whom they were.
  await other.change(id, { team: 'red' }, undefined);
  await one.remove(id);
  await expect.poll(() => other.get(id)).toBeUndefined();
  for (const keys of [one, other]) expect(keys.forRecord(id)).toMatchObject({ team: 'red' });
  expect(one.forRecord('key_unknown')).toEqual({ recording: 'counts' });
});

test('that an earlier secret is still used stays known where its key is changed elsewhere', async () => {
  const { clientKeys, clock, open } = openReplicas();
  const hub = new Hub(clock);
  const [one, other] = [open('1', clientKeys, hub), open('2', clientKeys, hub)];
  const { listed, secret } = await one.create({ name: 'Ada' });
  const { id } = listed.key;
  await one.rotate(id, { overlapMs: HOUR });
  await expect.poll(() => other.get(id)?.previous.length).toBe(1);
  expect(other.identify([secret])).toBe(id);
  const change = one.change(id, { name: 'Ada Lovelace' }, undefined);
  await clock.advance(0);
  await change;
  expect(other.get(id)).toMatchObject({
    key: { name: 'Ada Lovelace' },
    previous: [{ lastUsedAt: START }],
  });
});

/** Processes that keep their keys in one place, and tell each other what they change over a hub. */
function openReplicas() {
  const { clientKeys, budgets: budgetStore } = createMemoryAccessStores();
  const clock = createFakeClock(START);
  const onFault = (error: unknown): void => expect.fail(String(error));
  const open = (replica: string, store: typeof clientKeys, hub: Hub) => {
    const cluster = createMemoryCluster({ replica, clock, hub, onFault });
    const counters = new Counters({ bank: cluster.bank, clock });
    const createId = (prefix: string) => `${prefix}${replica}`;
    const shared = { clock, cluster, counters, createId };
    const budgets = new Budgets({ store: budgetStore, ...shared });
    return new ApiKeys({ store, digestKey: Buffer.alloc(32, 1), budgets, ...shared });
  };
  return { clientKeys, clock, open };
}

test('a key that is made while those of others are read stays', async () => {
  const { clientKeys, clock, open } = openReplicas();
  const hub = new Hub(clock);
  const readings: (() => void)[] = [];
  const slow: typeof clientKeys = {
    ...clientKeys,
    async list() {
      const found = await clientKeys.list();
      await new Promise<void>((resolve) => readings.push(resolve));
      return found;
    },
  };
  const [one, other] = [open('one', slow, hub), open('other', clientKeys, hub)];
  const making = other.create({ name: 'Ada' });
  await expect.poll(() => readings.length).toBe(1);
  const own = await one.create({ name: 'Bea' });
  readings[0]?.();
  await expect.poll(() => readings.length).toBe(2);
  readings[1]?.();
  expect(one.identify([(await making).secret])).toBe('key_other');
  expect(one.identify([own.secret])).toBe('key_one');
});

test('a key that another process made is looked up before its notice, and strangers cost little', async () => {
  const { clientKeys, clock, open } = openReplicas();
  const asked: string[] = [];
  const store: typeof clientKeys = {
    ...clientKeys,
    list() {
      asked.push('list');
      return clientKeys.list();
    },
    has(digest) {
      asked.push('has');
      return clientKeys.has(digest);
    },
  };
  // Each has a hub of its own: no notice arrives.
  const [one, other] = [open('one', store, new Hub(clock)), open('other', store, new Hub(clock))];
  const { secret } = await one.create({ name: 'Ada' });
  expect(other.identify([secret])).toBeUndefined();
  const looks = [other.lookAgain(['no key', secret]), other.lookAgain([createKeySecret()])];
  await Promise.all(looks);
  expect(other.identify([secret])).toBe('key_one');
  expect(asked).toEqual(['has', 'list']);

  const rotated = await one.rotate('key_one', { overlapMs: 0 });
  expect(other.lookAgain([rotated.secret])).toBeUndefined();
  await clock.advance(100);
  await other.lookAgain([createKeySecret()]);
  expect(other.lookAgain([rotated.secret])).toBeUndefined();
  await clock.advance(100);
  expect(other.lookAgain(['a-password', 'sk-other'])).toBeUndefined();
  await other.lookAgain([rotated.secret]);
  expect(other.identify([rotated.secret])).toBe('key_one');
  expect(other.identify([secret])).toBeUndefined();
  expect(asked).toEqual(['has', 'list', 'has', 'has', 'list']);
});
