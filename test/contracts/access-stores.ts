// What every set of the door's stores must do; run over each of them.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AccessEntry } from '../../src/access/access-log.ts';
import type { ClientKey } from '../../src/access/api-key.ts';
import type { AuditEntry } from '../../src/access/audit-log.ts';
import type { Budget } from '../../src/access/budgets.ts';
import type { AddressRule } from '../../src/access/ip-rules.ts';
import type { Invitation, Person } from '../../src/access/people.ts';
import { told } from '../../src/lib/localized-message.ts';
import type { AccessStores } from '../support/memory-access-stores.ts';
import type { OpenedStore } from './account-store.ts';

export function describeAccessStores(
  name: string,
  open: () => Promise<OpenedStore<AccessStores>>,
): void {
  describe(`access stores: ${name}`, () => {
    let opened: OpenedStore<AccessStores>;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.close());
    describe('keys', () => describeKeys(() => opened));
    describe('budgets', () => describeBudgets(() => opened));
    describe('address rules', () => describeRules(() => opened));
    describe('the access log', () => describeAccessLog(() => opened));
    describe('the audit log', () => describeAuditLog(() => opened));
    describe('console sessions', () => describeSessions(() => opened));
    describe('people', () => describePeople(() => opened));
    describe('invitations', () => describeInvitations(() => opened));
  });
}

type Open = () => OpenedStore<AccessStores>;

const KEY: ClientKey = {
  id: 'key_1',
  name: 'Zoë 🌍',
  prefix: 'sk-abcdef',
  enabled: true,
  createdAt: 1_000,
  owner: 'ada@example.org',
  team: 'Research',
  tags: ['batch', 'a "quoted" one'],
  allowedModels: ['alpha-*', '__proto__'],
  revision: 1,
};

const LIMITED: ClientKey = {
  ...KEY,
  id: 'key_2',
  enabled: false,
  expiresAt: 9_000,
  maxAddresses: 2,
  requestsPerMinute: 3,
  maxConcurrency: 4,
  tokensPerMinute: 4,
  curfew: { from: '23:00', to: '06:00', timeZone: 'Europe/Berlin' },
};

function describeKeys(open: Open): void {
  test('keys come back whole, oldest first, with nothing used', async () => {
    const { store, reopen } = open();
    await store.clientKeys.insert(LIMITED, 'digest-2');
    await store.clientKeys.insert(KEY, 'digest-1');
    expect(await store.clientKeys.has('digest-2')).toBe(true);
    expect(await store.clientKeys.has('digest-3')).toBe(false);
    const nothing = { previous: [], use: undefined, addresses: new Map() };
    expect(await (await reopen()).clientKeys.list()).toEqual([
      { key: LIMITED, digest: 'digest-2', ...nothing },
      { key: KEY, digest: 'digest-1', ...nothing },
    ]);
  });

  test('a change replaces the limits and keeps the digest and the counts', async () => {
    const { clientKeys } = open().store;
    await clientKeys.insert(KEY, 'digest');
    const use = { day: '2026-01-31', requests: 3, tokens: 4, images: 5 };
    const addresses = new Map([['192.0.2.1', 7]]);
    await clientKeys.saveProgress([
      { id: KEY.id, lastUsedAt: 8_000, use, addresses, previous: [] },
    ]);
    const changed: ClientKey = { ...KEY, name: 'new', tokensPerMinute: 9, revision: 2 };
    await clientKeys.update(changed);
    const key = { ...changed, lastUsedAt: 8_000 };
    expect(await clientKeys.list()).toEqual([
      { key, digest: 'digest', previous: [], use, addresses },
    ]);
    await expect(clientKeys.update(changed)).rejects.toMatchObject({ fault: 'stale' });
    const foreign = { ...changed, id: 'key_none' };
    await expect(clientKeys.update(foreign)).rejects.toMatchObject({ fault: 'missing' });
  });

  test('another secret takes the place of one, and those before are kept with their last use', async () => {
    const { store, reopen } = open();
    await store.clientKeys.insert(KEY, 'first');
    const changed: ClientKey = { ...KEY, prefix: 'sk-second', revision: 2 };
    const first = { digest: 'first', prefix: KEY.prefix, endsAt: 9_000, lastUsedAt: undefined };
    await store.clientKeys.replaceSecret(changed, 'second', [first]);
    const use = { day: '2026-01-31', requests: 1, tokens: 0, images: 0 };
    const used = [{ digest: 'first', lastUsedAt: 8_000 }];
    const progress = { id: KEY.id, lastUsedAt: undefined, use, addresses: new Map() };
    await store.clientKeys.saveProgress([{ ...progress, previous: used }]);
    const { clientKeys } = await reopen();
    expect(await clientKeys.list()).toMatchObject([
      { key: changed, digest: 'second', previous: [{ ...first, lastUsedAt: 8_000 }] },
    ]);
    const stale = clientKeys.replaceSecret(changed, 'third', []);
    await expect(stale).rejects.toMatchObject({ fault: 'stale' });
    await clientKeys.replaceSecret({ ...changed, revision: 3 }, 'third', []);
    expect(await clientKeys.list()).toMatchObject([{ digest: 'third', previous: [] }]);
    await clientKeys.remove(KEY.id);
    await clientKeys.insert(KEY, 'first');
  });

  test('saved counts replace those before, survive a restart and leave with their key', async () => {
    const { store, reopen } = open();
    await store.clientKeys.insert(KEY, 'digest');
    const day = { day: '2026-01-31', requests: 1, tokens: 2 ** 40, images: 0 };
    const before = { lastUsedAt: 5, use: day, addresses: new Map([['a', 1]]), previous: [] };
    const progress = { id: KEY.id, ...before };
    await store.clientKeys.saveProgress([progress, { ...progress, id: 'key_none' }]);
    const use = { ...day, day: '2026-02-01', tokens: 1 };
    const addresses = new Map([['b', 2]]);
    await store.clientKeys.saveProgress([{ ...progress, use, addresses }]);
    const { clientKeys } = await reopen();
    expect(await clientKeys.list()).toMatchObject([{ use, addresses }]);
    expect([await clientKeys.remove(KEY.id), await clientKeys.remove(KEY.id)]).toEqual([
      true,
      false,
    ]);
    await clientKeys.insert(KEY, 'digest');
    expect(await clientKeys.list()).toMatchObject([{ use: undefined, addresses: new Map() }]);
  });
}

