// `isthmus migrate-store`: moves what a data folder holds into PostgreSQL, and goes on when it was interrupted.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabaseAt } from '../compose/shared-database.ts';
import { resolveDataDir } from '../config/effective.ts';
import type { Environment } from '../config/env.ts';
import { createVault } from '../sealing/seal.ts';
import { createSecretKey, DATABASE_FILE } from '../sealing/secret-key.ts';
import { type CopiedTable, copyStores } from '../stores/copy-stores.ts';
import { copyDigestKey, findDataKey, findDigestKey } from '../stores/data-key.ts';
import { openDatabase } from '../stores/sqlite/open-database.ts';
import type { Context } from './command.ts';
import { withoutGateway } from './data-folder.ts';
import { type Terminal, writeTable } from './terminal.ts';

export interface MigrateStoreOptions extends Pick<Context, 'answer' | 'clock'> {
  readonly environment: Environment;
  readonly dataDir: string | undefined;
  readonly terminal: Pick<Terminal, 'print' | 'note'>;
}

/** @throws Error with the way out; what was copied by then is not copied again */
export async function migrateStore(options: MigrateStoreOptions): Promise<void> {
  const { environment, answer, terminal } = options;
  const dataDir = resolveDataDir({ dataDir: options.dataDir }, environment);
  const path = join(dataDir, DATABASE_FILE);
  if (!existsSync(path)) throw new Error(`There is no database ${path}: nothing is to be moved.`);
  await withoutGateway(dataDir, async () => {
    const tables = await copy(options, { path, dataDir });
    const rows = tables.map(({ table, copied }) => ({ table, rows: copied }));
    answer({ tables: rows }, () => {
      terminal.print(writeTable({ table: 'table', rows: ({ rows }) => String(rows) }, rows));
      terminal.print(
        `All of ${dataDir} is in PostgreSQL. Start the gateways with DATABASE_URL; the folder was left as it is.`,
      );
    });
  });
}

type Place = Readonly<Record<'path' | 'dataDir', string>>;

async function copy(
  { environment, clock, terminal }: MigrateStoreOptions,
  { path, dataDir }: Place,
): Promise<readonly CopiedTable[]> {
  const { databaseUrl, secretKey } = environment;
  if (databaseUrl === undefined) {
    throw new Error('Set DATABASE_URL to the PostgreSQL that the data should go to.');
  }
  if (secretKey === undefined) {
    const file = join(dataDir, 'secret.key');
    throw new Error(
      `Set ISTHMUS_SECRET_KEY to the secret key of the data folder, which all gateways need then: it is in ${file}, or ISTHMUS_SECRET_KEY of the gateway until now.`,
    );
  }
  const vault = createVault(createSecretKey(secretKey, 'ISTHMUS_SECRET_KEY'));
  const from = await openDatabase({ path, vault, clock });
  try {
    const dataKey = await from.database.read(() => findDataKey());
    const note = (_fields: object, message: string): void => terminal.note(message);
    const log = { info: note, warn: note };
    const options = { environment, dataDir, clock, random: Math.random, log };
    const to = await openDatabaseAt(databaseUrl, { ...options, dataKey });
    try {
      const id = createHash('sha256')
        .update(dataKey?.sealed ?? '')
        .digest('hex');
      const tables = await copyStores({
        source: { database: from.database, id },
        target: { database: to.stores.database, name: to.name },
        onProgress: ({ table, copied, total }) => terminal.note(`${table} ${copied} of ${total}`),
      });
      const digestKey = await from.database.read(() => findDigestKey());
      if (digestKey !== undefined) {
        await to.stores.database.write('power-cut', () => copyDigestKey(digestKey));
      }
      // The settings go last: what they say is in force when everything is there.
      await to.source.load();
      return tables;
    } finally {
      await to.stores.close();
    }
  } finally {
    await from.close();
  }
}
