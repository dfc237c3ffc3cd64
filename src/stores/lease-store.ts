// Leases in a database: one row a name, which is never removed, so that fences only grow.

import { sql } from 'kysely';
import type { LeaseStore } from '../cluster/leases.ts';
import { type Database, firstOf, run } from './database.ts';
import { builder } from './schema.ts';

/** @param now of this process; it counts only where no other machine asks the database */
export function createLeaseStore(database: Database, now: () => number): LeaseStore {
  const clock = () => database.dialect.now(now());
  const endingIn = (ttlMs: number) => sql<number>`${clock()} + ${sql.lit(Math.ceil(ttlMs))}`;
  return {
    // A fence that was told may not come again, whatever happens to the machine.
    take: (name, holder, ttlMs) =>
      database.write('power-cut', function* () {
        const isOwn = sql`leases.holder = excluded.holder and leases.expires_at > ${clock()}`;
        const taken = builder
          .insertInto('leases')
          .values({ name, holder, fence: 1, expiresAt: endingIn(ttlMs) })
          .onConflict((conflict) =>
            conflict
              .column('name')
              .doUpdateSet({
                holder,
                fence: sql`leases.fence + case when ${isOwn} then 0 else 1 end`,
                expiresAt: endingIn(ttlMs),
              })
              .where(sql<boolean>`leases.expires_at <= ${clock()} or leases.holder = ${holder}`),
          )
          .returning('fence');
        return yield* firstOf(taken);
      }),
    release: (name, holder, fence) =>
      database.write('crash', function* () {
        yield* run(
          builder
            .updateTable('leases')
            .set({ expiresAt: 0 })
            .where('name', '=', name)
            .where('holder', '=', holder)
            .where('fence', '=', fence)
            .where('expiresAt', '>', clock()),
        );
      }),
  };
}
