// What later turns need for a time: stored responses, signatures, histories of server tools, sessions.

import { sql } from 'kysely';
import { SIGNED_PARTS } from '../canonical/signatures.ts';
import { nextTurn, STEPWISE_FROM_BYTES } from '../lib/chunked-json.ts';
import type { ExpiringStore, StoreBounds, StoredText } from '../lib/expiring-store.ts';
import { SealError, type Vault } from '../sealing/seal.ts';
import type { SignatureStore, StoredSignature } from '../signatures/cache.ts';
import type {
  DurableResponseStore,
  StoredResponseRow,
} from '../stored-responses/response-store.ts';
import type { SealedTables } from './account-store.ts';
import {
  createSweepSchedule,
  type Database,
  firstOf,
  put,
  rowsOf,
  run,
  type Work,
} from './database.ts';
import { builder } from './schema.ts';

export function createSignatureStore(database: Database): SignatureStore {
  const isSweepDue = createSweepSchedule();
  return {
    load: ({ now, maxEntries }) =>
      database.read(function* () {
        const latest = yield* rowsOf(
          builder
            .selectFrom('signatures')
            .selectAll()
            .where('expiresAt', '>', now)
            .orderBy('sequence', 'desc')
            .limit(maxEntries),
        );
        return latest.toReversed().map(
          ({ sequence: _, part, ...row }): StoredSignature => ({
            ...row,
            on: SIGNED_PARTS.find((known) => known === part),
          }),
        );
      }),
    save: (entries, { now, maxEntries }) =>
      database.write('crash', function* () {
        const rows = entries.map(({ on: part, ...entry }) => ({ ...entry, part }));
        yield* put('signatures', rows);
        if (!isSweepDue(0, maxEntries)) return;
        yield* run(builder.deleteFrom('signatures').where('expiresAt', '<=', now));
        const oldestKept = builder
          .selectFrom('signatures')
          .select('sequence')
          .orderBy('sequence', 'desc')
          .limit(1)
          .offset(maxEntries - 1);
        yield* run(builder.deleteFrom('signatures').where('sequence', '<', oldestKept));
      }),
  };
}

interface SealedTable {
  readonly table: 'call_traces' | 'session_bindings';
  /** Said of a row that cannot be read. */
  readonly damaged: string;
}

/** What a row costs counts sealed, which is a third longer than the text. */
export function createSealedStore(
  database: Database,
  { vault, log }: SealedTables,
  { table, damaged }: SealedTable,
): ExpiringStore {
  const contextOf = (key: string): string => `${table} ${key} sealed`;
  const isSweepDue = createSweepSchedule();
  return {
    async load(bounds) {
      const rows = await database.read(() => readLatest(table, bounds));
      return rows.flatMap(({ key, sealed, expiresAt }): StoredText[] => {
        try {
          return [{ key, json: vault.open(sealed, contextOf(key)), expiresAt }];
        } catch (error) {
          if (!(error instanceof SealError)) throw error;
          log?.warn({ error }, damaged);
          return [];
        }
      });
    },
    async save(traces, bounds) {
      const rows = traces.map(({ key, json, expiresAt }) => {
        const sealed = vault.seal(json, contextOf(key));
        return { key, expiresAt, bytes: sealed.length, sealed };
      });
      await database.write('crash', function* () {
        yield* put(table, rows);
        const saved = rows.reduce((sum, { bytes }) => sum + bytes, 0);
        if (isSweepDue(saved, bounds.maxSize)) yield* sweep(table, bounds);
      });
    },
  };
}

/** Every row with how many and how large the rows from it to the latest are. */
const fromLatest = (table: SealedTable['table']) => sql`
  select sequence, row_number() over latest_first as place, sum(bytes) over latest_first as total
  from ${sql.table(table)} window latest_first as (order by sequence desc)`;

function readLatest(table: SealedTable['table'], bounds: StoreBounds) {
  const { now, maxEntries, maxSize } = bounds;
  const query = sql<{ key: string; sealed: string; expiresAt: number }>`
    select key, sealed, expires_at from ${sql.table(table)}
    join (${fromLatest(table)}) as latest using (sequence)
    where place <= ${maxEntries} and total <= ${maxSize} and expires_at > ${now}
    order by sequence`;
  return rowsOf(query);
}

