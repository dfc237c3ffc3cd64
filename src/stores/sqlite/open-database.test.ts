import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  createTestDatabase,
  createTestVault,
  type TestDatabase,
} from '../../../test/support/database.ts';
import { callsToFail, createFailingHandle } from '../../../test/support/failing-handle.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { newAccount } from '../../../test/support/new-account.ts';
import { createDataKey } from '../data-key.ts';
import { runScript } from '../database.ts';
import { MIGRATIONS, migrate } from '../migrations.ts';
import { openDatabase } from './open-database.ts';
import { openSqliteFile, SqliteConnection } from './session.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
  await database.stores.accounts.insert(newAccount('a'));
});
afterEach(() => database.close());

const refusal = async (): Promise<string> => {
  const before = contents();
  const error: unknown = await database.open().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'StoreError' });
  expect(contents()).toEqual(before);
  return error instanceof Error ? error.message : '';
};
/** What stands on disk; the shared memory is no content. */
const contents = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(database.folder)
      .filter((name) => !name.endsWith('-shm'))
      .filter((name) => statSync(`${database.folder}/${name}`).size > 0 || !name.endsWith('-wal'))
      .map((name) => [name, readFileSync(`${database.folder}/${name}`, 'base64')]),
  );
const edit = async (sql: string): Promise<void> => {
  await database.closeStores();
  const handle = new DatabaseSync(database.path);
  handle.exec(sql);
  handle.close();
};

test('every file of a database is private, also one that others could read before', async () => {
  const modes = (): number[] =>
    readdirSync(database.folder).map((name) => statSync(`${database.folder}/${name}`).mode & 0o777);
  await database.closeStores();
  rmSync(database.path);
  await database.open();
  expect(readdirSync(database.folder).sort()).toEqual([
    'isthmus.db',
    'isthmus.db-shm',
    'isthmus.db-wal',
  ]);
  expect(modes()).toEqual([0o600, 0o600, 0o600]);
  await database.closeStores();
  chmodSync(database.path, 0o666);
  await database.open();
  expect(new Set(modes())).toEqual(new Set([0o600]));
});

test('an empty file where the database stood is refused', async () => {
  await database.closeStores();
  writeFileSync(database.path, '');
  expect(await refusal()).toMatch(/isthmus\.db is empty \(0 bytes\).*backup/);
});

test('a file that is no database, or of another program, is refused', async () => {
  await database.closeStores();
  writeFileSync(database.path, 'something else '.repeat(20));
  expect(await refusal()).toMatch(/is no database, or its beginning is damaged/);
  rmSync(database.path);
  new DatabaseSync(database.path).exec('create table theirs (a)');
  expect(await refusal()).toMatch(/is a database of another program/);
});

test('a database that is missing while its latest changes are there is refused', async () => {
  renameSync(`${database.path}-wal`, `${database.path}-kept`);
  await database.closeStores();
  rmSync(database.path);
  renameSync(`${database.path}-kept`, `${database.path}-wal`);
  expect(await refusal()).toMatch(/is missing, but its latest changes are there/);
  expect(existsSync(database.path)).toBe(false);
});

test('damaged pages are found at the start', async () => {
  for (let turn = 0; turn < 100; turn += 1) {
    await database.stores.accounts.insert(newAccount(`b${turn}`, { notes: 'n'.repeat(500) }));
  }
  await database.closeStores();
  const bytes = readFileSync(database.path);
  bytes.fill(0xa5, 4096 * 8, 4096 * 9);
  writeFileSync(database.path, bytes);
  expect(await refusal()).toMatch(/isthmus\.db is damaged.*left as it is.*To start with a new one/);
});

test('a file that is cut short is refused', async () => {
  await database.closeStores();
  writeFileSync(database.path, readFileSync(database.path).subarray(0, 4096 * 2));
  expect(await refusal()).toMatch(/isthmus\.db is damaged/);
});

