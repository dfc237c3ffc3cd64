// The rules of the address filter in SQLite.

import { sql } from 'kysely';
import type { AddressRule, AddressRuleStore } from '../../door/address-rule.ts';
import type { SqliteConnection } from './connection.ts';
import type { QueryBuilder } from './schema.ts';

export function createAddressRuleStore(
  connection: SqliteConnection,
  builder: QueryBuilder,
): AddressRuleStore {
  return {
    list: () =>
      connection.read((queries) =>
        queries.rows(builder.selectFrom('address_rules').selectAll().orderBy('sequence')).map(
          (row): AddressRule => ({
            id: row.id,
            // Whatever is not an allow rule keeps its addresses out.
            list: row.list === 'allow' ? 'allow' : 'deny',
            range: row.range,
            note: row.note,
            expiresAt: row.expires_at ?? undefined,
            hits: row.hits,
            lastHitAt: row.last_hit_at ?? undefined,
            createdAt: row.created_at,
          }),
        ),
      ),
    save: (rule) =>
      connection.write('power-cut', (queries) => {
        const { id, list, range, note, createdAt } = rule;
        const fields = { list, range, note, expires_at: rule.expiresAt ?? null };
        const known = builder.updateTable('address_rules').set(fields).where('id', '=', id);
        if (queries.run(known) > 0) return;
        const counts = { hits: rule.hits, last_hit_at: rule.lastHitAt ?? null };
        const row = { id, ...fields, ...counts, created_at: createdAt };
        queries.run(builder.insertInto('address_rules').values(row));
      }),
    remove: (id) =>
      connection.write(
        'power-cut',
        (queries) => queries.run(builder.deleteFrom('address_rules').where('id', '=', id)) > 0,
      ),
    addHits: (all) =>
      connection.write('crash', (queries) => {
        for (const { id, hits, lastHitAt } of all) {
          const counts = { hits: sql<number>`hits + ${hits}`, last_hit_at: lastHitAt };
          queries.run(builder.updateTable('address_rules').set(counts).where('id', '=', id));
        }
      }),
  };
}
