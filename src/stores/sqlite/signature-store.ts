// Thought signatures, histories of server tools and session bindings in SQLite.

import { sql } from 'kysely';
import { SealError } from '../../sealing/seal.ts';
import type {
  SignatureStore,
  StoredSignature,
  StoredTrace,
  TraceBounds,
  TraceStore,
} from '../../signatures/signature-store.ts';
import type { SealedTables } from './account-store.ts';
import { builder } from './schema.ts';
import {
  createInserter,
  createSweepSchedule,
  type Queries,
  type SqliteConnection,
} from './session.ts';

export function createSignatureStore(connection: SqliteConnection): SignatureStore {
  const isSweepDue = createSweepSchedule();
  const insert = createInserter<SignatureRow>(
    ['key', 'value', 'family', 'part', 'expiresAt'],
    (row) => builder.replaceInto('signatures').values(row).compile(),
  );
  return {
    load: ({ now, maxEntries }) =>
      connection.read((queries) =>
        queries
          .rows(
            builder
              .selectFrom('signatures')
              .selectAll()
              .where('expiresAt', '>', now)
              .orderBy('sequence', 'desc')
              .limit(maxEntries),
          )
          .reverse()
          .map(
            ({ sequence: _, part, ...row }): StoredSignature => ({
              ...row,
              on: PARTS.find((known) => known === part),
            }),
          ),
      ),
    save: (entries, { now, maxEntries }) =>
      connection.write('crash', (queries) => {
        for (const { on: part, ...entry } of entries) insert(queries, { ...entry, part });
        if (!isSweepDue(0, maxEntries)) return;
        queries.run(builder.deleteFrom('signatures').where('expiresAt', '<=', now));
        const oldestKept = builder
          .selectFrom('signatures')
          .select('sequence')
          .orderBy('sequence', 'desc')
          .limit(1)
          .offset(maxEntries - 1);
        queries.run(builder.deleteFrom('signatures').where('sequence', '<', oldestKept));
      }),
  };
}

type SignatureRow = Omit<StoredSignature, 'on'> & { readonly part: StoredSignature['on'] };

const PARTS = ['thinking', 'text', 'tool-call', 'media'] as const;

interface SealedTable {
  readonly table: 'call_traces' | 'session_bindings';
  /** Said of a row that cannot be read. */
  readonly damaged: string;
}

/** What a row costs counts sealed, which is a third longer than the text. */
export function createSealedStore(
  connection: SqliteConnection,
  { vault, log }: SealedTables,
  { table, damaged }: SealedTable,
): TraceStore {
  const contextOf = (key: string): string => `${table} ${key} sealed`;
  const isSweepDue = createSweepSchedule();
  return {
    async load(bounds) {
      const rows = await connection.read((queries) => readLatest(queries, table, bounds));
      return rows.flatMap(({ key, sealed, expiresAt }): StoredTrace[] => {
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
      await connection.write('crash', (queries) => {
        for (const row of rows) queries.run(builder.replaceInto(table).values(row));
        const saved = rows.reduce((sum, { bytes }) => sum + bytes, 0);
        if (isSweepDue(saved, bounds.maxSize)) sweep(queries, table, bounds);
      });
    },
  };
}

/** Every row with how many and how large the rows from it to the latest are. */
const fromLatest = (table: SealedTable['table']) => sql`
  select sequence, row_number() over latest_first as place, sum(bytes) over latest_first as total
  from ${sql.table(table)} window latest_first as (order by sequence desc)`;

function readLatest(queries: Queries, table: SealedTable['table'], bounds: TraceBounds) {
  const { now, maxEntries, maxSize } = bounds;
  const query = sql<{ key: string; sealed: string; expiresAt: number }>`
    select key, sealed, expires_at from ${sql.table(table)}
    join (${fromLatest(table)}) using (sequence)
    where place <= ${maxEntries} and total <= ${maxSize} and expires_at > ${now}
    order by sequence`;
  return queries.rows(query);
}

function sweep(queries: Queries, table: SealedTable['table'], bounds: TraceBounds): void {
  const { now, maxEntries, maxSize } = bounds;
  queries.run(builder.deleteFrom(table).where('expiresAt', '<=', now));
  const surplus = sql`delete from ${sql.table(table)} where sequence in (
    select sequence from (${fromLatest(table)}) where place > ${maxEntries} or total > ${maxSize})`;
  queries.run(surplus);
}
