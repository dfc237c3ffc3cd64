// A database whose bytes were changed is refused or read right; never a wrong credential, never a crash.

import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { countOf } from '../support/counts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { newAccount } from '../support/new-account.ts';

const OFFSETS = countOf({ slow: 500, everyday: 40 });
/** Odd and prime: the offsets fall everywhere, alike in each run. */
const STRIDE = 7919;

let database: TestDatabase;
afterEach(() => database.close());

test(`a flipped byte at ${OFFSETS} places gives a refusal or the truth`, {
  timeout: 60_000,
}, async () => {
  database = await createTestDatabase();
  const ids = Array.from({ length: 12 }, (_, index) => `a${index}`);
  for (const id of ids) await database.stores.accounts.insert(newAccount(id));
  await database.closeStores();
  const whole = readFileSync(database.path);
  const outcomes = { refused: 0, noticed: 0, unharmed: 0 };
  for (let turn = 0; turn < OFFSETS; turn += 1) {
    const damaged = Buffer.from(whole);
    const offset = (turn * STRIDE) % whole.length;
    damaged.writeUInt8(damaged.readUInt8(offset) ^ (1 << (turn % 8)), offset);
    writeFileSync(database.path, damaged);
    outcomes[await readAll(ids)] += 1;
  }
  expect(outcomes.refused).toBeGreaterThan(0);
  expect(outcomes.unharmed).toBeGreaterThan(0);
});

async function readAll(ids: readonly string[]): Promise<'refused' | 'noticed' | 'unharmed'> {
  let outcome: 'noticed' | 'unharmed' = 'unharmed';
  try {
    const { accounts } = await database.open();
    await accounts.list();
    for (const id of ids) {
      const stored = await accounts.readCredential(id).catch(expectStoreError);
      if (stored === undefined) outcome = 'noticed';
      else expect(stored.credential).toEqual({ kind: 'oauth', refreshToken: `refresh-${id}` });
    }
  } catch (error) {
    expectStoreError(error);
    return 'refused';
  } finally {
    await database.closeStores();
  }
  return outcome;
}

function expectStoreError(error: unknown): undefined {
  expect(error).toMatchObject({ name: 'StoreError', fault: expect.stringMatching(/^un/) });
}
