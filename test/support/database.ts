// A database of its own for a test, with its key and folder.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/lib/clock.ts';
import { createVault, type Vault } from '../../src/sealing/seal.ts';
import { createSecretKey, DATABASE_FILE, KEY_FILE } from '../../src/sealing/secret-key.ts';
import {
  type DatabaseOptions,
  openDatabase,
  type SqliteStores,
} from '../../src/stores/sqlite/open-database.ts';
import { createFakeClock } from './fake-clock.ts';

export interface TestDatabase {
  readonly folder: string;
  readonly path: string;
  readonly clock: Clock;
  readonly vault: Vault;
  /** The stores of the last `open`. */
  readonly stores: SqliteStores;
  /** Closes what is open and opens it again. */
  open(change?: Partial<DatabaseOptions>): Promise<SqliteStores>;
  closeStores(): Promise<void>;
  close(): Promise<void>;
}

export const TEST_KEY = 'the key of the tests, long enough';

export function createTestVault(text: string = TEST_KEY): Vault {
  return createVault(createSecretKey(text, 'the test'));
}

let made: Promise<Buffer> | undefined;

/**
 * Puts an empty database of `TEST_KEY` there: to make one takes longer than most tests, so that it is made once.
 * All have one data key.
 */
async function placeDatabase(folder: string): Promise<void> {
  made ??= makeDatabase();
  writeFileSync(join(folder, DATABASE_FILE), await made, { mode: 0o600 });
}

/** So that a gateway that starts on the folder finds a database, and the key to it. */
export async function placeKeyAndDatabase(folder: string): Promise<void> {
  writeFileSync(join(folder, KEY_FILE), TEST_KEY, { mode: 0o600 });
  await placeDatabase(folder);
}

async function makeDatabase(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-database-'));
  const path = join(folder, DATABASE_FILE);
  const stores = await openDatabase({ path, vault: createTestVault(), clock: createFakeClock() });
  await stores.close();
  const bytes = readFileSync(path);
  rmSync(folder, { recursive: true });
  return bytes;
}

export async function createTestDatabase(
  change: Partial<DatabaseOptions> = {},
): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-database-'));
  const path = join(folder, DATABASE_FILE);
  const clock = createFakeClock();
  const vault = createTestVault();
  let stores: SqliteStores | undefined;
  const closeStores = async (): Promise<void> => {
    const closing = stores;
    stores = undefined;
    await closing?.close();
  };
  const open = async (latest: Partial<DatabaseOptions> = {}): Promise<SqliteStores> => {
    await closeStores();
    stores = await openDatabase({ path, vault, clock, ...change, ...latest });
    return stores;
  };
  await placeDatabase(folder);
  await open();
  return {
    folder,
    path,
    clock,
    vault,
    get stores() {
      if (stores === undefined) throw new Error('The database is closed.');
      return stores;
    },
    open,
    closeStores,
    async close() {
      await closeStores();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