test('a database of a later version is refused', async () => {
  await edit(`insert into migrations values (99, 'of the future', 0)`);
  expect(await refusal()).toMatch(/is of version 99; this program knows versions up to \d+/);
});

test('another secret key is refused, and nothing is changed', async () => {
  await database.closeStores();
  const before = contents();
  const opening = database.open({ vault: createTestVault('quite another key of letters') });
  await expect(opening).rejects.toThrow(
    /cannot be opened with this secret key.*ISTHMUS_SECRET_KEY/,
  );
  expect(contents()).toEqual(before);
  expect(await (await database.open()).accounts.list()).toHaveLength(1);
});

test('a lost or damaged key of the secrets is told', async () => {
  await edit(`update data_keys set sealed = substr(sealed, 1, 60) || 'AAAA'`);
  expect(await refusal()).toMatch(/damaged key of its secrets/);
  await edit('delete from data_keys');
  expect(await refusal()).toMatch(/has lost the key of its secrets/);
});

const DIGEST_KEY = Buffer.alloc(32, 7);

test('a change of the secret key re-seals one row and keeps every credential', async () => {
  const next = createTestVault('the next key of enough letters');
  const last = createTestVault('the last key of enough letters');
  await database.stores.changeKey(next, DIGEST_KEY);
  await database.stores.changeKey(last, DIGEST_KEY);
  await database.closeStores();
  await expect(database.open()).rejects.toMatchObject({ fault: 'unreadable' });
  const stores = await database.open({ vault: last });
  expect(await stores.accounts.readCredential('a')).toMatchObject({ version: 1 });
  expect(stores.digestKey).toEqual(DIGEST_KEY);
});

test('a new database is whole or not there at all; what a killed process left is removed', async () => {
  await database.closeStores();
  const leftover = `${database.path}.0123456789ab.new`;
  copyFileSync(database.path, leftover);
  writeFileSync(`${leftover}-wal`, 'x');
  writeFileSync(`${database.path}.backup.new`, 'not ours');
  await database.open();
  expect(readdirSync(database.folder).filter((name) => name.endsWith('.new'))).toEqual([
    'isthmus.db.backup.new',
  ]);
  expect(existsSync(`${leftover}-wal`)).toBe(false);
});

test('of several processes that start at once all use the same new database', async () => {
  const { vault, clock } = database;
  const path = `${database.folder}/shared.db`;
  const all = await Promise.all(
    Array.from({ length: 4 }, () => openDatabase({ path, vault, clock })),
  );
  await Promise.all(all.map(({ accounts }, index) => accounts.insert(newAccount(`a${index}`))));
  for (const { accounts, close } of all) {
    expect(await accounts.list()).toHaveLength(4);
    expect(await accounts.readCredential('a0')).toMatchObject({ version: 1 });
    await close();
  }
});

test('a new database is in its file before that is closed, where a full disk would say nothing', async () => {
  const path = `${database.folder}/new.db`;
  const others: DatabaseSync[] = [];
  const { accounts } = await database.open({
    path,
    open(at) {
      const handle = openSqliteFile(at);
      return {
        isTransaction: false,
        exec: (sql) => handle.exec(sql),
        prepare: (sql) => handle.prepare(sql),
        close() {
          // Beside another connection SQLite brings nothing into the file when it closes one.
          const other = new DatabaseSync(at);
          other.exec('select 1 from sqlite_master');
          others.push(other);
          handle.close();
        },
      };
    },
  });
  for (const other of others) other.close();
  await accounts.insert(newAccount('a'));
  expect(await accounts.readCredential('a')).toMatchObject({ version: 1 });
});

