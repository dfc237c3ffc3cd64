// Remembered thought signatures in SQLite.

import type { SignatureStore, StoredSignature } from '../../signatures/signature-store.ts';
import type { SqliteConnection } from './connection.ts';
import type { QueryBuilder } from './schema.ts';
import type { Queries } from './session.ts';

/** Expired and surplus rows leave with every so many saves: counting them costs more than a save. */
const SAVES_BETWEEN_SWEEPS = 64;

export function createSignatureStore(
  connection: SqliteConnection,
  builder: QueryBuilder,
): SignatureStore {
  let saves = 0;
  return {
    load: ({ now, maxEntries }) =>
      connection.read((queries) =>
        queries
          .rows(
            builder
              .selectFrom('signatures')
              .selectAll()
              .where('expires_at', '>', now)
              .orderBy('sequence', 'desc')
              .limit(maxEntries),
          )
          .reverse()
          .map(
            (row): StoredSignature => ({
              key: row.key,
              value: row.value,
              family: row.family ?? undefined,
              on: readPart(row.part),
              expiresAt: row.expires_at,
            }),
          ),
      ),
    save: (entries, { now, maxEntries }) =>
      connection.write('crash', (queries) => {
        saveEntries(queries, builder, entries);
        saves += 1;
        if (saves % SAVES_BETWEEN_SWEEPS !== 1) return;
        queries.run(builder.deleteFrom('signatures').where('expires_at', '<=', now));
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

/** Compiled once: kysely takes ten times as long as SQLite for a row. */
function saveEntries(
  queries: Queries,
  builder: QueryBuilder,
  entries: readonly StoredSignature[],
): void {
  const [first] = entries;
  if (first === undefined) return;
  const compiled = builder.replaceInto('signatures').values(toRow(first)).compile();
  for (const entry of entries) {
    const parameters = Object.values(toRow(entry));
    queries.run({ compile: () => ({ ...compiled, parameters }) });
  }
}

function toRow({ key, value, family, on, expiresAt }: StoredSignature) {
  return { key, value, family: family ?? null, part: on ?? null, expires_at: expiresAt };
}

function readPart(part: string | null): StoredSignature['on'] {
  return PARTS.find((known) => known === part);
}

const PARTS = ['thinking', 'text', 'tool-call', 'media'] as const;
