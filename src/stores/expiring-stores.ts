// What later turns need for a time: stored responses, signatures, histories of server tools, sessions.

import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { SIGNED_PARTS } from '../canonical/signatures.ts';
import { nextTurn } from '../lib/chunked-json.ts';
import type { ExpiringStore, StoreBounds, StoredText } from '../lib/expiring-store.ts';
import { SealError, type Vault } from '../sealing/seal.ts';
import type { SignatureStore, StoredSignature } from '../signatures/cache.ts';
import {
  type DurableResponseStore,
  MAX_STORED_BYTES,
  type StoredResponseRow,
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
  readonly maxBytes?: number | undefined;
}

interface KeptRow extends StoredResponseRow {
  /** Of a large one, whose pieces are stored already. */
  readonly written?: Written | undefined;
}

interface Written {
  readonly writing: string;
  /** Of its sealed pieces. */
  readonly bytes: number;
}

interface FoundAnswer {
  /** Its row as it was found: no other is sealed alike. */
  readonly sealed: string;
  readonly json: string;
}

/** Answers that one transaction writes: each alone would keep requests waiting. */
interface Gathered {
  readonly rows: KeptRow[];
  /** Of their JSON. */
  chars: number;
  written: Promise<void>;
}

/** Sealing and writing as much takes a few milliseconds. */
const PIECE_CHARS = 262_144;
const MAX_GATHERED = { rows: 64, chars: 2 * PIECE_CHARS };

