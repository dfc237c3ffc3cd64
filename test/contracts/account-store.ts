// What every account store must do; run over each of them.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Credential, QuotaReading } from '../../src/accounts/account.ts';
import type { AccountStore } from '../../src/accounts/account-store.ts';

import { type AccountHealth, HEALTHY, nextHealth } from '../../src/accounts/health.ts';
import { newAccount } from '../support/new-account.ts';

export interface OpenedStore<Store> {
  readonly store: Store;
  /** The same content after a restart. */
  reopen(): Promise<Store>;
  close(): Promise<void>;
}

export function describeAccountStore(
  name: string,
  open: () => Promise<OpenedStore<AccountStore>>,
): void {
  describe(`account store: ${name}`, () => {
    let opened: OpenedStore<AccountStore>;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.close());
    const context = (): Context => ({ store: opened.store, opened });
    describe('records', () => describeRecords(context));
    describe('credentials', () => describeCredentials(context));
    describe('states and quotas', () => describeStates(context));
  });
}

interface Context {
  readonly store: AccountStore;
  readonly opened: OpenedStore<AccountStore>;
}

function describeRecords(context: () => Context): void {
  test('an account comes back as it was added, healthy and at revision 1', async () => {
    const { store, opened } = context();
    const account = {
      ...newAccount('a', { projectId: 'p', tier: 'pro', priority: -1.5, notes: 'Zoë\0🌍' }),
      proxyUrl: 'http://user:secret@proxy.example:8080',
    };
    const added = await store.insert(account);
    expect(added).toEqual({
      record: { ...account.record, revision: 1 },
      proxyUrl: account.proxyUrl,
      health: HEALTHY,
      quotas: new Map(),
    });
    expect(await (await opened.reopen()).list()).toEqual([added]);
  });

  test('accounts are listed oldest first, those of one moment in the order they came', async () => {
    const { store } = context();
    await store.insert(newAccount('z', { createdAt: 5 }));
    await store.insert(newAccount('b', { createdAt: 7 }));
    await store.insert(newAccount('a', { createdAt: 7 }));
    await store.insert(newAccount('m', { createdAt: 1 }));
    expect((await store.list()).map(({ record }) => record.id)).toEqual(['m', 'z', 'b', 'a']);
  });

  test('a label is taken once in its upstream, whatever its case', async () => {
    const { store } = context();
    await store.insert(newAccount('a', { label: 'Zoë@Example.com' }));
    const twin = { label: 'zoË@example.COM' };
    await expect(store.insert(newAccount('b', twin))).rejects.toMatchObject({ fault: 'conflict' });
    await store.insert(newAccount('c', { ...twin, upstreamId: 'vertex' }));
    await store.insert(newAccount('d'));
    await expect(store.update('d', twin, undefined)).rejects.toMatchObject({ fault: 'conflict' });
    expect((await store.update('a', twin, 1)).record.label).toBe(twin.label);
    expect((await store.list()).map(({ record }) => record.id)).toEqual(['a', 'c', 'd']);
    expect(await store.readCredential('b')).toBeUndefined();
  });

  test('a change leaves what it does not name, null clears, and the revision rises', async () => {
    const { store } = context();
    await store.insert({
      ...newAccount('a', { tier: 'pro', notes: 'n', projectId: 'p' }),
      proxyUrl: 'http://p.example',
    });
    const changed = await store.update('a', { tier: 'ultra', notes: null, proxyUrl: null }, 1);
    expect(changed.record).toMatchObject({ tier: 'ultra', projectId: 'p', revision: 2 });
    expect([changed.record.notes, changed.proxyUrl]).toEqual([undefined, undefined]);
    expect((await store.update('a', { priority: 3 }, undefined)).record.revision).toBe(3);
    expect(await store.list()).toMatchObject([{ record: { priority: 3, tier: 'ultra' } }]);
  });

  test('a change of another revision or of no account is refused and changes nothing', async () => {
    const { store } = context();
    await store.insert(newAccount('a'));
    await store.update('a', { notes: 'first' }, 1);
    await expect(store.update('a', { notes: 'late' }, 1)).rejects.toMatchObject({ fault: 'stale' });
    await expect(store.update('no', {}, undefined)).rejects.toMatchObject({ fault: 'missing' });
    expect((await store.list())[0]?.record).toMatchObject({ notes: 'first', revision: 2 });
  });

  test('of accounts put in an order the first has the highest priority, and only those that moved are changed', async () => {
    const { store } = context();
    for (const [index, id] of ['a', 'b', 'c', 'd'].entries())
      await store.insert(newAccount(id, { createdAt: index, priority: id === 'b' ? 2 : 0 }));
    await store.order(['c', 'b', 'none', 'a']);
    const ordered = (await store.list()).map(({ record }) => record);
    expect(ordered.map(({ id, priority, revision }) => [id, priority, revision])).toEqual([
      ['a', 1, 2],
      ['b', 3, 2],
      ['c', 4, 2],
      ['d', 0, 1],
    ]);
    await store.order(['c', 'b', 'none', 'a']);
    expect((await store.list()).map(({ record }) => record)).toEqual(ordered);
  });

  test('a removed account is gone with everything, and its label is free', async () => {
    const { store } = context();
    await store.insert(newAccount('a'));
    await store.saveQuotas('a', new Map([['m', reading(0.5)]]));
    expect([await store.remove('a'), await store.remove('a')]).toEqual([true, false]);
    expect(await store.readCredential('a')).toBeUndefined();
    const again = await store.insert(newAccount('a'));
    expect(again).toMatchObject({ health: HEALTHY, quotas: new Map() });
    expect(await store.list()).toEqual([again]);
  });
}

