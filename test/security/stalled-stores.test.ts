// A store of the door that hangs or fails: whoever may come in still comes in at once, the rest stays out.

import { afterEach, expect, test } from 'vitest';
import type { AccessEntry, AccessLogStore } from '../../src/access/access-log.ts';
import { asSentence } from '../../src/lib/localized-message.ts';
import { DEFAULT_EDGE_SETTINGS } from '../../src/server/settings.ts';
import { startEdge, type TestEdge } from '../../src/server/start-edge.test-support.ts';
import { dailyBudget } from '../support/budgets.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import {
  type AccessStores,
  createMemoryAccessStores,
  loadMemoryAccess,
} from '../support/memory-access-stores.ts';

let edge: TestEdge | undefined;
afterEach(async () => {
  await edge?.server.close();
  edge = undefined;
});

const never = (): Promise<never> => new Promise(() => {});
const fail = (): Promise<never> => Promise.reject(new Error('disk full'));

/** Good until `breakDown`, as a disk is that fills up or a database that stops. */
function createBreakingStores(broken: () => Promise<never>) {
  const good = createMemoryAccessStores();
  let isBroken = false;
  const guard = <Store extends object>(store: Store): Store =>
    new Proxy(store, {
      get(target, name, receiver) {
        const member: unknown = Reflect.get(target, name, receiver);
        return typeof member === 'function' && isBroken ? broken : member;
      },
    });
  const stores: AccessStores = {
    clientKeys: guard(good.clientKeys),
    budgets: guard(good.budgets),
    addressRules: guard(good.addressRules),
    accessLog: guard(good.accessLog),
    audit: guard(good.audit),
    consoleSessions: guard(good.consoleSessions),
    people: guard(good.people),
    invitations: guard(good.invitations),
  };
  return {
    stores,
    breakDown() {
      isBroken = true;
    },
  };
}

test.each([
  ['hangs', never],
  ['fails', fail],
] as const)('model requests do not notice a store that %s', async (_what, broken) => {
  const clock = createFakeClock();
  const { stores, breakDown } = createBreakingStores(broken);
  const settings = {
    ...DEFAULT_EDGE_SETTINGS,
    port: 0,
    authMode: 'strict' as const,
    addressFilter: { enabled: true, fallback: 'allow' as const, allowBeatsDeny: false },
    trustedProxies: ['127.0.0.1'],
  };
  const warnings: string[] = [];
  const warn = (_fields: object, message: string): void => void warnings.push(message);
  const access = await loadMemoryAccess({
    stores,
    settings: () => settings,
    clock,
    log: { info: warn, warn },
  });
  const { secret, listed } = await access.keys.create({
    name: 'Ada',
    requestsPerMinute: 300,
  });
  await access.budgets.create(dailyBudget(listed.key.id, 'tokens', 100_000_000));
  await access.addresses.add({ list: 'deny', range: '203.0.113.9' }, '127.0.0.1');
  const running = await startEdge({ access, settings });
  edge = running;
  const ask = async (key: string, from = '127.0.0.1'): Promise<number> => {
    const answer = await fetch(`${running.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${key}`,
        'x-forwarded-for': from,
      },
      body: JSON.stringify({ model: 'alpha-3-flash' }),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  breakDown();
  for (let second = 0; second < 30; second += 1) {
    const statuses = [await ask(secret), await ask('wrong'), await ask(secret, '203.0.113.9')];
    expect(statuses).toEqual([200, 401, 403]);
    await clock.advance(1_000);
  }
  // Said once for each kind of thing that could not be saved, not once for each request.
  expect(warnings.filter((text) => text.includes('cannot be saved')).length).toBe(
    broken === fail ? 4 : 0,
  );
  expect(access.accessLog.dropped).toBe(0);
});

test('an access log that cannot be saved forgets the oldest entries, counted, and not more', async () => {
  const clock = createFakeClock();
  const accessLog: AccessLogStore = { add: fail, list: fail };
  const stores = { ...createMemoryAccessStores(), accessLog };
  const settings = DEFAULT_EDGE_SETTINGS;
  const access = await loadMemoryAccess({ stores, settings: () => settings, clock });
  const entry = {
    verdict: 'blocked',
    address: '203.0.113.9',
    method: 'GET',
    path: '/x'.repeat(5_000),
    keyId: undefined,
    reason: asSentence('no'),
  } as const;
  for (let count = 0; count < 5_000; count += 1) access.accessLog.add(entry);
  await clock.advance(10_000);
  expect(access.accessLog.dropped).toBe(4_000);
  for (let count = 0; count < 10; count += 1)
    access.accessLog.add({ ...entry, reason: asSentence('late') });
  const saved: AccessEntry[] = [];
  accessLog.add = async (entries) => void saved.push(...entries);
  await clock.advance(10_000);
  expect([saved.length, access.accessLog.dropped]).toEqual([1_000, 4_010]);
  expect(saved.slice(-10).every(({ reason }) => reason.text === 'late')).toBe(true);
  expect(saved.every(({ path }) => path.length <= 256)).toBe(true);
});

test('what a refusal repeats of a request is kept in a few words', async () => {
  const clock = createFakeClock();
  const settings = { ...DEFAULT_EDGE_SETTINGS, port: 0, authMode: 'strict' as const };
  const access = await loadMemoryAccess({ settings: () => settings, clock });
  const { secret } = await access.keys.create({ name: 'Ada', allowedModels: ['alpha-*'] });
  const running = await startEdge({ access, settings });
  edge = running;
  const answer = await fetch(`${running.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: JSON.stringify({ model: 'm'.repeat(1_000_000) }),
  });
  expect(answer.status).toBe(403);
  expect((await answer.text()).length).toBeLessThan(2_000);
  const [entry] = await access.accessLog.list({ limit: 1 });
  expect(entry?.verdict).toBe('rejected');
  expect(JSON.stringify(entry?.reason).length).toBeLessThan(1_000);
});