const BUDGET: Budget = {
  ...{ id: 'budget_1', scope: 'team', subject: 'Zoë 🌍', unit: 'money', period: 'month' },
  ...{ timeZone: 'Europe/Berlin', amount: 1_000_000_000_000_000, isHard: true, warnPercent: 80 },
  ...{ createdAt: 1_000, revision: 1 },
};

const OF_ALL: Budget = {
  ...{ ...BUDGET, id: 'budget_2', scope: 'gateway', subject: undefined, unit: 'requests' },
  ...{ amount: 0, isHard: false, createdAt: 500 },
};

const unused = (at: number) => ({ budgetId: BUDGET.id, at, used: 0 });

function describeBudgets(open: Open): void {
  test('budgets come back whole, in the order they were made, with what was used since a time', async () => {
    const { store, reopen } = open();
    await store.budgets.insert(BUDGET, unused(2_000));
    await store.budgets.insert(OF_ALL, { budgetId: OF_ALL.id, at: 3_000, used: 7 });
    await store.budgets.addUses([
      { budgetId: BUDGET.id, at: 2_000, used: 1 },
      { budgetId: BUDGET.id, at: 3_000, used: 2 },
    ]);
    const { budgets, uses } = await (await reopen()).budgets.list(3_000);
    expect(budgets).toEqual([BUDGET, OF_ALL]);
    expect(uses.toSorted((one, other) => one.used - other.used)).toEqual([
      { budgetId: BUDGET.id, at: 3_000, used: 2 },
      { budgetId: OF_ALL.id, at: 3_000, used: 7 },
    ]);
  });

  test('a change of a budget comes behind the revision before alone', async () => {
    const { budgets } = open().store;
    await budgets.insert(BUDGET, unused(0));
    const changed: Budget = {
      ...BUDGET,
      ...{ amount: 5, isHard: false, warnPercent: 100, revision: 2 },
    };
    await budgets.update(changed);
    expect((await budgets.list(0)).budgets).toEqual([changed]);
    await expect(budgets.update(changed)).rejects.toMatchObject({ fault: 'stale' });
    const foreign = { ...changed, id: 'budget_none' };
    await expect(budgets.update(foreign)).rejects.toMatchObject({ fault: 'missing' });
  });

  test('what several processes add at once is added up, and leaves with its budget', async () => {
    const { store, reopen } = open();
    await store.budgets.insert(BUDGET, unused(2_000));
    const use = { budgetId: BUDGET.id, at: 2_000, used: 2 ** 40 };
    const foreign = { ...use, budgetId: 'budget_none' };
    const later = { ...use, at: 3_000 };
    expect(await store.budgets.addUses([later])).toEqual([later]);
    const sums = await Promise.all(
      Array.from({ length: 8 }, () => store.budgets.addUses([use, foreign])),
    );
    // Each is told what was used when its own was added.
    expect(sums.map((told) => told.map(({ used }) => used / use.used)).sort()).toEqual(
      Array.from({ length: 8 }, (_, index) => [index + 1]),
    );
    const { budgets } = await reopen();
    const { uses } = await budgets.list(0);
    expect(uses).toHaveLength(2);
    expect(uses).toEqual(expect.arrayContaining([{ ...use, used: 8 * 2 ** 40 }, later]));
    expect([await budgets.remove(BUDGET.id), await budgets.remove(BUDGET.id)]).toEqual([
      true,
      false,
    ]);
    // It was used while it was being removed.
    await budgets.addUses([use]);
    expect(await budgets.list(0)).toEqual({ budgets: [], uses: [] });
  });
}

