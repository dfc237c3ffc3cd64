// A process that adds accounts while its flushes fail, then reopens and says what is there.

import { join } from 'node:path';
import { createSystemClock } from '../../src/lib/clock.ts';
import { DATABASE_FILE } from '../../src/sealing/secret-key.ts';
import { openDatabase } from '../../src/stores/sqlite/open-database.ts';
import { createTestVault } from '../support/database.ts';
import { newAccount } from '../support/new-account.ts';

const [dataDir = ''] = process.argv.slice(2);
const options = {
  path: join(dataDir, DATABASE_FILE),
  vault: createTestVault(),
  clock: createSystemClock(),
};
const stores = await openDatabase(options);
const acknowledged: string[] = [];
const refusals = new Set<string>();
for (let turn = 0; turn < 100; turn += 1) {
  const id = `a${turn}`;
  try {
    await stores.accounts.insert(newAccount(id));
    acknowledged.push(id);
  } catch (error) {
    refusals.add(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
  }
}
await stores.close();
const reopened = await openDatabase(options);
const found = (await reopened.accounts.list()).map(({ record }) => record.id);
await reopened.close();
process.stdout.write(JSON.stringify({ acknowledged, found, refusals: [...refusals] }));
