// Who may enter is the same at every replica: sessions of the console, links, tries, address rules, wrong keys.

import { expect, test } from 'vitest';
import { loadAccessControl } from '../../src/access/access.ts';
import { createMemoryCluster, Hub } from '../../src/cluster/memory.ts';
import { dailyBudget } from '../support/budgets.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryAccessStores, NO_PROVIDER } from '../support/memory-access-stores.ts';

const PASSWORD = 'correct horse battery staple';
const BROWSER = { address: '192.0.2.7', cookie: undefined };

/** @param isHeard false where what one tells is still on its way to the other */
async function openReplicas({ isHeard = true } = {}) {
  const clock = createFakeClock(Date.UTC(2026, 10, 27, 12));
  const common = new Hub(clock);
  const stores = createMemoryAccessStores();
  let ids = 0;
  const open = (replica: string) =>
    loadAccessControl({
      ...{ stores, clock, provider: NO_PROVIDER },
      cluster: createMemoryCluster({
        ...{ replica, clock, onFault },
        hub: isHeard ? common : new Hub(clock),
      }),
      settings: () => ({
        addressFilter: { enabled: true, fallback: 'allow', allowBeatsDeny: false },
        consolePassword: PASSWORD,
        sessionIdleMs: 3_600_000,
      }),
      passwordSettled: async () => undefined,
      derive: (purpose) => Buffer.from(purpose.padEnd(32).slice(0, 32)),
      createId(prefix) {
        ids += 1;
        return `${prefix}${ids}`;
      },
      redactorFor: () => ({ text: (text: string) => text }) as never,
      log: { info: ignore, warn: onFault, error: onFault } as never,
    });
  return { clock, one: await open('one'), other: await open('other') };
}

test('a session of the console is one at every replica, until it ends at any', async () => {
  const { one, other } = await openReplicas();
  const { secret } = await one.login.signIn(PASSWORD, BROWSER);
  expect(await other.login.findSession(secret)).toBeDefined();
  await other.login.endAllSessions();
  expect(await one.login.findSession(secret)).toBeUndefined();
});

test('a sign-in link works once, at whichever replica it is opened', async () => {
  const { clock, one, other } = await openReplicas();
  const secret = one.login.createLink();
  await clock.advance(0);
  expect(await other.login.redeemLink(secret, BROWSER)).toBeDefined();
  expect(await one.login.redeemLink(secret, BROWSER)).toBeUndefined();
});

test('tries to sign in count together over the replicas', async () => {
  const { one, other } = await openReplicas();
  const outcomes: unknown[] = [];
  for (let turn = 0; turn < 8; turn += 1) {
    const { login } = turn % 2 === 0 ? one : other;
    outcomes.push(await login.isPassword(`wrong ${turn}`, '198.51.100.3').catch(kindOf));
  }
  expect(outcomes).toEqual([...Array(5).fill(false), ...Array(3).fill('rate-limited')]);
});

test('wrong keys of an address count together over the replicas', async () => {
  const { one, other } = await openReplicas();
  const outcomes = Array.from({ length: 24 }, (_, turn) => {
    const { guesses } = turn % 2 === 0 ? one : other;
    try {
      guesses.check({
        ...{ address: '198.51.100.4', keyId: undefined, isOfPage: false },
        credentials: [`sk-wrong-${turn}`],
      });
      return 'looked at';
    } catch (error) {
      return kindOf(error);
    }
  });
  expect(outcomes).toEqual([...Array(20).fill('looked at'), ...Array(4).fill('rate-limited')]);
});

test('an address rule of one replica holds at all', async () => {
  const { clock, one, other } = await openReplicas();
  const rule = await one.addresses.add({ list: 'deny', range: '203.0.113.0/24' }, '192.0.2.7');
  await clock.advance(0);
  expect(() => other.addresses.enter('203.0.113.9')).toThrow();
  await other.addresses.remove(rule.id, '192.0.2.7');
  await clock.advance(0);
  expect(() => one.addresses.enter('203.0.113.9')).not.toThrow();
});

