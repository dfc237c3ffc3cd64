import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { newAccount } from '../../../test/support/new-account.ts';

let database: TestDatabase;
let warnings: { readonly fields: object; readonly message: string }[];
beforeEach(async () => {
  warnings = [];
  database = await createTestDatabase({
    log: {
      info: () => undefined,
      warn: (fields, message) => void warnings.push({ fields, message }),
    },
  });
  for (const id of ['a', 'b']) {
    await database.stores.accounts.insert({
      ...newAccount(id),
      proxyUrl: `http://user:${id}@proxy.example`,
    });
  }
});
afterEach(() => database.close());

/** Changes rows behind the program's back, then lists. */
async function listAfter(sql: string) {
  await database.closeStores();
  const handle = new DatabaseSync(database.path, { enableForeignKeyConstraints: false });
  handle.exec(sql);
  handle.close();
  const { accounts } = await database.open();
  return (await accounts.list()).map(({ record, health, proxyUrl }) => ({
    id: record.id,
    status: health.status,
    proxyUrl,
  }));
}

test('credentials swapped between two accounts open in neither', async () => {
  const listed = await listAfter(`
    create table swap as select account_id, sealed from credentials;
    update credentials set sealed =
      (select sealed from swap where swap.account_id <> credentials.account_id);
    drop table swap;`);
  expect(listed.map(({ status }) => status.kind)).toEqual(['disabled', 'disabled']);
  for (const id of ['a', 'b']) {
    await expect(database.stores.accounts.readCredential(id)).rejects.toMatchObject({
      fault: 'unreadable',
    });
  }
});

test('one damaged account stays out with the reason; the others and all rows stay', async () => {
  const listed = await listAfter(`update credentials set sealed = 'x' where account_id = 'a'`);
  expect(listed).toMatchObject([
    {
      id: 'a',
      proxyUrl: 'http://user:a@proxy.example',
      status: {
        kind: 'disabled',
        reason: 'manual',
        detail:
          'The stored account is damaged: its credential cannot be opened: sign in or give the key again.',
      },
    },
    { id: 'b', status: { kind: 'active' } },
  ]);
  expect(warnings).toEqual([
    {
      fields: { accountId: 'a' },
      message:
        'A stored account is damaged and not used: its credential cannot be opened: sign in or give the key again.',
    },
  ]);
});

test('a new sign-in heals an account whose credential cannot be opened', async () => {
  await listAfter(`update credentials set sealed = 'x' where account_id = 'a'`);
  const { accounts } = database.stores;
  const credential = { kind: 'api-key', key: 'new' } as const;
  expect(await accounts.replaceCredential('a', credential, undefined)).toMatchObject({
    version: 2,
  });
  expect((await accounts.list())[0]?.health.status.kind).toBe('active');
});

test.each([
  [
    `update accounts set proxy_url = 'http://clear' where id = 'a'`,
    /proxy address cannot be opened/,
  ],
  [`update accounts set kind = 'of the future' where id = 'a'`, /kind is unknown/],
  [`delete from credentials where account_id = 'a'`, /credential is gone/],
  [`insert into account_health values ('a', '{"status":')`, /stored state is damaged/],
  [`insert into account_health values ('a', '{"status":{"kind":"odd"}}')`, /state is damaged/],
])('after %s the account is listed, but not used', async (sql, reason) => {
  const [a, b] = await listAfter(sql);
  expect(a?.status).toMatchObject({
    kind: 'disabled',
    detail: { text: expect.stringMatching(reason) },
  });
  expect(b?.status).toEqual({ kind: 'active' });
});

test('a credential of no known kind is unreadable, not a wrong one', async () => {
  await listAfter(`delete from credentials where account_id = 'a'`);
  await expect(database.stores.accounts.readCredential('a')).rejects.toThrow(
    /credential of account a cannot be opened/,
  );
});

test('a quota row of another kind is left out', async () => {
  await listAfter(`insert into account_quotas values
    ('a', 'odd', 0.5, null, 'guessed', 1), ('a', 'm', 7, null, 'upstream', 1)`);
  const [a] = await database.stores.accounts.list();
  expect([...(a?.quotas ?? [])]).toMatchObject([['m', { remainingFraction: 1 }]]);
});

test('a damaged trace is left out and told; the others are read', async () => {
  const bounds = { now: 0, maxEntries: 10, maxSize: 10_000 };
  const traces = ['a', 'b'].map((key) => ({ key, json: `{"key":"${key}"}`, expiresAt: 1 }));
  await database.stores.callTraces.save(traces, bounds);
  await listAfter(`update call_traces set key = 'c' where key = 'a'`);
  expect(await database.stores.callTraces.load(bounds)).toEqual([traces[1]]);
  expect(warnings.map(({ message }) => message)).toEqual([
    'A stored trace of an upstream’s tools is damaged; it is left out.',
  ]);
});

test.each([
  'no json',
  '[]',
  '{}',
  '{"allowedModels":"all"}',
  '{"allowedModels":[7]}',
  '{"allowedModels":[],"tokensPerMinute":"9"}',
  '{"allowedModels":[],"curfew":"at night"}',
  '{"allowedModels":[],"curfew":{"from":"23:00","to":"06:00"}}',
])('a key with the limits %s is there, but let in nowhere', async (limits) => {
  const { clientKeys } = database.stores.access;
  const key = {
    prefix: 'sk-1',
    enabled: true,
    allowedModels: [],
    tags: [],
    createdAt: 1,
    revision: 1,
  };
  for (const id of ['bad', 'good']) await clientKeys.insert({ ...key, id, name: id }, id);
  await listAfter(`update client_keys set limits = '${limits}' where id = 'bad'`);
  const keys = await database.stores.access.clientKeys.list();
  expect(keys.map((stored) => [stored.key.id, stored.key.enabled])).toEqual([
    ['bad', false],
    ['good', true],
  ]);
  const message = 'The limits of a stored key are damaged; it is disabled.';
  expect(warnings).toEqual([{ fields: { keyId: 'bad' }, message }]);
});
