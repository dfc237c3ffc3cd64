// Brings a database to the shape this program knows, in one transaction.

import { sql } from 'kysely';
import { StoreError } from '../../accounts/account-store.ts';
import { told } from '../../lib/told.ts';
import { accountsAndSignatures } from './migrations/001-accounts-and-signatures.ts';
import { keysAndRules } from './migrations/002-keys-and-rules.ts';
import { monitor } from './migrations/003-monitor.ts';
import { keptAnswers } from './migrations/004-kept-answers.ts';
import { keptAnswerSizes } from './migrations/005-kept-answer-sizes.ts';
import { requestFilters } from './migrations/006-request-filters.ts';
import { requestDetails } from './migrations/007-request-details.ts';
import { usageKeyNames } from './migrations/008-usage-key-names.ts';
import { requestRetries } from './migrations/009-request-retries.ts';
import { addressRuleRevisions } from './migrations/010-address-rule-revisions.ts';
import { callTraces } from './migrations/011-call-traces.ts';
import { sessionBindings } from './migrations/012-session-bindings.ts';
import type { Migration } from './migrations/migration.ts';
import type { QueryBuilder } from './schema.ts';
import type { Queries } from './session.ts';

const MIGRATIONS: readonly Migration[] = [
  accountsAndSignatures,
  keysAndRules,
  monitor,
  keptAnswers,
  keptAnswerSizes,
  requestFilters,
  requestDetails,
  usageKeyNames,
  requestRetries,
  addressRuleRevisions,
  callTraces,
  sessionBindings,
];

export interface MigrationContext {
  readonly builder: QueryBuilder;
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly migrations?: readonly Migration[];
}

/** @throws StoreError `unreadable` when a later version of the program made the database */
export function migrate(queries: Queries, context: MigrationContext): void {
  const { builder, now, migrations = MIGRATIONS } = context;
  const version = readVersion(queries, context);
  for (const migration of migrations.filter((one) => one.version > version)) {
    queries.exec(migration.sql);
    const row = { version: migration.version, name: migration.name, applied_at: now };
    queries.run(builder.insertInto('migrations').values(row));
  }
}

/** 0 for a new database. @throws StoreError as `migrate` */
export function readVersion(queries: Queries, context: MigrationContext): number {
  const { builder, path, migrations = MIGRATIONS } = context;
  if (isNew(queries, builder)) return 0;
  const known = migrations.at(-1)?.version ?? 0;
  const rows = queries.rows(builder.selectFrom('migrations').select('version').orderBy('version'));
  const version = rows.at(-1)?.version ?? 0;
  if (version <= known) return version;
  throw new StoreError(
    'unreadable',
    told`The database ${path} is of version ${version}; this program knows versions up to ${known}. It was left as it is. Use the newer program again, or put back the backup from before it.`,
  );
}

function isNew(queries: Queries, builder: QueryBuilder): boolean {
  const tables = sql`select 1 from sqlite_master where type = 'table' and name = 'migrations'`;
  return queries.rows({ compile: () => tables.compile(builder) }).length === 0;
}