test('D5: without room a new database is in memory and leaves nothing, whichever call fails', async () => {
  const failing = createFailingHandle();
  const path = `${database.folder}/new.db`;
  await database.closeStores();
  const before = contents();
  await database.open({ path, open: failing.open });
  const calls = callsToFail(failing.calls);
  await database.closeStores();
  rmSync(path);
  let tried = 0;
  for (const call of calls) {
    failing.failAt(call, { code: 13, when: 'before' });
    const warn = vi.fn();
    const stores = await database.open({ path, open: failing.open, log: { info: vi.fn(), warn } });
    const isMade = existsSync(path);
    expect(stores.isLasting).toBe(isMade);
    if (isMade) break;
    tried += 1;
    expect(warn.mock.calls).toEqual([[expect.anything(), expect.stringContaining('lost')]]);
    await stores.accounts.insert(newAccount('a'));
    expect(await stores.accounts.readCredential('a')).toMatchObject({ version: 1 });
    expect(contents()).toEqual(before);
  }
  expect(tried).toBeGreaterThan(15);
});

test('D5: what is stored is served where the index of the log has no room, and written when there is', async () => {
  const failing = createFailingHandle();
  const warn = vi.fn();
  // The first call opens the file, the second meets the log.
  failing.failAt(2, { code: 4874, when: 'before' });
  const { accounts, isLasting } = await database.open({
    open: failing.open,
    log: { info: vi.fn(), warn },
  });
  expect(isLasting).toBe(true);
  expect(warn.mock.calls).toEqual([[expect.anything(), expect.stringContaining('no room left')]]);
  expect(await accounts.list()).toHaveLength(1);
  await accounts.insert(newAccount('b'));
  await database.open();
  expect(await database.stores.accounts.list()).toHaveLength(2);
});

test('D5: nothing is put on the disk that a lost key seals', async () => {
  const path = `${database.folder}/new.db`;
  const { accounts } = await database.open({ path, isLasting: false });
  await accounts.insert(newAccount('a'));
  expect(await accounts.list()).toHaveLength(1);
  expect(existsSync(path)).toBe(false);
});

test('a folder that cannot be written is told', async () => {
  const missing = `${database.folder}/none/isthmus.db`;
  const opening = database.open({ path: missing });
  await expect(opening).rejects.toThrow(/none\/isthmus\.db cannot be made \(ENOENT\)/);
});

const STEPS = MIGRATIONS.filter(({ sqlite }) => sqlite !== undefined);
const [BEFORE = 0, LATEST = 0] = STEPS.slice(-2).map(({ version }) => version);

/** A database of an earlier shape, by default of that before the last step, without accounts; of one that is there, its next. */
const makeOlder = async (path: string, version = BEFORE): Promise<void> => {
  const { clock, vault } = database;
  const isNew = !existsSync(path);
  if (isNew) writeFileSync(path, '', { mode: 0o600 });
  const connection = new SqliteConnection({ path, clock, open: openSqliteFile });
  const { dialect } = connection;
  await connection.write('power-cut', function* () {
    yield* runScript('pragma application_id = 0x69737468');
    const migrations = MIGRATIONS.filter((step) => step.version <= version);
    yield* migrate({ name: path, dialect, now: 7, migrations });
    if (isNew) yield* createDataKey(vault);
  });
  await connection.close();
};
const versionOf = (path: string): unknown => {
  const handle = new DatabaseSync(path, { readOnly: true });
  const row = handle.prepare('select max(version) as version from migrations').get();
  handle.close();
  return row?.version;
};
const DAY_MS = 86_400_000;

test('a database is kept as it was before an upgrade, which is told of, and the version before opens it', async () => {
  const path = `${database.folder}/older.db`;
  await makeOlder(path);
  writeFileSync(`${path}.before-upgrade`, 'of the upgrade before');
  const info = vi.fn();
  const stores = await database.open({ path, log: { info, warn: vi.fn() } });
  expect(info.mock.calls).toEqual([
    [{ path, from: BEFORE, to: LATEST }, expect.stringContaining('takes longer the larger it is')],
  ]);
  await stores.accounts.insert(newAccount('later'));
  const kept = `${path}.before-upgrade`;
  expect([versionOf(path), versionOf(kept)]).toEqual([LATEST, BEFORE]);
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  await database.open({ path: kept });
  expect(await database.stores.accounts.list()).toEqual([]);
});

