// The access log in SQLite.

import {
  ACCESS_VERDICTS,
  type AccessLogStore,
  type StoredAccessEntry,
} from '../../door/access-log.ts';
import type { SqliteConnection } from './connection.ts';
import type { QueryBuilder } from './schema.ts';

export function createAccessLogStore(
  connection: SqliteConnection,
  builder: QueryBuilder,
): AccessLogStore {
  return {
    add: (entries, most) =>
      connection.write('crash', (queries) => {
        for (const { keyId, ...entry } of entries) {
          const row = { ...entry, key_id: keyId ?? null };
          queries.run(builder.insertInto('access_log').values(row));
        }
        const oldestKept = builder
          .selectFrom('access_log')
          .select('id')
          .orderBy('id', 'desc')
          .limit(1)
          .offset(most - 1);
        queries.run(builder.deleteFrom('access_log').where('id', '<', oldestKept));
      }),
    list: ({ verdict, before, limit }) =>
      connection.read((queries) => {
        let query = builder.selectFrom('access_log').selectAll().orderBy('id', 'desc').limit(limit);
        if (verdict !== undefined) query = query.where('verdict', '=', verdict);
        if (before !== undefined) query = query.where('id', '<', before);
        return queries.rows(query).map(
          ({ key_id, verdict: stored, ...row }): StoredAccessEntry => ({
            ...row,
            verdict: ACCESS_VERDICTS.find((known) => known === stored) ?? 'rejected',
            keyId: key_id ?? undefined,
          }),
        );
      }),
  };
}