test('a change without a revision is made of what another replica stored a moment ago, or at the same moment', async () => {
  const { one, other } = await openReplicas({ isHeard: false });
  const both = [one, other] as const;
  const by = { byAddress: '192.0.2.7' };
  const { id } = (await one.keys.create({ name: 'Ada' })).listed.key;
  await other.keys.find(id);
  await one.keys.change(id, { name: 'Eve' }, undefined);
  expect((await other.keys.change(id, { team: 'Lab' }, undefined)).key).toMatchObject({
    ...{ name: 'Eve', team: 'Lab', revision: 3 },
  });
  await one.keys.rotate(id, { overlapMs: 0 });
  await Promise.all(both.map(({ keys }) => keys.rotate(id, { overlapMs: 1000 })));
  expect((await other.keys.endPrevious(id)).key).toMatchObject({ name: 'Eve', revision: 7 });
  await expect(one.keys.change(id, { team: 'Lab' }, 5)).rejects.toMatchObject({ fault: 'stale' });

  const { budget } = await one.budgets.create(dailyBudget(id, 'requests', 5));
  await other.budgets.find(budget.id);
  await one.budgets.change(budget.id, { amount: 6 }, undefined);
  const budgets = await Promise.all([
    other.budgets.change(budget.id, { warnPercent: 50 }, undefined),
    one.budgets.change(budget.id, { isHard: false }, undefined),
    other.budgets.change(budget.id, { warnPercent: 60 }, undefined),
  ]);
  expect(Math.max(...budgets.map((state) => state.budget.revision))).toBe(5);
  expect(budgets.every((state) => state.budget.amount === 6)).toBe(true);

  const rule = await one.addresses.add({ list: 'deny', range: '203.0.113.0/24' }, by.byAddress);
  await other.addresses.change(rule.id, { note: 'why' }, by);
  expect(await one.addresses.change(rule.id, { list: 'allow' }, by)).toMatchObject({
    ...{ note: 'why', list: 'allow', revision: 3 },
  });

  const ann = await one.people.add({ name: 'Ann', role: 'operator', passwordHash: 'x' });
  await other.people.change(ann.id, { role: 'viewer' });
  expect(await one.people.change(ann.id, { passwordHash: 'y' })).toMatchObject({
    ...{ role: 'viewer', passwordHash: 'y', revision: 3 },
  });
});

test('what another replica stored a moment ago is found, by its latest revision, before anybody is told of it', async () => {
  const { one, other } = await openReplicas({ isHeard: false });
  const { id } = (await one.keys.create({ name: 'Ada' })).listed.key;
  expect((await other.keys.find(id)).key.name).toBe('Ada');
  await one.keys.change(id, { name: 'Eve' }, 1);
  expect((await other.keys.change(id, { team: 'Lab' }, 2)).key).toMatchObject({ name: 'Eve' });
  await expect(other.keys.change(id, { team: 'Lab' }, 4)).rejects.toMatchObject({ fault: 'stale' });

  const { budget } = await one.budgets.create(dailyBudget(id, 'requests', 5));
  await one.budgets.change(budget.id, { amount: 6 }, 1);
  expect((await other.budgets.find(budget.id)).budget.amount).toBe(6);

  const ann = await one.people.add({ name: 'Ann', role: 'operator', passwordHash: 'x' });
  expect(await other.people.find(ann.id)).toEqual(ann);

  const bob = await one.people.add({ name: 'Bob', role: 'viewer', passwordHash: 'y' });
  const signedIn = await one.login.beginFor(bob, BROWSER);
  // The browser asks for several things at once.
  const found = [other.login.findSession(signedIn.secret), other.login.findSession('unknown')];
  const seen = [{ role: 'viewer', person: { name: 'Bob' } }, undefined];
  expect(await Promise.all(found)).toMatchObject(seen);

  const rule = await one.addresses.add({ list: 'deny', range: '203.0.113.0/24' }, '192.0.2.7');
  const by = { byAddress: '192.0.2.7' };
  expect(await other.addresses.change(rule.id, { note: 'why' }, by)).toMatchObject({ note: 'why' });
  await expect(other.keys.find('key_none')).rejects.toMatchObject({ fault: 'missing' });
});

function kindOf(error: unknown): unknown {
  return error instanceof Error && 'kind' in error ? error.kind : error;
}

function ignore(): void {}

function onFault(...given: unknown[]): never {
  throw new Error(JSON.stringify(given));
}

test('people, their roles, invitations and sessions are the same at every replica', async () => {
  const { one, other } = await openReplicas();
  const gift = { kind: 'person', role: 'operator' } as const;
  const { secret } = await one.invitations.create({
    ...{ name: 'Ann', gift, createdBy: undefined, lifetimeMs: 60_000 },
  });
  const uses = await Promise.all(
    [one, other].map(({ invitations }) => invitations.use(secret, async ({ name }) => name)),
  );
  expect(uses.filter((used) => used !== undefined)).toEqual(['Ann']);
  const person = await one.people.add({ name: 'Ann', role: 'operator', passwordHash: 'x' });
  const session = await one.login.beginFor(person, BROWSER);
  await expect.poll(() => other.login.roleOfSession(session.secret)).toBe('operator');
  await other.people.change(person.id, { role: 'viewer' });
  await expect.poll(() => one.login.roleOfSession(session.secret)).toBe('viewer');
  await one.people.remove(person.id);
  await expect.poll(() => other.login.roleOfSession(session.secret)).toBeUndefined();
});
