import { expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts';
import { createMemoryAccountStore } from '../../test/support/memory-account-store.ts';
import { told } from '../lib/localized-message.ts';
import type { QuotaReading } from './account.ts';
import {
  type AccountBook,
  type BookChange,
  createAccountBook,
  type NewAccount,
  type SeedAccount,
} from './account-book.ts';
import { type AccountStore, StoreError } from './account-store.ts';

const ADA: NewAccount = {
  upstreamId: 'u',
  label: 'ada@example.org',
  tier: 'pro',
  proxyUrl: 'http://user:word@proxy.example',
  credential: { kind: 'oauth', refreshToken: 'r1' },
};
const SEED: SeedAccount = {
  id: 'u/key-1@env',
  origin: 'environment',
  upstreamId: 'u',
  label: 'key-1@env',
  credential: { kind: 'api-key', key: 'k' },
};
const REFUSED = { kind: 'failure', model: 'm', failure: { kind: 'quota-exhausted' } } as const;

interface Bench {
  readonly book: AccountBook;
  readonly clock: FakeClock;
  readonly changes: string[];
  readonly saves: string[];
  readonly logged: string[];
  fail(fault: boolean): void;
  /** A second book over the same store: what a restart finds. */
  reopen(): Promise<AccountBook>;
}

async function openBench(seeds: readonly SeedAccount[] = []): Promise<Bench> {
  const clock = createFakeClock();
  const memory = createMemoryAccountStore();
  const saves: string[] = [];
  const logged: string[] = [];
  let isFailing = false;
  let ids = 0;
  const guard = (what: string): void => {
    if (isFailing) throw new StoreError('unavailable', told`the disk is full`);
    saves.push(what);
  };
  const store: AccountStore = {
    list: () => memory.list(),
    insert: (account) => memory.insert(account),
    update: (id, change, revision) => memory.update(id, change, revision),
    order: (ids) => memory.order(ids),
    async remove(id) {
      guard(`remove ${id}`);
      return memory.remove(id);
    },
    readCredentials: () => memory.readCredentials(),
    readCredential: (id) => memory.readCredential(id),
    replaceCredential: (id, credential, version) =>
      memory.replaceCredential(id, credential, version),
    async saveHealth(id, health, keeps) {
      guard(`health ${id}`);
      await memory.saveHealth(id, health, keeps);
    },
    async saveQuotas(id, quotas) {
      guard(`quotas ${id}`);
      await memory.saveQuotas(id, quotas);
    },
  };
  const note = (_fields: object, message: string): void => void logged.push(message);
  const open = async () =>
    createAccountBook({
      store,
      stored: await store.list(),
      seeds,
      clock,
      random: () => 0,
      cleanModel: (model) => model.replace('sk-secret', '[redacted]'),
      createId(prefix) {
        ids += 1;
        return prefix + ids;
      },
      log: { info: note, warn: note, error: note },
    });
  const book = await open();
  const changes: string[] = [];
  book.subscribe(({ kind, account }) => void changes.push(`${kind} ${account.record.id}`));
  const fail = (fault: boolean): void => {
    isFailing = fault;
  };
  return { book, clock, changes, saves, logged, fail, reopen: open };
}

function reading(remainingFraction: number, change: Partial<QuotaReading> = {}): QuotaReading {
  return {
    remainingFraction,
    resetsAt: undefined,
    source: 'upstream',
    fetchedAt: Number.MAX_SAFE_INTEGER,
    ...change,
  };
}

test('accounts added are found, told of, and there after a restart, before the seeds', async () => {
  const { book, changes, reopen } = await openBench([SEED]);
  const added = await book.add(ADA);
  expect(added.record).toMatchObject({ id: 'acc_1', kind: 'oauth', label: ADA.label, revision: 1 });
  expect(book.find('acc_1')).toBe(added);
  expect(changes).toEqual(['added acc_1']);
  expect(book.proxyUrl('acc_1')).toBe(ADA.proxyUrl);
  const again = await reopen();
  expect(again.list().map(({ record }) => record.id)).toEqual(['acc_1', SEED.id]);
  expect(again.proxyUrl('acc_1')).toBe(ADA.proxyUrl);
});

test('a change makes a new account and a new list, and leaves the old ones as they were', async () => {
  const { book } = await openBench();
  const before = await book.add(ADA);
  const list = book.list();
  const after = await book.change('acc_1', { priority: 7, tier: null, proxyUrl: null });
  expect(after.record).toMatchObject({ priority: 7, tier: undefined, revision: 2 });
  expect(before.record).toMatchObject({ priority: 0, tier: 'pro', revision: 1 });
  expect(list).toEqual([before]);
  expect(book.list()).toEqual([after]);
  expect(book.proxyUrl('acc_1')).toBeUndefined();
});

test('a change against an older revision, or to a label of the environment, is refused', async () => {
  const { book } = await openBench([SEED]);
  await book.add(ADA);
  await book.change('acc_1', { priority: 1 });
  await expect(book.change('acc_1', { priority: 2 }, 1)).rejects.toMatchObject({ fault: 'stale' });
  const taken = { ...ADA, label: 'KEY-1@env' };
  await expect(book.add(taken)).rejects.toMatchObject({ fault: 'conflict' });
  await expect(book.change('acc_1', { label: 'KEY-1@env' })).rejects.toMatchObject({
    fault: 'conflict',
  });
  await expect(book.change('acc_9', {})).rejects.toMatchObject({ fault: 'missing' });
});

test('accounts of the environment cannot be changed or removed, but disabled for the run', async () => {
  const { book, saves, clock, reopen } = await openBench([SEED]);
  await expect(book.change(SEED.id, { priority: 1 })).rejects.toMatchObject({
    kind: 'invalid-request',
    message: expect.stringContaining('UPSTREAM_API_KEYS'),
  });
  await expect(book.remove(SEED.id)).rejects.toMatchObject({ kind: 'invalid-request' });
  book.apply(SEED.id, { kind: 'disable' });
  expect(book.find(SEED.id)?.health.status.kind).toBe('disabled');
  await clock.advance(10_000);
  expect(saves).toEqual([]);
  expect((await reopen()).find(SEED.id)?.health.status.kind).toBe('active');
});

test('what the upstream says of a plan reaches every account, of the environment for this run', async () => {
  const { book, changes, reopen } = await openBench([SEED]);
  await book.add(ADA);
  await book.learnPlan(SEED.id, { tier: 'ultra', projectId: 'p' });
  await book.learnPlan('acc_1', { tier: 'free' });
  await book.learnPlan('acc_9', { tier: 'free' });
  expect(book.find(SEED.id)?.record).toMatchObject({ tier: 'ultra', projectId: 'p' });
  expect(changes.filter((change) => change.startsWith('record'))).toHaveLength(2);
  const after = await reopen();
  expect(after.find(SEED.id)?.record).toMatchObject({ tier: undefined, projectId: undefined });
  expect(after.find('acc_1')?.record.tier).toBe('free');
});

test('without storage no account can be added', async () => {
  const book = createAccountBook({
    store: undefined,
    stored: [],
    seeds: [SEED],
    clock: createFakeClock(),
    random: () => 0,
    createId: (prefix) => prefix,
    log: { info: () => {}, warn: () => {}, error: () => {} },
  });
  await expect(book.add(ADA)).rejects.toMatchObject({ fault: 'unavailable' });
  expect(book.list()).toHaveLength(1);
});

test('a removed account is out of the list at once; when storage refuses it is back', async () => {
  const { book, fail, changes } = await openBench();
  await book.add(ADA);
  await book.add({ ...ADA, label: 'grace@example.org' });
  fail(true);
  const refused = book.remove('acc_1');
  expect(book.list().map(({ record }) => record.id)).toEqual(['acc_2']);
  await expect(refused).rejects.toMatchObject({ fault: 'unavailable' });
  expect(book.list().map(({ record }) => record.id)).toEqual(['acc_1', 'acc_2']);
  expect(book.proxyUrl('acc_1')).toBe(ADA.proxyUrl);
  fail(false);
  await book.remove('acc_1');
  expect(book.find('acc_1')).toBeUndefined();
  expect(changes.slice(2)).toEqual(['removed acc_1', 'added acc_1', 'removed acc_1']);
});

test('many events of one account are one write, and a restart finds the last state', async () => {
  const { book, clock, saves, reopen } = await openBench();
  await book.add(ADA);
  for (let count = 0; count < 50; count += 1) book.apply('acc_1', REFUSED);
  book.setQuotas('acc_1', new Map([['m', reading(0.4, { fetchedAt: 1 })]]));
  await clock.advance(1000);
  expect(saves).toEqual(['health acc_1', 'quotas acc_1']);
  const found = (await reopen()).find('acc_1');
  expect(found?.health.models.get('m')).toMatchObject({ quotaCount: 50 });
  expect(found?.quotas.get('m')?.remainingFraction).toBe(0.4);
});

test('an event that changes nothing is no change and no write', async () => {
  const { book, clock, saves, changes } = await openBench();
  await book.add(ADA);
  book.apply('acc_1', { kind: 'success', model: 'm' });
  await clock.advance(10_000);
  saves.length = 0;
  changes.length = 0;
  book.apply('acc_1', { kind: 'success', model: 'm' });
  book.apply('acc_unknown', REFUSED);
  await clock.advance(10_000);
  expect([saves, changes]).toEqual([[], []]);
});

test('while storage is away nothing fails, and what was learned is saved when it is back', async () => {
  const { book, clock, saves, logged, fail, reopen } = await openBench();
  await book.add(ADA);
  fail(true);
  book.apply('acc_1', REFUSED);
  await clock.advance(30_000);
  book.apply('acc_1', REFUSED);
  await clock.advance(120_000);
  expect(book.find('acc_1')?.health.models.get('m')?.quotaCount).toBe(2);
  expect(logged).toEqual(['Cooldowns and quotas could not be saved; it is tried again.']);
  await expect(book.flush()).rejects.toMatchObject({ fault: 'unavailable' });
  fail(false);
  await clock.advance(61_000);
  expect(saves).toEqual(['health acc_1']);
  expect(logged).toContain('The state of the accounts is saved again.');
  expect((await reopen()).find('acc_1')?.health.models.get('m')?.quotaCount).toBe(2);
});

test('closing saves what is left, and says so when it cannot', async () => {
  const kept = await openBench();
  await kept.book.add(ADA);
  kept.book.apply('acc_1', { kind: 'disable' });
  await kept.book.close();
  expect((await kept.reopen()).find('acc_1')?.health.status.kind).toBe('disabled');
  expect(kept.clock.pendingTimers).toBe(0);

  const lost = await openBench();
  await lost.book.add(ADA);
  lost.book.apply('acc_1', REFUSED);
  lost.fail(true);
  await lost.book.close();
  expect(lost.logged.at(-1)).toContain('could not be saved');
});

test('a flush makes a decision durable at once', async () => {
  const { book, reopen } = await openBench();
  await book.add(ADA);
  book.apply('acc_1', { kind: 'disable' });
  await book.flush();
  expect((await reopen()).find('acc_1')?.health.status.kind).toBe('disabled');
});

test('upstream figures end stale quota cooldowns, estimates do not', async () => {
  const { book, changes } = await openBench();
  await book.add(ADA);
  book.apply('acc_1', REFUSED);
  book.setQuotas('acc_1', new Map([['m', reading(0.4, { source: 'estimated' })]]));
  expect(book.find('acc_1')?.health.models.size).toBe(1);
  book.setQuotas('acc_1', new Map([['m', reading(0.4)]]));
  expect(book.find('acc_1')?.health.models.size).toBe(0);
  book.setQuotas('acc_1', new Map([['m', undefined]]));
  expect(book.find('acc_1')?.quotas.size).toBe(0);
  expect(changes.slice(1)).toEqual(
    ['health', 'quotas', 'quotas', 'health', 'quotas'].map((kind) => `${kind} acc_1`),
  );
});

test('of two changes under way together the later one stays, whichever comes back first', async () => {
  const memory = createMemoryAccountStore();
  const slow = Promise.withResolvers<void>();
  const store: AccountStore = Object.assign(Object.create(memory), {
    async update(...given: Parameters<AccountStore['update']>) {
      const stored = await memory.update(...given);
      if (stored.record.revision === 2) await slow.promise;
      return stored;
    },
    list: () => memory.list(),
    insert: (account: Parameters<AccountStore['insert']>[0]) => memory.insert(account),
  });
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const clock = createFakeClock();
  const options = {
    store,
    stored: [],
    seeds: [],
    clock,
    random: () => 0,
    createId: () => 'a',
    log,
  };
  const book = createAccountBook(options);
  await book.add(ADA);
  const first = book.change('a', { notes: 'first' });
  const second = book.change('a', { notes: 'second', proxyUrl: null });
  expect((await second).record.notes).toBe('second');
  slow.resolve();
  expect((await first).record.notes).toBe('second');
  expect(book.find('a')?.record).toMatchObject({ notes: 'second', revision: 3 });
  expect(book.proxyUrl('a')).toBeUndefined();
});

test('what a figure did to the health is there after a restart', async () => {
  const { book, clock, reopen } = await openBench();
  await book.add(ADA);
  const resetsAt = clock.now() + 3_600_000;
  book.setQuotas('acc_1', new Map([['m', reading(0, { resetsAt, fetchedAt: clock.now() })]]));
  await clock.advance(1000);
  const found = (await reopen()).find('acc_1');
  expect(found?.health.models.get('m')?.coolUntil).toBe(resetsAt);
});

test('reading the same model list again is no change', async () => {
  const { book, changes } = await openBench([SEED]);
  const list = () => new Map([['m', { id: 'm', inputTokenLimit: 5 }]]);
  book.setModels(SEED.id, list());
  const before = changes.length;
  book.setModels(SEED.id, list());
  expect(changes).toHaveLength(before);
  book.setModels(SEED.id, undefined);
  expect(changes).toHaveLength(before + 1);
});

test('a credential is replaced only by whoever saw the last one, and only by one of its kind', async () => {
  const { book } = await openBench([SEED]);
  await book.add(ADA);
  const next = { kind: 'oauth', refreshToken: 'r2' } as const;
  expect(await book.replaceCredential('acc_1', next, 1)).toEqual({ credential: next, version: 2 });
  expect(await book.replaceCredential('acc_1', next, 1)).toBe('stale');
  expect(await book.replaceCredential('acc_9', next, 1)).toBe('missing');
  await expect(book.replaceCredential(SEED.id, next, 1)).rejects.toMatchObject({
    field: 'credential.kind',
  });
  const key = { kind: 'api-key', key: 'k2' } as const;
  expect(await book.replaceCredential(SEED.id, key, 2)).toBe('stale');
  expect(await book.replaceCredential(SEED.id, key, 1)).toEqual({ credential: key, version: 2 });
  expect(await book.readCredential(SEED.id)).toEqual({ credential: key, version: 2 });
});

test('a renewed credential forgets the refusals of the old one', async () => {
  const { book } = await openBench();
  await book.add(ADA);
  const failure = { kind: 'credential-revoked' } as const;
  book.apply('acc_1', { kind: 'failure', model: 'm', failure });
  expect(book.find('acc_1')?.health.revocations).toBe(1);
  await book.replaceCredential('acc_1', { kind: 'oauth', refreshToken: 'r2' }, 1);
  expect(book.find('acc_1')?.health.revocations).toBe(0);
});

test('listeners are told in order, also of changes made by a listener, and one that throws harms none', async () => {
  const { book, logged } = await openBench([SEED]);
  const told: BookChange['kind'][] = [];
  book.subscribe(({ kind }) => {
    if (kind === 'models') book.apply(SEED.id, { kind: 'disable' });
    throw new Error('listener');
  });
  const end = book.subscribe(({ kind }) => void told.push(kind));
  book.setModels(SEED.id, new Map());
  expect(told).toEqual(['models', 'health']);
  expect(logged).toContain('A listener of the account book failed.');
  end();
  book.apply(SEED.id, { kind: 'enable' });
  expect(told).toHaveLength(2);
});

test('two seeds of one id are refused', async () => {
  await expect(openBench([SEED, SEED])).rejects.toThrow('Two accounts have the id');
});

test('D2: a model’s name that is a credential is not kept with the health of an account', async () => {
  const { book } = await openBench([SEED]);
  book.apply(SEED.id, { ...REFUSED, model: 'sk-secret' });
  expect([...(book.find(SEED.id)?.health.models.keys() ?? [])]).toEqual(['[redacted]']);
});

test('what one process saves of an account leaves what another stored of its status', async () => {
  const { book, clock, reopen } = await openBench();
  const { record } = await book.add(ADA);
  const other = await reopen();
  book.apply(record.id, { kind: 'disable' });
  await book.flush();
  other.apply(record.id, REFUSED);
  await clock.advance(1_000);
  const stored = (await reopen()).find(record.id)?.health;
  expect(stored?.status.kind).toBe('disabled');
  expect(stored?.models.has('m')).toBe(true);
});
