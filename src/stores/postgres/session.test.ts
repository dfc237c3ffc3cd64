import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestVault } from '../../../test/support/database.ts';
import { newAccount } from '../../../test/support/new-account.ts';
import {
  createTestPostgres,
  POSTGRES_BIN,
  startPostgres,
  type TestPostgres,
  type TestServer,
} from '../../../test/support/postgres.ts';
import { recordOf } from '../../../test/support/request-records.ts';
import { createAccountStore, createHeldCredentials } from '../account-store.ts';
import { type Database, firstOf, insert, rowsOf, run, runScript, type Work } from '../database.ts';
import { MIGRATIONS, migrate, readVersion } from '../migrations.ts';
import { createMonitorStore } from '../monitor-store.ts';
import { createRequestFigures } from '../request-figures.ts';
import { builder } from '../schema.ts';
import { createSettingsStore } from '../stores.ts';
import { openPostgres, PostgresDatabase, readText, writeText } from './session.ts';

test.each(['', 'plain', 'a\0b', '\uFDD0', '\0\uFDD00', '🌍\uFDD01'])(
  'the text %j comes back whole',
  (text) => {
    expect(writeText(text)).not.toContain('\0');
    expect(readText(writeText(text))).toBe(text);
  },
);

describe.skipIf(POSTGRES_BIN === undefined)('PostgreSQL', () => {
  let server: TestServer;
  let opened: TestPostgres;
  let said: string[];
  const log = {
    info: (_fields: object, message: string) => void said.push(message),
    warn: (_fields: object, message: string) => void said.push(message),
  };
  beforeAll(async () => {
    server = await startPostgres();
  });
  beforeEach(async () => {
    said = [];
    opened = await createTestPostgres(server, { log, connectTimeoutMs: 1_000 });
  });
  afterEach(() => opened.close());
  afterAll(() => server.close());
  const another = (change: object = {}): PostgresDatabase =>
    new PostgresDatabase({
      ...{ url: opened.url, clock: opened.clock, random: Math.random, poolSize: 2 },
      ...{ connectTimeoutMs: 1_000, statementTimeoutMs: 1_000, log, ...change },
    });

  test('of several gateways that start on an empty database all use the same one', async () => {
    const url = await server.createDatabase();
    const { vault, clock } = opened;
    const databases = Array.from({ length: 4 }, () => another({ url }));
    const all = await Promise.all(
      databases.map((database) => openPostgres({ database, vault, clock })),
    );
    await Promise.all(all.map(({ accounts }, index) => accounts.insert(newAccount(`a${index}`))));
    for (const { accounts, close } of all) {
      expect(await accounts.list()).toHaveLength(4);
      expect(await accounts.readCredential('a0')).toMatchObject({ version: 1 });
      await close();
    }
  });

  test('a server that hangs is given up as soon as it is not connected to, however many connections there are', async () => {
    const database = another({ poolSize: 6, statementTimeoutMs: 600_000 });
    const read = () => database.read(() => rowsOf(sql`select pg_sleep(0.1)`));
    await Promise.all(Array.from({ length: 6 }, read));
    server.freeze();
    try {
      await expect(read()).rejects.toMatchObject({ fault: 'unavailable' });
      expect(database.reachability().isReachable).toBe(false);
    } finally {
      server.thaw();
    }
    await expect.poll(() => database.reachability().isReachable).toBe(true);
    await read();
    await database.close();
  });

  test('what two gateways make of one answer at the same moment all counts', async () => {
    const { vault, clock } = opened;
    const stores = await Promise.all(
      [another(), another()].map((database) => openPostgres({ database, vault, clock })),
    );
    const row = (count: number) => ({
      ...{ clientKeyId: 'key', id: 'r', itemIds: [], expiresAt: clock.now() + 60_000 },
      json: String(count),
    });
    await stores[0]?.storedResponses.save(row(0));
    await Promise.all(
      Array.from({ length: 5 }, () => stores)
        .flat()
        .map(({ storedResponses }) =>
          storedResponses.change('key', 'r', (json) => [row(Number(json) + 1)]),
        ),
    );
    expect(await stores[1]?.storedResponses.find('key', 'r')).toBe('10');
    for (const { close } of stores) await close();
  });

  test('another secret key, a later version and a wrong address are refused with the way out', async () => {
    await expect(
      opened.open({ vault: createTestVault('quite another key of letters') }),
    ).rejects.toThrow(/cannot be opened with this secret key.*ISTHMUS_SECRET_KEY/);
    await opened.open();
    const later = { version: 99, name: 'of the future', appliedAt: 0 };
    await opened.database.write('crash', () => insert('migrations', [later]));
    await expect(opened.open()).rejects.toThrow(
      /is of version 99; this program knows versions up to/,
    );
    const database = another({ url: opened.url.replace(/test_\d+$/, 'none') });
    await expect(database.read(() => runScript('select 1'))).rejects.toThrow(
      /There is no database .*none/,
    );
    await database.close();
  });

  test('every earlier version is brought to the present one, each step once', async () => {
    const versions = MIGRATIONS.flatMap(({ version, postgres }) => (postgres ? [version] : []));
    const steps = [
      ...MIGRATIONS,
      { version: 1000, name: 'next', sqlite: '', postgres: 'create table extra (a text)' },
    ];
    for (const version of versions) {
      const database = another({ url: await server.createDatabase() });
      const { name, dialect } = database;
      const upTo = (most: number) =>
        migrate({
          name,
          dialect,
          now: 7,
          migrations: steps.filter((step) => step.version <= most),
        });
      await database.alone(() => upTo(version));
      for (let turn = 0; turn < 2; turn += 1) await database.alone(() => upTo(1000));
      const found = await database.read(() =>
        readVersion({ name, dialect, now: 0, migrations: steps }),
      );
      expect(found).toBe(1000);
      expect(await database.read(() => firstOf(dialect.tableNamed('extra')))).toBeDefined();
      await database.close();
    }
  });

  test('two who change one credential at the same moment: the second is told, over all connections', async () => {
    await opened.stores.accounts.insert(newAccount('a'));
    const others = await Promise.all(
      Array.from({ length: 3 }, () =>
        openPostgres({ database: another(), vault: opened.vault, clock: opened.clock }),
      ),
    );
    const stores = [opened.stores, ...others];
    const outcomes = await Promise.all(
      stores.flatMap(({ accounts }, index) =>
        [1, 2].map((turn) =>
          accounts.replaceCredential('a', { kind: 'api-key', key: `k${index}-${turn}` }, 1),
        ),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === 'stale')).toHaveLength(7);
    for (const { close } of others) await close();
  });

  test('records of several gateways add up', async () => {
    const other = await openPostgres({
      database: another(),
      vault: opened.vault,
      clock: opened.clock,
    });
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? opened.stores : other).requests.save([
          recordOf({ id: `r${index}`, at: 1e12 }),
        ]),
      ),
    );
    const [sum] = await other.requests.usage([{ from: 0, to: 2e12 }], 'none');
    expect(sum?.requests).toBe(20);
    expect((await other.requests.list({}, { limit: 50 })).rows).toHaveLength(20);
    await other.close();
  });

  /** The database of the test, but for what is changed. */
  const through = ({ database }: TestPostgres, change: Partial<Database>): Database => ({
    ...{ dialect: database.dialect, read: (work) => database.read(work) },
    ...{ write: (survives, work) => database.write(survives, work) },
    ...{ erase: (work) => database.erase(work), endErasing: () => database.endErasing() },
    ...{ giveBackRoom: () => database.giveBackRoom(), close: () => database.close() },
    ...change,
  });

  test('records that were saved though nobody heard of it are saved once, and count once', async () => {
    const { database, clock } = opened;
    let isHeard = false;
    const unheard = through(opened, {
      async write(survives, work) {
        const result = await database.write(survives, work);
        if (!isHeard) throw new Error('Connection terminated');
        return result;
      },
    });
    const store = createMonitorStore(unheard, clock);
    const records = ['a', 'b'].map((id) => recordOf({ id, requestId: 'chosen', at: 1000 }));
    await expect(store.save(records)).rejects.toThrow('terminated');
    isHeard = true;
    await store.save([...records, recordOf({ id: 'c', requestId: 'chosen', at: 1000 })]);
    const { rows } = await store.list({}, { limit: 10 });
    expect(rows.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c']);
    const [usage] = await store.usage([{ from: 0, to: 2000 }], 'none', {});
    expect(usage?.requests).toBe(3);
  });

  test('the bytes of all records are added up once for all steps of a sweep', async () => {
    const { database, clock } = opened;
    let sums = 0;
    const counted = through(opened, {
      read(work) {
        sums += 1;
        return database.read(work);
      },
    });
    const store = createMonitorStore(counted, clock);
    await store.save([recordOf({ at: 1000 })]);
    const hour = 3_600_000;
    const sizes = { maxBytes: 1e12, reducedBytes: 1e12 };
    const limits = { oldest: 0, oldestUsage: 0, closedBefore: 3 * hour, ...sizes };
    let steps = 1;
    while (!(await store.sweep(limits))) steps += 1;
    expect(steps).toBeGreaterThan(10);
    expect(sums).toBe(1);
  });

  test('a key that another gateway replaced is read behind the request that needs it', async () => {
    await opened.stores.accounts.insert(newAccount('a', {}, { kind: 'api-key', key: 'first' }));
    await opened.stores.accounts.list();
    await server.kill();
    const held = await opened.stores.accounts.readCredential('a');
    expect(held?.credential).toEqual({ kind: 'api-key', key: 'first' });
    await expect(opened.stores.accounts.list()).rejects.toMatchObject({ fault: 'unavailable' });
    await server.start();
  });

  test('keys of many accounts that are asked for at once leave connections to others', async () => {
    let now = 0;
    let running = 0;
    let most = 0;
    const counted = through(opened, {
      read(work) {
        running += 1;
        most = Math.max(most, running);
        return opened.database.read(work).finally(() => {
          running -= 1;
        });
      },
    });
    const held = createHeldCredentials(() => now);
    const accounts = createAccountStore(counted, { vault: opened.vault, held });
    const ids = Array.from({ length: 50 }, (_, index) => `a${index}`);
    for (const key of ids) await accounts.insert(newAccount(key, {}, { kind: 'api-key', key }));
    await accounts.list();
    now = 2000;
    for (const key of ids)
      expect(await accounts.readCredential(key)).toMatchObject({ credential: { key } });
    expect(most).toBe(2);
    await expect.poll(() => running).toBe(0);
  });

  test('a server that gives out no more connections is waited for, also at a start', async () => {
    const admin = new pg.Client(opened.url);
    await admin.connect();
    await admin.query('create role few login connection limit 2');
    const url = new URL(opened.url);
    url.username = 'few';
    const database = another({ url: url.href, poolSize: 8, connectTimeoutMs: 5_000 });
    const read = () => database.read(() => rowsOf(sql`select pg_sleep(0.05) is null as is_null`));
    expect(await Promise.all(Array.from({ length: 12 }, read))).toHaveLength(12);
    expect(database.reachability().isReachable).toBe(true);
    expect(said).toEqual([]);
    const starting = another({ url: url.href, connectTimeoutMs: 100 });
    const reached = starting.waitUntilReachable(20_000);
    await expect.poll(() => said.length).toBe(1);
    // Nothing is served yet that could go on.
    expect(said[0]).toMatch(/^PostgreSQL cannot be reached yet\. It is waited for\./);
    await database.close();
    await reached;
    await starting.close();
    await expect.poll(() => admin.query('drop role few').then(() => true)).toBe(true);
    await admin.end();
  });

  test('a lost server is told once, refuses at once, and is back by itself', async () => {
    const { database } = opened;
    const states: boolean[] = [];
    const back = Promise.withResolvers<void>();
    database.subscribe(({ isReachable }) => {
      states.push(isReachable);
      if (isReachable) back.resolve();
    });
    await server.kill();
    for (let turn = 0; turn < 5; turn += 1) {
      await expect(database.read(() => runScript('select 1'))).rejects.toMatchObject({
        fault: 'unavailable',
        message: expect.stringContaining('cannot be reached'),
      });
    }
    expect(database.reachability().isReachable).toBe(false);
    await server.start();
    await back.promise;
    expect(states).toEqual([false, true]);
    await database.read(() => runScript('select 1'));
    const lost = said.filter((message) => message.startsWith('PostgreSQL cannot be reached'));
    expect([lost.length, said.at(-1)]).toEqual([1, 'PostgreSQL is back.']);
  });

  test('connections of before a restart of the server cost nobody an error', async () => {
    const { database } = opened;
    await Promise.all(Array.from({ length: 4 }, () => database.read(() => runScript('select 1'))));
    await server.kill();
    await server.start();
    const all = Array.from({ length: 4 }, () => database.read(() => runScript('select 1')));
    await expect(Promise.all(all)).resolves.toBeDefined();
  });

  test('a connection that can only read leads to no later write: the server may be another by then', async () => {
    const { stores, database } = opened;
    // As a server does that another one took the place of.
    await database.read(() => runScript('set session characteristics as transaction read only'));
    await expect(stores.accounts.insert(newAccount('a'))).rejects.toMatchObject({
      fault: 'unavailable',
      message: expect.stringContaining('can only be read now'),
    });
    expect(await stores.accounts.insert(newAccount('a'))).toMatchObject({ record: { id: 'a' } });
  });

  test('a server that hangs is given up after its time', async () => {
    const database = another({ statementTimeoutMs: 100 });
    await database.read(() => runScript('select 1'));
    await expect(database.read(() => runScript('select pg_sleep(60)'))).rejects.toThrow(
      /took too long/,
    );
    await database.close();
  });

  test('work that fails leaves nothing, also what went on after a refused statement', async () => {
    const { database } = opened;
    const row = { name: 'a', revision: 1, document: '{}' };
    await expect(
      database.write('crash', function* () {
        yield* insert('settings', [row]);
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    const careless = database.write('crash', function* () {
      yield* insert('settings', [row]);
      try {
        yield* insert('settings', [row]);
      } catch {
        // As if nothing had happened.
      }
    });
    await expect(careless).rejects.toThrow(/not kept/);
    expect(await database.read(() => rowsOf(builder.selectFrom('settings').selectAll()))).toEqual(
      [],
    );
  });

  test('outcomes of a gateway, a model or a key over time are counted without reading the records', async () => {
    const { stores, database } = opened;
    await stores.requests.save([recordOf({ id: 'req_1', at: 0 })]);
    await database.write('crash', () => runScript(MANY_RECORDS));
    // Whoever reads an index alone must know of which pages everything is seen.
    const client = new pg.Client(opened.url);
    await client.connect();
    await client.query('vacuum analyze requests');
    await client.end();
    const plans: string[] = [];
    const monotonic = () => 0;
    const figures = createRequestFigures({ database: explaining(database, plans), monotonic });
    const models = [{ model: 'model-1' }, { model: 'upstream-1' }];
    for (const filter of [
      { replica: 'gateway-1' },
      ...models,
      { key: 'key_1' },
      { key: 'Person 1' },
    ]) {
      expect(await figures.histogram(filter, 60)).toMatchObject({ isWhole: true });
    }
    const counted = plans.filter((plan) => plan.includes('Aggregate'));
    expect(counted.length).toBe(1 + 2 * 3 + 2 * 2);
    for (const plan of counted) {
      expect(plan).toContain('Index Only Scan');
      expect(plan).not.toMatch(/Seq Scan|Heap Scan|Index Scan/);
    }
  });

  test('usage of hours that are not summed up yet is read along its times, whatever it is narrowed to', async () => {
    const { stores, database, clock } = opened;
    await stores.requests.save([recordOf({ id: 'req_1', at: 0, team: 'team-1' })]);
    await database.write('crash', () => runScript(MANY_SUMS));
    const plans: string[] = [];
    const explained = through(opened, { read: (work) => explaining(database, plans).read(work) });
    const requests = createMonitorStore(explained, clock);
    const spans = [{ from: 100 * HOUR_MS, to: 101 * HOUR_MS }];
    const [sum] = await requests.usage(spans, 'model', { team: 'team-1' });
    expect(sum).toMatchObject({ at: 100 * HOUR_MS, requests: 4 });
    await requests.latency({ spans, by: 'none', filter: { team: 'team-1', protocol: 'chat' } });
    const read = plans.filter((plan) => plan.includes('usage_sums'));
    expect(read.length).toBeGreaterThanOrEqual(2);
    for (const plan of read) expect(plan).not.toContain('Seq Scan on usage_sums');
  });

  test('of two who change the settings the second is told', async () => {
    const store = createSettingsStore(opened.database);
    expect(await store.read()).toBeUndefined();
    expect([await store.replace('one', undefined), await store.replace('two', undefined)]).toEqual([
      true,
      false,
    ]);
    expect([await store.replace('two', 'one'), await store.replace('three', 'one')]).toEqual([
      true,
      false,
    ]);
    expect(await store.read()).toEqual({ revision: 2, document: 'two' });
    await opened.database.write('crash', () => run(builder.deleteFrom('settings')));
  });
});

const HOUR_MS = 3_600_000;

/** Four sums of each hour, in some teams. */
const MANY_SUMS = `
insert into usage_sums (at, model, account, key_id, owner, team, tags, protocol, requests, errors, input_tokens, output_tokens, cached_tokens, cache_write_tokens, thought_tokens, images, priced_requests, cost_nanos, flat_rate_nanos, cache_savings_nanos)
select n * cast(900000 as bigint), 'm', 'a', 'k', '', case when n < 2000 then 'team-1' else 'team-2' end, '', 'chat', 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0
from generate_series(1, 40000) as n;
analyze usage_sums`;

const MANY_RECORDS = `
insert into requests (id, request_id, at, model, upstream_model, key_id, key_name, replica, protocol, outcome, status, surface, method, path, stream, client_address, attempts, retries, total_ms, dropped, approximated, repaired, bytes, details)
select 'req_' || n, 'req_' || n, n * 1000, 'model-' || n % 5, 'upstream-' || n % 5, 'key_' || n % 5, 'Person ' || n % 5, 'gateway-' || n % 5, protocol, outcome, status, surface, method, path, stream, client_address, attempts, retries, total_ms, dropped, approximated, repaired, bytes, repeat('details ', 50)
from requests, generate_series(2, 20000) as n where sequence = 1`;

/** The same, which notes how each query is carried out. */
function explaining(database: PostgresDatabase, plans: string[]): Database {
  return Object.assign(Object.create(database), {
    read: <Result>(work: () => Work<Result>) =>
      database.read(function* () {
        const steps = work();
        let step = steps.next();
        while (!step.done) {
          const statement = step.value;
          if (statement.kind === 'rows') {
            const { sql: text, parameters } = statement.query.compile(builder);
            const query = parameters.reduce<string>(
              (left, one) => left.replace('?', typeof one === 'string' ? `'${one}'` : String(one)),
              text,
            );
            const rows = yield* rowsOf(sql<object>`${sql.raw(`explain ${query}`)}`);
            plans.push(rows.flatMap((row) => Object.values(row)).join('\n'));
          }
          step = steps.next(yield statement);
        }
        return step.value;
      }),
  });
}
