// Stored responses in SQLite, sealed: they hold prompts and answers.

import type { Vault } from '../../sealing/seal.ts';
import type {
  DurableResponseStore,
  StoredResponseRow,
} from '../../stored-responses/response-store.ts';
import { builder } from './schema.ts';
import type { Queries, SqliteConnection } from './session.ts';

export interface DurableResponseStoreOptions {
  readonly vault: Vault;
  readonly now: () => number;
  /** Of all sealed answers together; the ones that would end first make room. */
  readonly maxBytes?: number | undefined;
}

/** Expired rows and those too many leave with every so many saves, or when so much was saved. */
const SAVES_BETWEEN_SWEEPS = 64;
const SWEEP_SHARE = 1 / 16;
const MAX_STORED_BYTES = 1024 * 1024 * 1024;
/** Rows looked at at once when room has to be made. */
const ROWS_A_PASS = 500;

export function createDurableResponseStore(
  connection: SqliteConnection,
  { vault, now, maxBytes = MAX_STORED_BYTES }: DurableResponseStoreOptions,
): DurableResponseStore {
  let saves = 0;
  let bytesSinceSweep = 0;
  const find = (queries: Queries, clientKeyId: string, id: string): string | undefined => {
    const [row] = queries.rows(
      builder
        .selectFrom('kept_answers')
        .select('sealed')
        .where('clientKey', '=', clientKeyId)
        .where('id', '=', id)
        .where('expiresAt', '>', now()),
    );
    return row === undefined ? undefined : vault.open(row.sealed, contextOf(clientKeyId, id));
  };
  return {
    save: (row) =>
      connection.write('crash', (queries) => {
        bytesSinceSweep += insert(queries, row);
        saves += 1;
        const isDue = saves % SAVES_BETWEEN_SWEEPS === 1;
        if (!isDue && bytesSinceSweep <= maxBytes * SWEEP_SHARE) return;
        bytesSinceSweep = 0;
        queries.run(builder.deleteFrom('kept_answers').where('expiresAt', '<=', now()));
        makeRoom(queries);
      }),
    find: (clientKeyId, id) => connection.read((queries) => find(queries, clientKeyId, id)),
    findByItem: (clientKeyId, itemId) =>
      connection.read((queries) => {
        const [item] = queries.rows(
          builder
            .selectFrom('kept_items')
            .select('answerId')
            .where('clientKey', '=', clientKeyId)
            .where('itemId', '=', itemId),
        );
        return item === undefined ? undefined : find(queries, clientKeyId, item.answerId);
      }),
    remove: (clientKeyId, id) =>
      connection.write('crash', (queries) => remove(queries, clientKeyId, id) > 0),
  };

  function remove(queries: Queries, clientKeyId: string, id: string): number {
    return queries.run(
      builder.deleteFrom('kept_answers').where('clientKey', '=', clientKeyId).where('id', '=', id),
    );
  }

  /** The number of bytes written. */
  function insert(queries: Queries, row: StoredResponseRow): number {
    const { clientKeyId, id, json, itemIds, expiresAt } = row;
    const sealed = vault.seal(json, contextOf(clientKeyId, id));
    const bytes = sealed.length;
    queries.run(
      builder
        .replaceInto('kept_answers')
        .values({ clientKey: clientKeyId, id, sealed, expiresAt, bytes }),
    );
    for (const itemId of itemIds) {
      queries.run(
        builder.replaceInto('kept_items').values({ clientKey: clientKeyId, itemId, answerId: id }),
      );
    }
    return bytes;
  }

  function makeRoom(queries: Queries): void {
    const [sum] = queries.rows(
      builder.selectFrom('kept_answers').select(({ fn }) => fn.sum<number>('bytes').as('bytes')),
    );
    let excess = Number(sum?.bytes ?? 0) - maxBytes;
    while (excess > 0) {
      const rows = queries.rows(
        builder
          .selectFrom('kept_answers')
          .select(['clientKey', 'id', 'bytes'])
          .orderBy('expiresAt')
          .limit(ROWS_A_PASS),
      );
      if (rows.length === 0) return;
      for (const { clientKey, id, bytes } of rows) {
        if (excess <= 0) return;
        remove(queries, clientKey, id);
        excess -= bytes;
      }
    }
  }
}

function contextOf(clientKeyId: string, id: string): string {
  return `kept_answers ${clientKeyId} ${id} sealed`;
}
