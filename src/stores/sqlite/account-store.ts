// The accounts in SQLite: records in clear, credentials and proxy addresses sealed.

import type { QuotaReading } from '../../accounts/account.ts';
import type { AccountStore } from '../../accounts/account-store.ts';
import type { AccountHealth } from '../../accounts/health.ts';
import { writeHealth } from '../../accounts/health-json.ts';
import { changeAccount, insertAccount } from './account-changes.ts';
import { findCredential, replaceCredential } from './account-credentials.ts';
import { type AccountTables, findAccountRow, listAccounts } from './account-queries.ts';
import type { SqliteConnection } from './connection.ts';
import type { Queries } from './session.ts';

/** What people and sign-ins say survives a power cut; health and quotas the end of the process. */
export function createAccountStore(
  connection: SqliteConnection,
  tables: AccountTables,
): AccountStore {
  const { builder } = tables;
  return {
    list: () => connection.read((queries) => listAccounts(queries, tables)),
    insert: (account) =>
      connection.write('power-cut', (queries) => insertAccount(queries, tables, account)),
    update: (id, change, expectedRevision) =>
      connection.write('power-cut', (queries) =>
        changeAccount(queries, tables, { id, change, expectedRevision }),
      ),
    remove: (id) =>
      connection.write(
        'power-cut',
        (queries) => queries.run(builder.deleteFrom('accounts').where('id', '=', id)) > 0,
      ),
    readCredential: (id) => connection.read((queries) => findCredential(queries, tables, id)),
    replaceCredential: (id, credential, expectedVersion) =>
      connection.write('power-cut', (queries) =>
        replaceCredential(queries, tables, { id, credential, expectedVersion }),
      ),
    saveHealth: (id, health) =>
      connection.write('crash', (queries) => saveHealth(queries, tables, { id, health })),
    saveQuotas: (id, quotas) =>
      connection.write('crash', (queries) => saveQuotas(queries, tables, { id, quotas })),
  };
}

function saveHealth(
  queries: Queries,
  { builder }: AccountTables,
  { id, health }: { readonly id: string; readonly health: AccountHealth },
): void {
  if (findAccountRow(queries, builder, id) === undefined) return;
  const row = { account_id: id, health: JSON.stringify(writeHealth(health)) };
  queries.run(builder.replaceInto('account_health').values(row));
}

function saveQuotas(
  queries: Queries,
  { builder }: AccountTables,
  { id, quotas }: { readonly id: string; readonly quotas: ReadonlyMap<string, QuotaReading> },
): void {
  if (findAccountRow(queries, builder, id) === undefined) return;
  queries.run(builder.deleteFrom('account_quotas').where('account_id', '=', id));
  for (const [modelId, reading] of quotas) {
    const row = {
      account_id: id,
      model_id: modelId,
      remaining_fraction: reading.remainingFraction,
      resets_at: reading.resetsAt ?? null,
      source: reading.source,
      fetched_at: reading.fetchedAt,
    };
    queries.run(builder.replaceInto('account_quotas').values(row));
  }
}
