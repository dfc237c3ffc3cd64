// Reads accounts with all that stands beside them.

import { sql } from 'kysely';
import type { StoredAccount } from '../../accounts/account-store.ts';
import type { Vault } from '../../sealing/vault.ts';
import { toStoredAccount } from './account-rows.ts';
import type { AccountRow, QueryBuilder, QuotaRow } from './schema.ts';
import type { Queries } from './session.ts';

/** Structured lines; a damaged row is told there. */
export interface StoreLog {
  warn(fields: object, message: string): void;
}

export interface AccountTables {
  readonly builder: QueryBuilder;
  readonly vault: Vault;
  readonly log?: StoreLog | undefined;
}

/** All accounts, oldest first. */
export function listAccounts(queries: Queries, tables: AccountTables): StoredAccount[] {
  const { builder } = tables;
  const accounts = queries.rows(
    builder.selectFrom('accounts').selectAll().orderBy('created_at').orderBy(sql`rowid`),
  );
  const credentials = queries.rows(builder.selectFrom('credentials').selectAll());
  const healths = queries.rows(builder.selectFrom('account_health').selectAll());
  const quotas = Map.groupBy(
    queries.rows(builder.selectFrom('account_quotas').selectAll()),
    (row) => row.account_id,
  );
  const sealedById = new Map(credentials.map((row) => [row.account_id, row.sealed]));
  const healthById = new Map(healths.map((row) => [row.account_id, row.health]));
  return accounts.map((account) =>
    assemble(tables, account, {
      sealedCredential: sealedById.get(account.id),
      health: healthById.get(account.id),
      quotas: quotas.get(account.id) ?? [],
    }),
  );
}

export function findAccount(
  queries: Queries,
  tables: AccountTables,
  id: string,
): StoredAccount | undefined {
  const { builder } = tables;
  const account = findAccountRow(queries, builder, id);
  if (account === undefined) return undefined;
  const [credential] = queries.rows(
    builder.selectFrom('credentials').select('sealed').where('account_id', '=', id),
  );
  const [health] = queries.rows(
    builder.selectFrom('account_health').select('health').where('account_id', '=', id),
  );
  return assemble(tables, account, {
    sealedCredential: credential?.sealed,
    health: health?.health,
    quotas: queries.rows(
      builder.selectFrom('account_quotas').selectAll().where('account_id', '=', id),
    ),
  });
}

export function findAccountRow(
  queries: Queries,
  builder: QueryBuilder,
  id: string,
): AccountRow | undefined {
  return queries.rows(builder.selectFrom('accounts').selectAll().where('id', '=', id))[0];
}

interface Beside {
  readonly sealedCredential: string | undefined;
  readonly health: string | undefined;
  readonly quotas: readonly QuotaRow[];
}

function assemble({ vault, log }: AccountTables, account: AccountRow, beside: Beside) {
  return toStoredAccount({ account, ...beside }, vault, (what) =>
    log?.warn({ accountId: account.id }, `A stored account is damaged and not used: ${what}.`),
  );
}