function describeCredentials(context: () => Context): void {
  const credentials: readonly Credential[] = [
    { kind: 'api-key', key: 'sk-1' },
    { kind: 'oauth', refreshToken: 'r', accessToken: 'a', expiresAt: 5, scopes: ['x', 'y'] },
    { kind: 'oauth', refreshToken: 'only' },
    {
      kind: 'service-account',
      clientEmail: 'robot@example.com',
      privateKey: '-----BEGIN',
      privateKeyId: 'k',
      tokenUrl: 'https://token.example',
    },
  ];
  test.each(credentials)('a $kind credential comes back whole', async (credential) => {
    const { store, opened } = context();
    await store.insert(newAccount('a', {}, credential));
    expect(await store.readCredential('a')).toEqual({ credential, version: 1 });
    expect(await (await opened.reopen()).readCredential('a')).toEqual({ credential, version: 1 });
  });

  test('the credentials of all accounts are read at once', async () => {
    const { store } = context();
    const credential: Credential = { kind: 'api-key', key: 'replaced' };
    for (const id of ['a', 'b', 'c']) await store.insert(newAccount(id));
    await store.replaceCredential('b', credential, undefined);
    await store.remove('c');
    expect([...(await store.readCredentials())].sort()).toEqual([
      ['a', newAccount('a').credential],
      ['b', credential],
    ]);
  });

  test('of ten replacements of one version exactly one wins', async () => {
    const { store } = context();
    await store.insert(newAccount('a'));
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, turn) =>
        store.replaceCredential('a', { kind: 'oauth', refreshToken: `new-${turn}` }, 1),
      ),
    );
    const won = outcomes.filter((outcome) => typeof outcome === 'object');
    expect(won).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'stale')).toHaveLength(9);
    expect(await store.readCredential('a')).toEqual(won[0]);
    expect(won[0]?.version).toBe(2);
  });

  test('without a version whatever stands there is replaced; of no account there is nothing', async () => {
    const { store } = context();
    await store.insert(newAccount('a'));
    const next: Credential = { kind: 'api-key', key: 'k' };
    expect(await store.replaceCredential('a', next, undefined)).toMatchObject({ version: 2 });
    expect(await store.replaceCredential('no', next, undefined)).toBe('missing');
    expect(await store.readCredential('no')).toBeUndefined();
  });
}

function describeStates(context: () => Context): void {
  test('health comes back as it was saved last', async () => {
    const { store, opened } = context();
    await store.insert(newAccount('a'));
    const failure = { kind: 'quota-exhausted', status: 429 } as const;
    const cooled: AccountHealth = nextHealth(
      HEALTHY,
      { kind: 'failure', model: '__proto__', failure },
      { now: 1_000_000, jitter: 0 },
    );
    await Promise.all([store.saveHealth('a', HEALTHY), store.saveHealth('a', cooled)]);
    expect((await (await opened.reopen()).list())[0]?.health).toEqual(cooled);
  });

  test('health is saved over a status that another process may have changed', async () => {
    const { store, opened } = context();
    await store.insert(newAccount('a'));
    await store.insert(newAccount('b'));
    const disabled = nextHealth(HEALTHY, { kind: 'disable' }, { now: 1_000_000, jitter: 0 });
    const served = { ...HEALTHY, servedAt: 2_000_000 };
    await store.saveHealth('a', disabled);
    for (const id of ['a', 'b']) await store.saveHealth(id, served, 'status');
    const kept = (await (await opened.reopen()).list()).map(({ health }) => health);
    expect(kept).toEqual([{ ...served, status: disabled.status }, served]);
  });

  test('saved quotas replace those of before', async () => {
    const { store, opened } = context();
    await store.insert(newAccount('a'));
    await store.saveQuotas('a', new Map([['old', reading(0.1)]]));
    const quotas = new Map([
      ['m', reading(0)],
      ['image', { ...reading(1), resetsAt: 9_000, source: 'estimated' as const }],
    ]);
    await store.saveQuotas('a', quotas);
    expect((await (await opened.reopen()).list())[0]?.quotas).toEqual(quotas);
  });

  test('the state of an account that is gone is not kept', async () => {
    const { store } = context();
    await store.saveHealth('gone', HEALTHY);
    await store.saveQuotas('gone', new Map([['m', reading(1)]]));
    await store.insert(newAccount('gone'));
    expect((await store.list())[0]?.quotas).toEqual(new Map());
  });
}

function reading(remainingFraction: number): QuotaReading {
  return { remainingFraction, resetsAt: undefined, source: 'upstream', fetchedAt: 4_000 };
}
