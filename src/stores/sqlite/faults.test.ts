import { readdirSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts';
import {
  callsToFail,
  createFailingHandle,
  type Failure,
  FSYNC_FAILS,
} from '../../../test/support/failing-handle.ts';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { newAccount } from '../../../test/support/new-account.ts';
import { toStoreError } from './faults.ts';
import { type OpenHandle, openSqliteFile } from './session.ts';

let database: TestDatabase;
afterEach(() => database.close());

const FAILURES: readonly Failure[] = [
  FSYNC_FAILS,
  { code: 1034, when: 'after' },
  { code: 13, when: 'before' },
  { code: 11, when: 'before' },
];

test.each(FAILURES)(
  'whichever call fails ($code, $when), a change is made whole or not at all, and the next one works',
  async (failure) => {
    const failing = createFailingHandle();
    database = await createTestDatabase({ open: failing.open });
    const { accounts } = database.stores;
    let turn = 0;
    let failures = 0;
    do {
      turn += 1;
      const id = `a${turn}`;
      failing.failAt(turn, failure);
      const outcome = await change(accounts, id);
      const passed = failing.calls < turn;
      failing.failAt(0);
      if (outcome !== 'done') failures += 1;
      if (outcome !== 'done') {
        expect(outcome).toMatchObject({
          name: 'StoreError',
          message: expect.stringContaining(database.path),
        });
      }
      const isKnown = outcome === 'done' || failure.when === 'before';
      await expectWhole(id, isKnown ? outcome : undefined);
      if (passed) break;
    } while (turn < 100);
    expect(turn).toBeGreaterThan(10);
    expect(turn).toBeLessThan(100);
    expect(failures).toBeGreaterThan(turn / 2);
    await database.open({ open: openSqliteFile });
    expect((await database.stores.accounts.list()).length).toBeGreaterThan(0);
  },
);

test.each([13, 4874])('a full disk is called that (SQLite code %i)', async (errcode) => {
  database = await createTestDatabase();
  const error = toStoreError(Object.assign(new Error('disk I/O error'), { errcode }), '/data/db');
  expect(error).toMatchObject({
    fault: 'unavailable',
    message: expect.stringContaining('/data/db has no room left on its disk'),
  });
});

type Accounts = TestDatabase['stores']['accounts'];

/** Insert, update and replace; stops at the first that fails. */
async function change(accounts: Accounts, id: string): Promise<unknown> {
  try {
    await accounts.insert(newAccount(id));
    await accounts.update(id, { notes: 'updated', proxyUrl: 'http://p.example' }, 1);
    await accounts.replaceCredential(id, { kind: 'oauth', refreshToken: 'rotated' }, 1);
    return 'done';
  } catch (error) {
    return error;
  }
}

/** The steps that were made are a beginning of the whole, each complete. */
async function expectWhole(id: string, outcome: unknown): Promise<void> {
  const { accounts } = database.stores;
  const stored = (await accounts.list()).find(({ record }) => record.id === id);
  const credential = await accounts.readCredential(id);
  const state =
    stored === undefined
      ? 'nothing'
      : `${stored.record.notes} ${stored.proxyUrl} ${stored.health.status.kind} ${credential?.version}`;
  const whole = 'updated http://p.example active 2';
  const states = ['nothing', 'undefined undefined active 1', 'updated http://p.example active 1'];
  if (outcome === 'done') expect(state).toBe(whole);
  else expect(outcome === undefined ? [...states, whole] : states).toContain(state);
  if (stored === undefined) expect(credential).toBeUndefined();
}

test('whichever call fails while a database is made or opened, it is there whole or not at all', async () => {
  const failing = createFailingHandle();
  database = await createTestDatabase();
  await database.stores.accounts.insert(newAccount('a'));
  const made = `${database.folder}/made.db`;
  for (const path of [made, database.path]) {
    failing.failAt(0);
    await database.open({ path, open: failing.open });
    const calls = callsToFail(failing.calls);
    expect(calls.length).toBeGreaterThan(5);
    for (const call of calls) {
      if (path === made) {
        await database.closeStores();
        for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
      }
      failing.failAt(call);
      const outcome = await database.open({ path, open: failing.open }).catch((e: unknown) => e);
      expect(outcome).toMatchObject({ name: 'StoreError', fault: 'unavailable' });
      expect(readdirSync(database.folder).filter((name) => name.endsWith('.new'))).toEqual([]);
    }
    failing.failAt(0);
  }
  expect(await (await database.open()).accounts.list()).toHaveLength(1);
  expect(await (await database.open({ path: made })).accounts.list()).toEqual([]);
});

test('a full disk refuses changes, keeps what was, and needs no restart', async () => {
  const handles: ReturnType<OpenHandle>[] = [];
  const open: OpenHandle = (path) => {
    const handle = openSqliteFile(path);
    handles.push(handle);
    return handle;
  };
  database = await createTestDatabase({ open });
  const { accounts, signatures } = database.stores;
  await accounts.insert(newAccount('a'));
  handles.at(-1)?.exec('pragma max_page_count = 1');
  const notes = 'n'.repeat(100_000);
  await expect(accounts.update('a', { notes }, 1)).rejects.toThrow(/isthmus\.db has no room left/);
  const big = { key: 'k', value: notes, expiresAt: 1e15 };
  await expect(signatures.save([big], { now: 0, maxEntries: 9 })).rejects.toMatchObject({
    fault: 'unavailable',
  });
  expect((await accounts.list())[0]?.record).toMatchObject({ revision: 1 });
  handles.at(-1)?.exec('pragma max_page_count = 100000');
  expect((await accounts.update('a', { notes }, 1)).record.revision).toBe(2);
});

test('a locked database is waited for without blocking, in order, for five seconds', async () => {
  const clock = createFakeClock();
  database = await createTestDatabase({ clock });
  const { accounts } = database.stores;
  await accounts.insert(newAccount('a'));
  const other = new DatabaseSync(database.path);
  other.exec('begin immediate');
  const late = accounts.update('a', { notes: 'late' }, undefined);
  const failure = expect(late).rejects.toMatchObject({
    fault: 'unavailable',
    message: expect.stringMatching(/isthmus\.db is locked by another process/),
  });
  await clock.advance(4_900);
  expect((await accounts.list())[0]?.record.notes).toBeUndefined();
  await clock.advance(200);
  await failure;

  const first = accounts.update('a', { notes: 'first' }, undefined);
  const second = accounts.update('a', { notes: 'second' }, undefined);
  await clock.advance(3_000);
  other.exec('rollback');
  other.close();
  await clock.advance(100);
  expect([(await first).record.revision, (await second).record.revision]).toEqual([2, 3]);
  expect((await accounts.list())[0]?.record.notes).toBe('second');
});

test('a database file that is taken away is noticed, and nothing more is acknowledged', async () => {
  database = await createTestDatabase();
  const { accounts } = database.stores;
  await accounts.insert(newAccount('a'));
  renameSync(database.path, `${database.path}.away`);
  await expect(accounts.insert(newAccount('b'))).rejects.toThrow(/moved, removed or replaced/);
  renameSync(`${database.path}.away`, database.path);
  await accounts.insert(newAccount('c'));
  expect((await accounts.list()).map(({ record }) => record.id)).toEqual(['a', 'c']);
  rmSync(database.path);
  await expect(accounts.list()).rejects.toMatchObject({ fault: 'unavailable' });
});

test('a closed database says so', async () => {
  database = await createTestDatabase();
  const { accounts } = database.stores;
  const last = accounts.insert(newAccount('a'));
  await database.closeStores();
  await last;
  await expect(accounts.list()).rejects.toThrow(/isthmus\.db is closed/);
  expect(await (await database.open()).accounts.list()).toHaveLength(1);
});