const RULE: AddressRule = {
  id: 'rule_1',
  list: 'deny',
  range: '10.0.0.0/8',
  note: 'the "lab"\n',
  expiresAt: undefined,
  hits: 0,
  lastHitAt: undefined,
  createdAt: 1_000,
  revision: 1,
};

function describeRules(open: Open): void {
  test('rules come back whole, are replaced without their hits, and can be removed', async () => {
    const { store, reopen } = open();
    const { addressRules } = store;
    const allowed: AddressRule = { ...RULE, id: 'rule_2', list: 'allow', expiresAt: 7_000 };
    await addressRules.insert(RULE);
    await addressRules.insert(allowed);
    await addressRules.addHits([{ id: RULE.id, hits: 3, lastHitAt: 2_000 }]);
    await addressRules.addHits([
      { id: RULE.id, hits: 2, lastHitAt: 3_000 },
      { id: 'rule_none', hits: 1, lastHitAt: 1 },
    ]);
    const changed = { ...RULE, note: 'changed', revision: 2 };
    await addressRules.update(changed);
    await expect(addressRules.update(changed)).rejects.toMatchObject({ fault: 'stale' });
    const foreign = { ...changed, id: 'rule_none' };
    await expect(addressRules.update(foreign)).rejects.toMatchObject({ fault: 'missing' });
    const counted = { ...changed, hits: 5, lastHitAt: 3_000 };
    const reopened = (await reopen()).addressRules;
    expect(await reopened.list()).toEqual([counted, allowed]);
    expect([await reopened.remove(RULE.id), await reopened.remove(RULE.id)]).toEqual([true, false]);
    expect(await reopened.list()).toEqual([allowed]);
  });
}

function describeAccessLog(open: Open): void {
  const entry = (at: number, verdict: AccessEntry['verdict'] = 'blocked'): AccessEntry => ({
    at,
    verdict,
    address: '192.0.2.1',
    method: 'POST',
    path: '/v1/messages',
    keyId: at % 2 === 0 ? undefined : 'key_1',
    reason: told`Key ${at} is over its limit.`,
  });

  test('the latest entries come first, page by page, of one verdict or all', async () => {
    const { store, reopen } = open();
    await store.accessLog.add([entry(1), entry(2, 'rejected'), entry(3)], 100);
    const { accessLog } = await reopen();
    const all = await accessLog.list({ limit: 10 });
    expect(all.map(({ id: _id, ...one }) => one)).toEqual([
      entry(3),
      entry(2, 'rejected'),
      entry(1),
    ]);
    const [first] = await accessLog.list({ limit: 1, verdict: 'blocked' });
    const rest = await accessLog.list({ limit: 9, verdict: 'blocked', before: first?.id });
    expect(rest.map(({ at }) => at)).toEqual([1]);
  });

  test('the oldest entries leave when there are too many', async () => {
    const { accessLog } = open().store;
    for (let at = 0; at < 6; at += 2) await accessLog.add([entry(at), entry(at + 1)], 3);
    expect((await accessLog.list({ limit: 9 })).map(({ at }) => at)).toEqual([5, 4, 3]);
  });
}

