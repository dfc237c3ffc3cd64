// Stored responses in SQLite, sealed: they hold prompts and answers.

import { sql } from 'kysely';
import type { Vault } from '../../sealing/seal.ts';
import type {
  DurableResponseStore,
  StoredResponseRow,
} from '../../stored-responses/response-store.ts';
import { builder } from './schema.ts';
import { createSweepSchedule, type Queries, type SqliteConnection } from './session.ts';

interface DurableResponseStoreOptions {
  readonly vault: Vault;
  readonly now: () => number;
  /** Of all sealed answers together; the ones that would end first make room. */
  readonly maxBytes?: number | undefined;
}

const MAX_STORED_BYTES = 1024 * 1024 * 1024;

export function createDurableResponseStore(
  connection: SqliteConnection,
  { vault, now, maxBytes = MAX_STORED_BYTES }: DurableResponseStoreOptions,
): DurableResponseStore {
  const isSweepDue = createSweepSchedule();
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
        if (!isSweepDue(insert(queries, row), maxBytes)) return;
        queries.run(builder.deleteFrom('kept_answers').where('expiresAt', '<=', now()));
        queries.run(surplus(maxBytes));
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
      connection.write('crash', (queries) => {
        const stored = builder.deleteFrom('kept_answers').where('clientKey', '=', clientKeyId);
        return queries.run(stored.where('id', '=', id)) > 0;
      }),
  };

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
}

/** Those that end first, until the others have room. */
const surplus = (maxBytes: number) => sql`delete from kept_answers where rowid in (
  select rowid from (
    select rowid, sum(bytes) over (order by expires_at desc, bytes desc, rowid desc) as total from kept_answers
  ) where total > ${maxBytes})`;

function contextOf(clientKeyId: string, id: string): string {
  return `kept_answers ${clientKeyId} ${id} sealed`;
}