/** Sealed: stored responses hold prompts and answers. */
export function createDurableResponseStore(
  database: Database,
  { vault, now, maxBytes = MAX_STORED_BYTES }: DurableResponseStoreOptions,
): DurableResponseStore {
  const isSweepDue = createSweepSchedule();
  const pieces = createPieces(database, { vault, now });
  function* findRow(clientKeyId: string, id: string) {
    return yield* firstOf(
      builder
        .selectFrom('kept_answers')
        .select(['sealed', 'writing'])
        .where('clientKey', '=', clientKeyId)
        .where('id', '=', id)
        .where('expiresAt', '>', now()),
    );
  }
  const find = async (clientKeyId: string, id: string): Promise<FoundAnswer | undefined> => {
    for (let torn: string | undefined; ; ) {
      const row = await database.read(() => findRow(clientKeyId, id));
      if (row === undefined) return undefined;
      const { sealed, writing } = row;
      const text = vault.open(sealed, contextOf(clientKeyId, id));
      if (writing === undefined) return { sealed, json: text };
      const json = await pieces.read(writing, Number(text));
      if (json !== undefined) return { sealed, json };
      // Its pieces left while they were read, for another answer or for none.
      if (writing === torn) return undefined;
      torn = writing;
    }
  };
  function* keepAndSweep(rows: readonly KeptRow[]): Work<void> {
    if (!isSweepDue(yield* keep(rows), maxBytes)) return;
    yield* run(builder.deleteFrom('kept_answers').where('expiresAt', '<=', now()));
    yield* run(surplus(maxBytes));
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
        yield* keepAndSweep(rows);
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
  /** Stores the pieces of the large ones, then calls `finish`, which is to keep all of them: else none is left. */
  const withPieces = async (
    rows: readonly StoredResponseRow[],
    finish: (rows: readonly KeptRow[]) => Promise<boolean>,
  ): Promise<boolean> => {
    const kept: KeptRow[] = [];
    let isKept = false;
    try {
      for (const row of rows) {
        const isLarge = row.json.length > PIECE_CHARS;
        kept.push(isLarge ? { ...row, written: await pieces.write(row) } : row);
      }
      isKept = await finish(kept);
      return isKept;
    } finally {
      if (!isKept) await pieces.remove(kept);
    }
  };
  return {
    async save(row) {
      if (row.json.length <= PIECE_CHARS) return gather(row);
      await withPieces([row], async (rows) => {
        await database.write('crash', () => keepAndSweep(rows));
        return true;
      });
    },
    find: async (clientKeyId, id) => (await find(clientKeyId, id))?.json,
    async findByItem(clientKeyId, itemId) {
      const item = await database.read(() =>
        firstOf(
          builder
            .selectFrom('kept_items')
            .select('answerId')
            .where('clientKey', '=', clientKeyId)
            .where('itemId', '=', itemId),
        ),
      );
      return item === undefined ? undefined : (await find(clientKeyId, item.answerId))?.json;
    },
    // Of two at once the later one begins anew: nothing less keeps them apart.
    async change(clientKeyId, id, change) {
      for (;;) {
        const known = await find(clientKeyId, id);
        if (known === undefined) return undefined;
        const rows = change(known.json);
        const isKept = await withPieces(rows, (kept) =>
          database.write('power-cut', function* () {
            if ((yield* findRow(clientKeyId, id))?.sealed !== known.sealed) return false;
            yield* keep(kept);
            return true;
          }),
        );
        if (isKept) return rows;
      }
    },
    remove: (clientKeyId, id) =>
      database.write('crash', function* () {
        const stored = builder.deleteFrom('kept_answers').where('clientKey', '=', clientKeyId);
        return (yield* run(stored.where('id', '=', id))) > 0;
      }),
  };

  /** The number of bytes written. */
  function* keep(given: readonly KeptRow[]): Work<number> {
    let saved = 0;
    for (const [clientKey, ofKey] of Map.groupBy(given, ({ clientKeyId }) => clientKeyId)) {
      // Of those with the same id the latest counts.
      const rows = [...new Map(ofKey.map((row) => [row.id, row])).values()];
      const ids = rows.map(({ id }) => id);
      const known = builder.deleteFrom('kept_answers').where('clientKey', '=', clientKey);
      yield* run(known.where('id', 'in', ids));
      const whole = rows.filter(({ written }) => written === undefined);
      const answers = whole.map(({ id, expiresAt, json }) => {
        const sealed = vault.seal(json, contextOf(clientKey, id));
        return { clientKey, id, sealed, expiresAt, bytes: sealed.length };
      });
      yield* put('kept_answers', answers);
      for (const row of rows) yield* finish(row);
      const items = new Map(
        rows.flatMap(({ id, itemIds }) =>
          itemIds.map((itemId) => [itemId, { clientKey, itemId, answerId: id }] as const),
        ),
      );
      yield* put('kept_items', [...items.values()]);
      saved += answers.reduce((sum, { bytes }) => sum + bytes, 0);
      saved += rows.reduce((sum, { written }) => sum + (written?.bytes ?? 0), 0);
    }
    return saved;
  }
}

/** @throws Error when its pieces had to make room meanwhile */
function* finish({ id, expiresAt, written }: KeptRow): Work<void> {
  if (written === undefined) return;
  const { writing, bytes } = written;
  const whole = builder.updateTable('kept_answers').set({ id, bytes, expiresAt });
  if ((yield* run(whole.where('writing', '=', writing))) === 0)
    throw new Error(`There is no room for the answer ${id}.`);
}

/** What is not whole by then never will be: its process ended. */
const WRITING_MS = 3_600_000;

/**
 * Large answers are sealed, written and read a piece at a time. What is not whole yet has an id that nobody asks for;
 * its row tells how many pieces there are.
 */
function createPieces(
  database: Database,
  { vault, now }: Pick<DurableResponseStoreOptions, 'vault' | 'now'>,
) {
  const contextAt = (writing: string, piece: number): string =>
    `kept_pieces ${writing} ${piece} sealed`;
  const remove = (writing: string): Promise<number> =>
    database.write('crash', () =>
      run(builder.deleteFrom('kept_answers').where('writing', '=', writing)),
    );
  return {
    async write({ clientKeyId: clientKey, id, json }: StoredResponseRow): Promise<Written> {
      const expiresAt = now() + WRITING_MS;
      const writing = randomUUID();
      const texts = cutText(json, PIECE_CHARS);
      const sealed = vault.seal(String(texts.length), contextOf(clientKey, id));
      const row = { clientKey, id: `${id} ${writing}`, sealed, expiresAt, bytes: 0, writing };
      let bytes = 0;
      try {
        await database.write('crash', () => put('kept_answers', [row]));
        for (const [piece, text] of texts.entries()) {
          await nextTurn();
          const part = vault.seal(text, contextAt(writing, piece));
          bytes += part.length;
          const rows = [{ writing, piece, sealed: part }];
          await database.write('crash', () => put('kept_pieces', rows));
        }
      } catch (error) {
        await remove(writing).catch(() => undefined);
        throw error;
      }
      return { writing, bytes };
    },
    /** Undefined when one is not there. */
    async read(writing: string, count: number): Promise<string | undefined> {
      const texts: string[] = [];
      for (let piece = 0; piece < count; piece += 1) {
        if (piece > 0) await nextTurn();
        const row = await database.read(() =>
          firstOf(
            builder
              .selectFrom('kept_pieces')
              .select('sealed')
              .where('writing', '=', writing)
              .where('piece', '=', piece),
          ),
        );
        if (row === undefined) return undefined;
        texts.push(vault.open(row.sealed, contextAt(writing, piece)));
      }
      return texts.join('');
    },
    /** Never throws: what is left ends as answers do. */
    async remove(rows: readonly KeptRow[]): Promise<void> {
      for (const { written } of rows)
        if (written !== undefined) await remove(written.writing).catch(() => undefined);
    },
  };
}

const HIGH_SURROGATE = /[\uD800-\uDBFF]$/;

/** Into parts of no more than so many UTF-16 units, none of which ends within a character. */
function cutText(text: string, units: number): readonly string[] {
  const parts: string[] = [];
  for (let from = 0; from < text.length; ) {
    const part = text.slice(from, from + units);
    parts.push(HIGH_SURROGATE.test(part.slice(-1)) ? part.slice(0, -1) : part);
    from += parts.at(-1)?.length ?? units;
  }
  return parts;
}

/** Those that end first, until the others have room; what is being written has no bytes yet. */
const surplus = (maxBytes: number) => sql`delete from kept_answers where rowid in (
  select rowid from (
    select rowid, bytes, sum(bytes) over (order by expires_at desc, bytes desc, rowid desc) as total from kept_answers
  ) as all_answers where bytes > 0 and total > ${maxBytes})`;

function contextOf(clientKeyId: string, id: string): string {
  return `kept_answers ${clientKeyId} ${id} sealed`;
}