function describeAuditLog(open: Open): void {
  const entry = (at: number, more: Partial<AuditEntry> = {}): AuditEntry => ({
    at,
    actor: 'session',
    session: 'abcd1234',
    address: '192.0.2.1',
    action: 'PATCH /api/keys/{id}',
    subject: `/api/keys/key_${at}`,
    requestId: 'req_1',
    status: 200,
    fields: 'name',
    before: '{"name":"Ann"}',
    after: '{"name":"Zoë 🌍"}',
    ...more,
  });
  const EDIT: Partial<AuditEntry> = {
    ...{ actor: 'file', action: 'file', subject: 'gui_config.json', status: 0 },
    ...{ session: undefined, address: undefined, requestId: undefined, fields: undefined },
    before: undefined,
  };
  const ALL = { most: 100, since: 0 };

  test('entries come back whole, the latest first, page by page and after a restart', async () => {
    const { store, reopen } = open();
    for (const one of [entry(1), entry(2, EDIT), entry(3)]) await store.audit.add(one, ALL);
    const { audit } = await reopen();
    const all = await audit.list({ limit: 9 });
    expect(all.map(({ id: _id, ...one }) => one)).toEqual([entry(3), entry(2, EDIT), entry(1)]);
    const [first] = await audit.list({ limit: 1 });
    const rest = await audit.list({ limit: 9, before: first?.id });
    expect(rest.map(({ at }) => at)).toEqual([2, 1]);
  });

  test('entries are found by who, by what and by when', async () => {
    const { audit } = open().store;
    for (const one of [entry(1), entry(2, EDIT), entry(3)]) await audit.add(one, ALL);
    const timesOf = async (page: Parameters<typeof audit.list>[0]) =>
      (await audit.list(page)).map(({ at }) => at);
    expect(await timesOf({ actor: 'file', limit: 9 })).toEqual([2]);
    expect(await timesOf({ about: '/api/keys/key_3', limit: 9 })).toEqual([3]);
    expect(await timesOf({ about: 'PATCH ', limit: 9 })).toEqual([3, 1]);
    expect(await timesOf({ about: '%', limit: 9 })).toEqual([]);
    expect(await timesOf({ from: 2, to: 3, limit: 9 })).toEqual([2]);
  });

  test('entries leave when there are too many or they are too old', async () => {
    const { audit } = open().store;
    for (let at = 0; at < 5; at += 1) await audit.add(entry(at), { most: 3, since: 0 });
    expect((await audit.list({ limit: 9 })).map(({ at }) => at)).toEqual([4, 3, 2]);
    await audit.add(entry(5), { most: 9, since: 4 });
    expect((await audit.list({ limit: 9 })).map(({ at }) => at)).toEqual([5, 4]);
  });
}

function describeSessions(open: Open): void {
  test('sessions come back as they were saved last, and removed ones do not', async () => {
    const { store, reopen } = open();
    const session = { hash: 'a', createdAt: 1, lastSeenAt: 2, passwordTag: 't' };
    const other = { ...session, hash: 'b', personId: 'per_1' };
    await store.consoleSessions.save(session);
    await store.consoleSessions.save(other);
    await store.consoleSessions.saveSeen({ ...other, lastSeenAt: 9 });
    await store.consoleSessions.remove(['a', 'none']);
    await store.consoleSessions.saveSeen({ ...session, lastSeenAt: 9 });
    expect(await (await reopen()).consoleSessions.list()).toEqual([{ ...other, lastSeenAt: 9 }]);
  });
}

const ANN: Person = {
  id: 'per_1',
  name: 'Ann',
  role: 'owner',
  isRoleClaimed: false,
  passwordHash: '$argon2id$…',
  subject: undefined,
  createdAt: 1_000,
  lastSignInAt: undefined,
  revision: 1,
};

const BOB: Person = {
  ...{ ...ANN, id: 'per_2', name: 'Bob', role: 'viewer', isRoleClaimed: true },
  ...{ passwordHash: undefined, subject: 'https://issuer.example bob' },
};

const FREE = { keepsOwner: false };
const KEEPING = { keepsOwner: true };