test('a database that another process works on is not upgraded, and opened as it is when it needs none', async () => {
  const path = `${database.folder}/older.db`;
  await makeOlder(path);
  await expect(database.open({ path, isInUse: true })).rejects.toThrow(
    /earlier version works on .*older\.db\. Stop it first/,
  );
  expect(versionOf(path)).toBe(BEFORE);
  expect(existsSync(`${path}.before-upgrade`)).toBe(false);
  await database.open({ isInUse: true });
});

test('every earlier version is brought to the present one, and kept as it was', async () => {
  const older = `${database.folder}/older.db`;
  for (const { version } of STEPS.slice(0, -1)) {
    const path = `${database.folder}/${version}.db`;
    await makeOlder(older, version);
    copyFileSync(older, path);
    const stores = await database.open({ path });
    await stores.accounts.insert(newAccount('a'));
    expect([versionOf(path), versionOf(`${path}.before-upgrade`)]).toEqual([LATEST, version]);
  }
});

test('a database of the present shape is not copied', async () => {
  await database.open();
  expect(readdirSync(database.folder).filter((name) => name.includes('before'))).toEqual([]);
});

test('of several processes that upgrade at once the copy is of the shape before', async () => {
  const path = `${database.folder}/older.db`;
  await makeOlder(path);
  const { vault, clock } = database;
  const all = await Promise.all(
    Array.from({ length: 4 }, () => openDatabase({ path, vault, clock })),
  );
  expect([versionOf(path), versionOf(`${path}.before-upgrade`)]).toEqual([LATEST, BEFORE]);
  for (const { close } of all) await close();
  expect(readdirSync(database.folder).filter((name) => name.endsWith('.new'))).toEqual([]);
});

test('what was kept of an upgrade leaves after a week, while the gateway runs and at a start', async () => {
  const clock = createFakeClock();
  const kept = `${database.path}.before-upgrade`;
  for (const days of [6, 8]) {
    writeFileSync(kept, '');
    const made = (clock.now() - days * DAY_MS) / 1000;
    utimesSync(kept, made, made);
    await database.open({ clock });
    expect(existsSync(kept)).toBe(days < 7);
    await clock.advance(1.1 * DAY_MS);
    expect(existsSync(kept)).toBe(false);
  }
});

test('D5: an upgrade goes on without a copy where the disk has no room for one', async () => {
  const path = `${database.folder}/older.db`;
  await makeOlder(path);
  const warn = vi.fn();
  const open = (at: string) => {
    if (!at.endsWith('.new')) return openSqliteFile(at);
    throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
  };
  await database.open({ path, open, log: { info: vi.fn(), warn } });
  expect(warn.mock.calls).toEqual([[expect.anything(), expect.stringContaining('None is kept')]]);
  expect(versionOf(path)).toBe(LATEST);
  expect(existsSync(`${path}.before-upgrade`)).toBe(false);
});

test('later steps run once, all or none', async () => {
  await database.closeStores();
  const { path, clock } = database;
  const connection = new SqliteConnection({ path, clock, open: openSqliteFile });
  const { dialect } = connection;
  const migrations = [
    { version: 1, name: 'one', sqlite: 'never run again' },
    { version: 1000, name: 'two', sqlite: 'create table extra (a text) strict' },
  ];
  for (let turn = 0; turn < 2; turn += 1) {
    await connection.write('crash', () => migrate({ name: path, dialect, now: 7, migrations }));
  }
  await connection.close();
  const handle = openSqliteFile(path);
  const applied = handle
    .prepare('select version, name from migrations where version in (1, 1000) order by version')
    .all();
  handle.close();
  expect(applied).toMatchObject([{ version: 1 }, { version: 1000, name: 'two' }]);
});
