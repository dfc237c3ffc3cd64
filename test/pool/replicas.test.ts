// What one replica learns of accounts, sessions and signatures, the others act upon.

import { expect, test } from 'vitest';
import type { QuotaReading } from '../../src/accounts/account.ts';
import {
  createAccountBook,
  type NewAccount,
  type SeedAccount,
} from '../../src/accounts/account-book.ts';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { createMemoryCluster, Hub } from '../../src/cluster/memory.ts';
import { SessionTable } from '../../src/pool/sessions.ts';
import { SignatureCache } from '../../src/signatures/cache.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryAccountStore } from '../support/memory-account-store.ts';
import { createMemoryExpiringStore } from '../support/memory-expiring-store.ts';

const ADA: NewAccount = {
  upstreamId: 'u',
  label: 'ada@example.org',
  credential: { kind: 'api-key', key: 'k' },
};

const SEED: SeedAccount = { ...ADA, id: 'env-1', origin: 'environment', label: 'key-1@env' };

async function openReplicas(seeds: readonly SeedAccount[] = []) {
  const clock = createFakeClock();
  // The second machine's clock is a minute behind.
  const late = { ...clock, now: () => clock.now() - 60_000 };
  const hub = new Hub(clock);
  const store = createMemoryAccountStore();
  const sessionStore = createMemoryExpiringStore();
  let ids = 0;
  let isAway = false;
  let held: (() => void)[] | undefined;
  const members: Cluster[] = [];
  const open = async (replica: string, ownClock: typeof clock) => {
    const cluster: Cluster = createMemoryCluster({ replica, clock, hub, onFault });
    members.push(cluster);
    const notices: Cluster['notices'] = {
      ...cluster.notices,
      tell(topic, notice) {
        const tell = (): void => cluster.notices.tell(topic, notice);
        if (held !== undefined) held.push(tell);
        else if (!isAway) tell();
      },
    };
    const book = createAccountBook({
      stored: await store.list(),
      ...{ store, notices, clock: ownClock, seeds },
      random: () => 0.5,
      createId(prefix) {
        ids += 1;
        return `${prefix}${ids}`;
      },
      log: { info: ignore, warn: ignore, error: onFault },
    });
    const sessions = new SessionTable({
      ...{ clock: ownClock, idleMs: () => 3_600_000, notices, store: sessionStore },
    });
    const signatures = new SignatureCache({ clock: ownClock, notices });
    return { book, sessions, signatures };
  };
  const [one, other] = [await open('one', clock), await open('other', late)];
  return {
    ...{ clock, late, one, other, begin: () => open('third', clock) },
    /** What is told of it arrives when it is done. */
    async atOnce(work: () => Promise<void>) {
      held = [];
      await work();
      const told = held;
      held = undefined;
      for (const tell of told) tell();
    },
    /** While nobody can tell the others of anything. */
    async away(work: () => Promise<void>) {
      isAway = true;
      await work();
      isAway = false;
      for (const member of members) member.catchUp();
      await clock.advance(0);
    },
  };
}

test('an account that another replica added a moment ago is looked up before it is said to be missing', async () => {
  const { one, other, away } = await openReplicas();
  await away(async () => {
    const { record } = await one.book.add(ADA);
    expect(other.book.find(record.id)).toBeUndefined();
    expect(await other.book.lookUp(record.id)).toMatchObject({ record });
    expect(await other.book.lookUp('acc_none')).toBeUndefined();
  });
});

test('an account that one replica adds, changes or removes is there, changed and gone on the others', async () => {
  const { clock, one, other } = await openReplicas();
  const { record } = await one.book.add(ADA);
  await clock.advance(0);
  expect(other.book.find(record.id)?.record.label).toBe('ada@example.org');
  await one.book.change(record.id, { priority: 7 });
  await clock.advance(0);
  expect(other.book.find(record.id)?.record.priority).toBe(7);
  await other.book.remove(record.id);
  await clock.advance(0);
  expect(one.book.list()).toEqual([]);
});

test('an account that is added while another is told of stays', async () => {
  const { clock, one, other } = await openReplicas();
  await Promise.all([
    one.book.add(ADA),
    other.book.add({ ...ADA, label: 'bob@example.org' }),
    one.book.add({ ...ADA, label: 'cid@example.org' }),
  ]);
  await clock.advance(0);
  const labels = ({ book }: typeof one) =>
    book
      .list()
      .map((account) => account.record.label)
      .sort();
  expect(labels(one)).toEqual(['ada@example.org', 'bob@example.org', 'cid@example.org']);
  expect(labels(other)).toEqual(labels(one));
});

test('a cooldown is known to every replica at once, for as long whatever its clock says', async () => {
  const { clock, late, one, other } = await openReplicas();
  const { record } = await one.book.add(ADA);
  await clock.advance(0);
  const failure = { kind: 'rate-limited', retryAfterMs: 90_000 } as const;
  one.book.apply(record.id, { kind: 'failure', model: 'm', failure });
  const coolUntil = (book: typeof one.book) =>
    book.find(record.id)?.health.models.get('m')?.coolUntil ?? 0;
  expect(coolUntil(one.book) - clock.now()).toBe(90_000);
  expect(coolUntil(other.book) - late.now()).toBe(90_000);
  other.book.apply(record.id, { kind: 'clear-cooldown' });
  expect(coolUntil(one.book)).toBe(0);
});