function describePeople(open: Open): void {
  test('people come back whole, oldest first, with their last sign-in', async () => {
    const { store, reopen } = open();
    await store.people.insert(BOB, 'bob');
    await store.people.insert(ANN, 'ann');
    await store.people.saveSignIn(ANN.id, 5_000);
    await store.people.saveSignIn('per_none', 5_000);
    expect(await (await reopen()).people.list()).toEqual([BOB, { ...ANN, lastSignInAt: 5_000 }]);
  });

  test('nobody gets a name or a sign-in at the provider that somebody has', async () => {
    const { people } = open().store;
    await people.insert(ANN, 'ann');
    await people.insert(BOB, 'bob');
    for (const [person, key] of [
      [{ ...ANN, id: 'per_3', name: 'ANN' }, 'ann'],
      [{ ...BOB, id: 'per_3', name: 'Robert' }, 'robert'],
    ] as const) {
      await expect(people.insert(person, key)).rejects.toMatchObject({ fault: 'conflict' });
    }
    // Without a provider there is nothing to be shared.
    await people.insert({ ...ANN, id: 'per_3', name: 'Cy' }, 'cy');
  });

  test('a change keeps the last sign-in, and comes behind the revision before alone', async () => {
    const { people } = open().store;
    await people.insert(ANN, 'ann');
    await people.saveSignIn(ANN.id, 5_000);
    const changed: Person = { ...ANN, role: 'operator', passwordHash: 'another', revision: 2 };
    await people.update(changed, FREE);
    expect(await people.list()).toEqual([{ ...changed, lastSignInAt: 5_000 }]);
    await expect(people.update(changed, FREE)).rejects.toMatchObject({ fault: 'stale' });
    const nobody = people.update({ ...changed, id: 'per_none' }, FREE);
    await expect(nobody).rejects.toMatchObject({ fault: 'missing' });
  });

  test('where an owner is needed, the last one stays and stays one', async () => {
    const { people } = open().store;
    await people.insert(ANN, 'ann');
    await people.insert(BOB, 'bob');
    const less: Person = { ...ANN, role: 'viewer', revision: 2 };
    await expect(people.update(less, KEEPING)).rejects.toMatchObject({ fault: 'conflict' });
    await expect(people.remove(ANN.id, KEEPING)).rejects.toMatchObject({ fault: 'conflict' });
    expect(await people.list()).toEqual([ANN, BOB]);
    expect(await people.remove(BOB.id, KEEPING)).toBe(true);
    expect(await people.remove(BOB.id, KEEPING)).toBe(false);
    expect(await people.remove(ANN.id, FREE)).toBe(true);
  });
}

const INVITATION: Invitation = {
  id: 'inv_1',
  name: 'Zoë 🌍',
  gift: { kind: 'key', key: { allowedModels: ['alpha-*'], tokensPerMinute: 5 } },
  createdAt: 1_000,
  expiresAt: 9_000,
  createdBy: 'Ann',
};

function describeInvitations(open: Open): void {
  test('invitations come back whole, oldest first, and leave when they are over', async () => {
    const { store, reopen } = open();
    const other: Invitation = {
      ...{ ...INVITATION, id: 'inv_2', expiresAt: 20_000, createdBy: undefined },
      gift: { kind: 'person', role: 'viewer' },
    };
    await store.invitations.insert(INVITATION, 'one');
    await store.invitations.insert(other, 'two');
    const { invitations } = await reopen();
    expect(await invitations.list()).toEqual([INVITATION, other]);
    expect(await invitations.find('two')).toEqual(other);
    expect(await invitations.find('three')).toBeUndefined();
    await invitations.removeBefore(9_000);
    expect(await invitations.list()).toEqual([other]);
  });

  test('of many who use one invitation at once, one gets it', async () => {
    const { invitations } = open().store;
    await invitations.insert(INVITATION, 'one');
    const taken = await Promise.all(Array.from({ length: 8 }, () => invitations.take('one')));
    expect(taken.filter((one) => one !== undefined)).toEqual([INVITATION]);
    expect([await invitations.take('one'), await invitations.list()]).toEqual([undefined, []]);
  });

  test('a revoked invitation is gone', async () => {
    const { invitations } = open().store;
    await invitations.insert(INVITATION, 'one');
    expect([await invitations.remove('inv_1'), await invitations.remove('inv_1')]).toEqual([
      true,
      false,
    ]);
    expect(await invitations.take('one')).toBeUndefined();
  });
}
