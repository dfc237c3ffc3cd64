// A process that changes accounts as fast as it can and says what was acknowledged; made to be killed.

import { once } from 'node:events';
import { join } from 'node:path';
import { createSystemClock } from '../../src/lib/clock.ts';
import { createVault } from '../../src/sealing/seal.ts';
import { DATABASE_FILE, loadSecretKey } from '../../src/sealing/secret-key.ts';
import { openDatabase } from '../../src/stores/sqlite/open-database.ts';
import { newAccount } from '../support/new-account.ts';
import type { WriterLine } from './expected.ts';

const MOST_ACCOUNTS = 30;

/** Nobody may rely on the mask of the one who starts us. */
process.umask(0);
const [dataDir = '', run = '', canary = ''] = process.argv.slice(2);
process.stdout.write('\n');
// Loaded and ready: the one before us is killed first.
await once(process.stdin, 'data');
const { accounts, signatures } = await openDatabase({
  path: join(dataDir, DATABASE_FILE),
  vault: createVault(loadSecretKey({ dataDir })),
  clock: createSystemClock(),
});
const known = (await accounts.list()).map(({ record }) => record.id);

for (let turn = 0; ; turn += 1) {
  const id = `${run}-${turn}`;
  await insert(id);
  known.push(id);
  const other = known[(turn * 7) % known.length] ?? id;
  await Promise.all([rotate(other, id), update(other, id)]);
  if (known.length > MOST_ACCOUNTS) await remove(known.shift());
  const entry = { key: id, value: 'v'.repeat(900), expiresAt: Number.MAX_SAFE_INTEGER };
  await signatures.save([entry], { now: 0, maxEntries: 1000 });
}

async function insert(id: string): Promise<void> {
  const value = `${canary}-${id}`;
  const account = newAccount(id, {}, { kind: 'oauth', refreshToken: value });
  await tell({ change: 'insert', id, value }, () =>
    accounts.insert({ ...account, proxyUrl: `http://user:${canary}@proxy.example` }),
  );
}

/** The provider forgets the old token at once: from then on this one must be found. */
async function rotate(id: string, mark: string): Promise<void> {
  const current = await accounts.readCredential(id);
  if (current === undefined) throw new Error(`${id} is gone.`);
  const value = `${canary}-${id}-${mark}`;
  await tell({ change: 'rotate', id, value }, () =>
    accounts.replaceCredential(id, { kind: 'oauth', refreshToken: value }, current.version),
  );
}

async function update(id: string, value: string): Promise<void> {
  await tell({ change: 'update', id, value }, () =>
    accounts.update(id, { notes: value }, undefined),
  );
}

async function remove(id: string | undefined): Promise<void> {
  if (id !== undefined) await tell({ change: 'remove', id }, () => accounts.remove(id));
}

async function tell(line: Omit<WriterLine, 'step'>, work: () => Promise<unknown>): Promise<void> {
  await say({ ...line, step: 'begun' });
  await work();
  await say({ ...line, step: 'acknowledged' });
}

function say(line: WriterLine): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write(`${JSON.stringify(line)}\n`, () => resolve());
  });
}
