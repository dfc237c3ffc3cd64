// Moving a data folder into PostgreSQL, where that is installed: whole, in batches, and once only.

import { createHash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MigrateStoreOptions, migrateStore } from '../../src/cli/migrate-store.ts';
import { createAnswer } from '../../src/cli/terminal.ts';
import { told } from '../../src/lib/localized-message.ts';
import { type CopiedTable, copyStores } from '../../src/stores/copy-stores.ts';
import { changeDataKey, findDataKey, openDigestKey } from '../../src/stores/data-key.ts';
import { openPostgres, PostgresDatabase } from '../../src/stores/postgres/session.ts';
import { createTestDatabase, createTestVault, TEST_KEY } from '../support/database.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { newAccount } from '../support/new-account.ts';
import { POSTGRES_BIN, startPostgres, type TestServer } from '../support/postgres.ts';
import { recordOf } from '../support/request-records.ts';

describe.skipIf(POSTGRES_BIN === undefined)('moving a data folder into PostgreSQL', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.close());

  const openTarget = (url: string) =>
    new PostgresDatabase({
      ...{ url, clock: createFakeClock(), random: () => 0, poolSize: 2 },
      ...{ connectTimeoutMs: 5_000, statementTimeoutMs: 10_000 },
    });
  const options = (url: string, dataDir: string): MigrateStoreOptions & { lines: string[] } => {
    const lines: string[] = [];
    const add = (text: string): void => void lines.push(text);
    const environment = { databaseUrl: url, secretKey: TEST_KEY };
    const terminal = { print: add, note: add };
    const answer = createAnswer(terminal, false);
    return { lines, environment, dataDir, answer, clock: createFakeClock(), terminal };
  };

  test('everything is there afterwards as it was, and new rows come behind it', async () => {
    const folder = await createFilledFolder();
    const url = await server.createDatabase();
    const run = options(url, folder.folder);
    const vault = createTestVault();
    const sealing = { name: 'of the folder', vault };
    // Once the secret key was changed, the digests of client keys are made with one that is kept.
    const digestKey = Buffer.alloc(32, 1);
    const { stores: filled } = await folder.opened();
    await filled.database.write('power-cut', () => changeDataKey(sealing, vault, digestKey));
    await folder.closeStores();
    await migrateStore(run);
    expect(run.lines.join('\n')).toMatch(/requests 1000 of 2500\n(.*\n)*requests 2500 of 2500/);
    const database = openTarget(url);
    const stores = await openPostgres({ database, vault, clock: createFakeClock() });
    expect(await database.read(() => openDigestKey(sealing))).toEqual(digestKey);
    const { stores: before } = await folder.opened();
    expect(await stores.accounts.list()).toEqual(await before.accounts.list());
    expect(await stores.accounts.readCredential('b')).toEqual(
      await before.accounts.readCredential('b'),
    );
    expect(await stores.access.clientKeys.list()).toEqual(await before.access.clientKeys.list());
    const page = { limit: 200 };
    expect(await stores.requests.list({}, page)).toEqual(await before.requests.list({}, page));
    expect(await stores.requests.find('r7')).toEqual(await before.requests.find('r7'));
    const spans = [{ from: 0, to: 1e13 }];
    expect(await stores.requests.usage(spans, 'model')).toEqual(
      await before.requests.usage(spans, 'model'),
    );
    for (const span of spans) {
      const attempts = await before.requests.attempts(span);
      expect(attempts).not.toEqual([]);
      expect(await stores.requests.attempts(span)).toEqual(attempts);
    }
    expect(await stores.storedResponses.find('key', 'resp')).toBe('{"kept":true}');
    const client = new pg.Client(url);
    await client.connect();
    const known = `select reltuples as rows from pg_class where relname = 'requests'`;
    expect((await client.query(known)).rows).toEqual([{ rows: 2500 }]);
    await client.end();
    await stores.requests.save([recordOf({ id: 'after', at: 1e12 })]);
    expect((await stores.requests.list({}, { limit: 1 })).total).toBe(2501);
    await stores.accounts.insert(newAccount('after'));
    await stores.close();
    await folder.close();
  });

  test('what was interrupted goes on where it was; other data is refused', async () => {
    const folder = await createFilledFolder();
    const url = await server.createDatabase();
    const { stores } = await folder.opened();
    const dataKey = { name: 'accounts', sealed: await folder.sealedKey() };
    const database = openTarget(url);
    const vault = createTestVault();
    await openPostgres({ database, vault, clock: createFakeClock(), dataKey });
    const seen: CopiedTable[] = [];
    const id = createHash('sha256').update(dataKey.sealed).digest('hex');
    const copying = copyStores({
      source: { database: stores.database, id },
      target: { database, name: 'there' },
      onProgress(progress) {
        seen.push(progress);
        if (progress.table === 'requests') throw new Error('interrupted');
      },
    });
    await expect(copying).rejects.toThrow('interrupted');
    await database.close();
    await folder.closeStores();
    const rest = options(url, folder.folder);
    await migrateStore(rest);
    expect(rest.lines.join('\n')).not.toContain('accounts 2 of 2');
    expect(rest.lines.join('\n')).toContain('requests 2000 of 2500');
    // Once more has nothing to copy, and says the same.
    await migrateStore(options(url, folder.folder));
    const other = await createTestDatabase();
    await other.closeStores();
    rmSync(other.path);
    await other.open();
    await expect(migrateStore(options(url, other.folder))).rejects.toThrow(
      /holds other data already/,
    );
    await other.close();
    await folder.close();
  });

  test('without the secret key of the folder nothing is begun', async () => {
    const folder = await createFilledFolder();
    const url = await server.createDatabase();
    const run = options(url, folder.folder);
    const environment = { ...run.environment, secretKey: 'quite another key of letters' };
    await expect(migrateStore({ ...run, environment })).rejects.toThrow(
      /cannot be opened with this secret key/,
    );
    await folder.close();
  });
});

