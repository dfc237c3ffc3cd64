// The sessions of signed-in browsers in SQLite.

import type { ConsoleSessionStore } from '../../door/console-session.ts';
import type { SqliteConnection } from './connection.ts';
import type { QueryBuilder } from './schema.ts';

export function createConsoleSessionStore(
  connection: SqliteConnection,
  builder: QueryBuilder,
): ConsoleSessionStore {
  return {
    list: () =>
      connection.read((queries) =>
        queries
          .rows(builder.selectFrom('console_sessions').selectAll().orderBy('created_at'))
          .map((row) => ({
            hash: row.hash,
            createdAt: row.created_at,
            lastSeenAt: row.last_seen_at,
            passwordTag: row.password_tag,
          })),
      ),
    save: ({ hash, createdAt, lastSeenAt, passwordTag }) =>
      connection.write('crash', (queries) => {
        const times = { created_at: createdAt, last_seen_at: lastSeenAt };
        const row = { hash, ...times, password_tag: passwordTag };
        queries.run(builder.replaceInto('console_sessions').values(row));
      }),
    // An ended session must not come back, whatever happens to the machine.
    remove: (hashes) =>
      connection.write('power-cut', (queries) => {
        for (const hash of hashes) {
          queries.run(builder.deleteFrom('console_sessions').where('hash', '=', hash));
        }
      }),
  };
}
