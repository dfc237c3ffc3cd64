import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.ts';
import { makeTestFolder } from '../../../test/support/test-folder.ts';
import { run } from '../database.ts';
import { Checkpoints, openSqliteFile, SqliteConnection } from './session.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = makeTestFolder('checkpoints');
  path = join(folder, 'some.db');
  const database = new DatabaseSync(path);
  database.exec('pragma journal_mode = wal; create table texts (text)');
  database.close();
});

function readLog(database: DatabaseSync): {
  readonly log: unknown;
  readonly checkpointed: unknown;
} {
  const { log, checkpointed } = database.prepare('pragma wal_checkpoint(noop)').get() ?? {};
  return { log, checkpointed };
}

test('a checkpoint brings the whole log into the file, again and again', async () => {
  const database = new DatabaseSync(path);
  database.exec('pragma wal_autocheckpoint = 0');
  const checkpoints = new Checkpoints(path);
  for (const text of ['one', 'two']) {
    database.exec(`insert into texts values ('${text}')`);
    expect(readLog(database).checkpointed).toBe(0);
    await checkpoints.run();
    const { log, checkpointed } = readLog(database);
    expect(log).toBeGreaterThan(0);
    expect(checkpointed).toBe(log);
  }
  await checkpoints.close();
  database.close();
});

test('a thread that fails is done without', async () => {
  const checkpoints = new Checkpoints(join(folder, 'missing.db'));
  await checkpoints.run();
  await checkpoints.run();
  await checkpoints.close();
});

test('a log of 4 MB is brought into the file before the next write, and a short one is not', async () => {
  const steps: string[] = [];
  const checkpoints = {
    run: async () => {
      await Promise.resolve();
      steps.push('checkpoint');
    },
    close: async () => void steps.push('closed'),
  };
  const clock = createFakeClock();
  const connection = new SqliteConnection({ path, clock, open: openSqliteFile, checkpoints });
  const write = (length: number): Promise<void> =>
    connection.write('crash', function* () {
      yield* run(sql`insert into texts values (${'x'.repeat(length)})`);
      steps.push(`wrote ${length}`);
    });
  await Promise.all([write(10), write(4_200_000), write(20)]);
  await connection.close();
  expect(steps.slice(0, 4)).toEqual(['wrote 10', 'wrote 4200000', 'checkpoint', 'wrote 20']);
  expect(steps.at(-1)).toBe('closed');
});