test('what somebody disabled that comes with the environment is so at a replica that begins later', async () => {
  const { clock, one, other, begin } = await openReplicas([SEED]);
  one.book.apply(SEED.id, { kind: 'disable' });
  const since = clock.now();
  await clock.advance(60_000);
  const third = await begin();
  const statusAt = ({ book }: typeof one) => book.find(SEED.id)?.health.status;
  expect(statusAt(third)).toMatchObject({ kind: 'disabled', reason: 'manual', since });
  expect(statusAt(one)).toMatchObject({ since });
  third.book.apply(SEED.id, { kind: 'enable' });
  for (const replica of [one, other]) expect(statusAt(replica)).toEqual({ kind: 'active' });
});

test.each([
  ['disabled', [], 'disable', 'disabled'],
  ['enabled again', ['disable'], 'enable', 'active'],
] as const)(
  'what somebody %s that comes with the environment while nobody could be told is so everywhere then',
  async (_what, before, last, kind) => {
    const { clock, one, other, away } = await openReplicas([SEED]);
    for (const decision of before) other.book.apply(SEED.id, { kind: decision });
    await clock.advance(60_000);
    const since = clock.now();
    await away(async () => {
      one.book.apply(SEED.id, { kind: last });
      await clock.advance(60_000);
    });
    for (const { book } of [one, other])
      expect(book.find(SEED.id)?.health.status).toMatchObject({ kind });
    if (kind !== 'disabled') return;
    expect(other.book.find(SEED.id)?.health.status).toMatchObject({ since: since - 60_000 });
  },
);

test('of what two replicas decided about an account while neither heard of the other the later counts', async () => {
  const { clock, one, other, away } = await openReplicas([SEED]);
  await away(async () => {
    one.book.apply(SEED.id, { kind: 'disable' });
    await clock.advance(1000);
    other.book.apply(SEED.id, { kind: 'disable' });
    other.book.apply(SEED.id, { kind: 'enable' });
    await clock.advance(1000);
  });
  for (const { book } of [one, other])
    expect(book.find(SEED.id)?.health.status).toEqual({ kind: 'active' });
});

test('a reading of a quota is known to every replica', async () => {
  const { clock, one, other } = await openReplicas();
  const { record } = await one.book.add(ADA);
  await clock.advance(0);
  const fetchedAt = clock.now();
  const reading: QuotaReading = {
    remainingFraction: 0.25,
    resetsAt: undefined,
    source: 'upstream',
    fetchedAt,
  };
  one.book.setQuotas(record.id, new Map([['m', reading]]));
  expect(other.book.find(record.id)?.quotas.get('m')?.remainingFraction).toBe(0.25);
  one.book.setQuotas(record.id, new Map([['m', undefined]]));
  expect(other.book.find(record.id)?.quotas.size).toBe(0);
});

test('a session stays on its account whichever replica its next request comes to', async () => {
  const { one, other } = await openReplicas();
  const name = { clientKeyId: 'key', session: 'one run' };
  one.sessions.keep(name, { home: 'a', models: ['m'], detours: new Map() });
  expect(other.sessions.find(name)?.home).toBe('a');
  other.sessions.keep(name, { home: 'b', models: ['m'], detours: new Map() });
  expect(one.sessions.find(name)?.home).toBe('b');
  const [bound] = one.sessions.sessions();
  expect(one.sessions.forget(bound?.id ?? '')).toBe(true);
  expect(other.sessions.find(name)).toBeUndefined();
});

test.each(['atOnce', 'away'] as const)(
  'a session that replicas place on accounts of their own has one at all of them in the end: %s',
  async (how) => {
    const replicas = await openReplicas();
    const { one, other, begin, clock } = replicas;
    const all = [one, other, await begin()];
    await replicas[how](async () => {
      for (let count = 0; count < 20; count += 1) {
        const name = { clientKeyId: 'key', session: `run ${count}` };
        for (const [index, { sessions }] of all.entries())
          sessions.keep(name, {
            home: `${(index + count) % 3}`,
            models: ['m'],
            detours: new Map(),
          });
      }
      // Each has saved its own.
      await clock.advance(1_000);
    });
    await clock.advance(1_000);
    const homesAt = ({ sessions }: typeof one) =>
      sessions
        .sessions()
        .map(({ label, accountId }) => `${label} ${accountId}`)
        .sort();
    const [first, ...others] = all.map(homesAt);
    expect(first).toHaveLength(20);
    expect(others).toEqual([first, first]);
    const late = await begin();
    await late.sessions.load(() => true);
    expect(homesAt(late)).toEqual(first);
  },
);

test('a signature is found whichever replica the next turn comes to, by the same key alone', async () => {
  const { one, other } = await openReplicas();
  const call = { kind: 'call', id: 'call_1', name: 'read' } as const;
  one.signatures.remember('key', call, { signature: { value: 'signed' } });
  expect(other.signatures.lookup('key', call)?.signature?.value).toBe('signed');
  expect(other.signatures.lookup('another key', call)).toBeUndefined();
});

function ignore(): void {}

function onFault(error: unknown): never {
  throw error;
}
