// Stored responses in a database, sealed: they hold prompts and answers.

import { sql } from 'kysely';
import type { Vault } from '../sealing/seal.ts';
import type {
  DurableResponseStore,
  StoredResponseRow,
} from '../stored-responses/response-store.ts';
import { createSweepSchedule, type Database, firstOf, put, run, type Work } from './database.ts';
import { builder } from './schema.ts';

interface DurableResponseStoreOptions {
  readonly vault: Vault;
  readonly now: () => number;
  /** Of all sealed answers together; the ones that would end first make room. */
  readonly maxBytes?: number | undefined;
}

const MAX_STORED_BYTES = 1024 * 1024 * 1024;

export function createDurableResponseStore(
  database: Database,
  { vault, now, maxBytes = MAX_STORED_BYTES }: DurableResponseStoreOptions,
): DurableResponseStore {
  const isSweepDue = createSweepSchedule();
  function* find(clientKeyId: string, id: string): Work<string | undefined> {
    const row = yield* firstOf(
      builder
        .selectFrom('kept_answers')
        .select('sealed')
        .where('clientKey', '=', clientKeyId)
        .where('id', '=', id)
        .where('expiresAt', '>', now()),
    );
    return row === undefined ? undefined : vault.open(row.sealed, contextOf(clientKeyId, id));
  }
  return {
    save: (row) =>
      database.write('crash', function* () {
        if (!isSweepDue(yield* keep(row), maxBytes)) return;
        yield* run(builder.deleteFrom('kept_answers').where('expiresAt', '<=', now()));
        yield* run(surplus(maxBytes));
      }),
    find: (clientKeyId, id) => database.read(() => find(clientKeyId, id)),
    findByItem: (clientKeyId, itemId) =>
      database.read(function* () {
        const item = yield* firstOf(
          builder
            .selectFrom('kept_items')
            .select('answerId')
            .where('clientKey', '=', clientKeyId)
            .where('itemId', '=', itemId),
        );
        return item === undefined ? undefined : yield* find(clientKeyId, item.answerId);
      }),
    // Of two at once the later one begins anew: nothing less keeps them apart.
    change: (clientKeyId, id, change) =>
      database.write('power-cut', function* () {
        const known = yield* find(clientKeyId, id);
        if (known === undefined) return undefined;
        const rows = change(known);
        for (const row of rows) yield* keep(row);
        return rows;
      }),
    remove: (clientKeyId, id) =>
      database.write('crash', function* () {
        const stored = builder.deleteFrom('kept_answers').where('clientKey', '=', clientKeyId);
        return (yield* run(stored.where('id', '=', id))) > 0;
      }),
  };

  /** The number of bytes written. */
  function* keep(row: StoredResponseRow): Work<number> {
    const { clientKeyId: clientKey, id, json, itemIds, expiresAt } = row;
    const sealed = vault.seal(json, contextOf(clientKey, id));
    const bytes = sealed.length;
    const known = builder.deleteFrom('kept_answers').where('clientKey', '=', clientKey);
    yield* run(known.where('id', '=', id));
    yield* put('kept_answers', [{ clientKey, id, sealed, expiresAt, bytes }]);
    const items = itemIds.map((itemId) => ({ clientKey, itemId, answerId: id }));
    yield* put('kept_items', items);
    return bytes;
  }
}

/** Those that end first, until the others have room. */
const surplus = (maxBytes: number) => sql`delete from kept_answers where rowid in (
  select rowid from (
    select rowid, sum(bytes) over (order by expires_at desc, bytes desc, rowid desc) as total from kept_answers
  ) as all_answers where total > ${maxBytes})`;

function contextOf(clientKeyId: string, id: string): string {
  return `kept_answers ${clientKeyId} ${id} sealed`;
}
