// The rules of the address filter in SQLite.

import { sql } from 'kysely';
import { StoreError } from '../../accounts/account-store.ts';
import type { AddressRule, AddressRuleStore } from '../../door/address-rule.ts';
import { told } from '../../lib/told.ts';
import type { SqliteConnection } from './connection.ts';
import type { QueryBuilder } from './schema.ts';
import type { Queries } from './session.ts';

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
            revision: row.revision,
          }),
        ),
      ),
    insert: (rule) =>
      connection.write('power-cut', (queries) => {
        const { id, hits, createdAt } = rule;
        const counts = { hits, last_hit_at: rule.lastHitAt ?? null };
        const row = { ...fieldsOf(rule), id, ...counts, created_at: createdAt };
        queries.run(builder.insertInto('address_rules').values(row));
      }),
    update: (rule) => connection.write('power-cut', (queries) => update(queries, builder, rule)),
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

function update(queries: Queries, builder: QueryBuilder, rule: AddressRule): void {
  const { id, revision } = rule;
  const changed = queries.run(
    builder
      .updateTable('address_rules')
      .set(fieldsOf(rule))
      .where('id', '=', id)
      .where('revision', '=', revision - 1),
  );
  if (changed > 0) return;
  const known = builder.selectFrom('address_rules').select('revision').where('id', '=', id);
  if (queries.rows(known).length === 0)
    throw new StoreError('missing', told`There is no rule ${id}.`);
  throw new StoreError('stale', told`The address rule ${id} was changed meanwhile.`);
}

function fieldsOf({ list, range, note, expiresAt, revision }: AddressRule) {
  return { list, range, note, expires_at: expiresAt ?? null, revision };
}