async function createFilledFolder() {
  const database = await createTestDatabase();
  const { accounts, access, requests, storedResponses } = database.stores;
  for (const id of ['b', 'a']) await accounts.insert(newAccount(id, { notes: 'Zoë\0' }));
  const key = {
    ...{ id: 'key_1', name: 'Ann', prefix: 'sk-a', enabled: true, createdAt: 1 },
    ...{ tags: [], allowedModels: [], revision: 1 },
  };
  await access.clientKeys.insert(key, 'digest');
  const reason = told`Key ${1} is over its limit.`;
  const entry = { at: 1, address: '::1', method: 'GET', path: '/', reason };
  await access.accessLog.add([{ ...entry, verdict: 'blocked', keyId: undefined }], 10);
  const change = {
    at: 1,
    actor: 'machine',
    action: 'POST /api/keys',
    subject: '/api/keys',
  } as const;
  const nothing = { session: undefined, fields: undefined, before: undefined, after: undefined };
  const audited = { ...change, ...nothing, address: '::1', requestId: 'req', status: 201 };
  await access.audit.add(audited, { most: 10, since: 0 });
  const records = Array.from({ length: 2500 }, (_, index) =>
    recordOf({
      id: `r${index}`,
      at: 1e12 + index,
      ...(index < 50 ? { bodies: { clientRequest: { text: `"${index}"`, isWhole: true } } } : {}),
    }),
  );
  const attemptsList = [{ account: 'a', model: 'm', outcome: 'ok', considered: [] }];
  const [first, ...others] = records;
  const tried = first && { ...first, details: { ...first.details, attemptsList } };
  await requests.save(tried === undefined ? others : [tried, ...others]);
  const kept = { clientKeyId: 'key', id: 'resp', json: '{"kept":true}', itemIds: ['item'] };
  await storedResponses.save({ ...kept, expiresAt: 4e12 });
  writeFileSync(join(database.folder, 'gui_config.json'), '{"proxy":{"port":9000}}');
  await database.closeStores();
  return {
    folder: database.folder,
    closeStores: () => database.closeStores(),
    close: () => database.close(),
    opened: async () => ({ stores: await database.open() }),
    sealedKey: () => sealedKeyOf(database),
  };
}

async function sealedKeyOf({ stores }: Awaited<ReturnType<typeof createTestDatabase>>) {
  const row = await stores.database.read(() => findDataKey());
  return row?.sealed ?? '';
}