function* sweep(table: SealedTable['table'], bounds: StoreBounds): Work<void> {
  const { now, maxEntries, maxSize } = bounds;
  yield* run(builder.deleteFrom(table).where('expiresAt', '<=', now));
  const surplus = sql`delete from ${sql.table(table)} where sequence in (
    select sequence from (${fromLatest(table)}) as latest where place > ${maxEntries} or total > ${maxSize})`;
  yield* run(surplus);
}

interface DurableResponseStoreOptions {
  readonly vault: Vault;
  readonly now: () => number;
  /** Of all sealed answers together; the ones that would end first make room. */
  readonly maxBytes?: number | undefined;
}

const MAX_STORED_BYTES = 1024 * 1024 * 1024;

interface KeptRow extends StoredResponseRow {
  /** Where it is sealed already. */
  readonly sealed?: string;
}

/** Answers that one transaction writes: each alone would keep requests waiting. */
interface Gathered {
  readonly rows: KeptRow[];
  /** Of their JSON. */
  chars: number;
  written: Promise<void>;
}

const MAX_GATHERED = { rows: 64, chars: 4_194_304 };

/** Sealed: stored responses hold prompts and answers. */
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
  let gathered: Gathered | undefined;
  const begin = (row: KeptRow): Promise<void> => {
    const rows = [row];
    const own: Gathered = { rows, chars: row.json.length, written: Promise.resolve() };
    const close = (): void => {
      if (gathered === own) gathered = undefined;
    };
    gathered = own;
    own.written = database
      .write('crash', function* () {
        close();
        if (!isSweepDue(yield* keep(rows), maxBytes)) return;
        yield* run(builder.deleteFrom('kept_answers').where('expiresAt', '<=', now()));
        yield* run(surplus(maxBytes));
      })
      .finally(close);
    return own.written;
  };
  const gather = (row: KeptRow): Promise<void> => {
    const { rows, chars } = MAX_GATHERED;
    const isFull = (one: Gathered): boolean =>
      one.rows.length >= rows || one.chars + row.json.length > chars;
    if (gathered === undefined || isFull(gathered)) return begin(row);
    gathered.rows.push(row);
    gathered.chars += row.json.length;
    return gathered.written;
  };
  return {
    // A large one was made a text of in this turn, and is sealed in the next and written in the one behind that.
    async save(row) {
      if (row.json.length < STEPWISE_FROM_BYTES) return gather(row);
      await nextTurn();
      const sealed = seal(row);
      await nextTurn();
      return gather({ ...row, sealed });
    },
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
        yield* keep(rows);
        return rows;
      }),
    remove: (clientKeyId, id) =>
      database.write('crash', function* () {
        const stored = builder.deleteFrom('kept_answers').where('clientKey', '=', clientKeyId);
        return (yield* run(stored.where('id', '=', id))) > 0;
      }),
  };

  function seal({ clientKeyId, id, json }: StoredResponseRow): string {
    return vault.seal(json, contextOf(clientKeyId, id));
  }

  /** The number of bytes written. */
  function* keep(given: readonly KeptRow[]): Work<number> {
    let saved = 0;
    for (const [clientKey, ofKey] of Map.groupBy(given, ({ clientKeyId }) => clientKeyId)) {
      // Of those with the same id the latest counts.
      const rows = [...new Map(ofKey.map((row) => [row.id, row])).values()];
      const ids = rows.map(({ id }) => id);
      const known = builder.deleteFrom('kept_answers').where('clientKey', '=', clientKey);
      yield* run(known.where('id', 'in', ids));
      const answers = rows.map((row) => {
        const { id, expiresAt, sealed = seal(row) } = row;
        return { clientKey, id, sealed, expiresAt, bytes: sealed.length };
      });
      yield* put('kept_answers', answers);
      const items = new Map(
        rows.flatMap(({ id, itemIds }) =>
          itemIds.map((itemId) => [itemId, { clientKey, itemId, answerId: id }] as const),
        ),
      );
      yield* put('kept_items', [...items.values()]);
      saved += answers.reduce((sum, { bytes }) => sum + bytes, 0);
    }
    return saved;
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
