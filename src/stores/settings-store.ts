// The settings as one document in a database.

import { sql } from 'kysely';
import type { SettingsStore } from '../config/stored.ts';
import { type Database, firstOf, run } from './database.ts';
import { builder } from './schema.ts';

const NAME = 'gateway';

export function createSettingsStore(database: Database): SettingsStore {
  return {
    read: () =>
      database.read(() =>
        firstOf(
          builder.selectFrom('settings').select(['revision', 'document']).where('name', '=', NAME),
        ),
      ),
    replace: (document, over) =>
      database.write('power-cut', function* () {
        const first = builder
          .insertInto('settings')
          .values({ name: NAME, revision: 1, document })
          .onConflict((conflict) => conflict.column('name').doNothing());
        const next = builder
          .updateTable('settings')
          .set({ document, revision: sql<number>`revision + 1` })
          .where('name', '=', NAME)
          .where('document', '=', over ?? '');
        return (yield* run(over === undefined ? first : next)) > 0;
      }),
  };
}
