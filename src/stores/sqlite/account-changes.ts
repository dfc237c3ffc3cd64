// Adds accounts and changes their records.

import {
  type AccountRecordChange,
  type NewStoredAccount,
  type StoredAccount,
  StoreError,
} from '../../accounts/account-store.ts';
import { HEALTHY } from '../../accounts/health.ts';
import { labelKey } from '../../accounts/label-key.ts';
import { told } from '../../lib/told.ts';
import type { Vault } from '../../sealing/vault.ts';
import { insertCredential } from './account-credentials.ts';
import { type AccountTables, findAccount, findAccountRow } from './account-queries.ts';
import { proxyPlace, toAccountRow } from './account-rows.ts';
import type { AccountRow } from './schema.ts';
import type { Queries } from './session.ts';
import { isDuplicate } from './sqlite-fault.ts';

/** @throws StoreError `conflict` */
export function insertAccount(
  queries: Queries,
  tables: AccountTables,
  account: NewStoredAccount,
): StoredAccount {
  const { record, proxyUrl, credential } = account;
  refuseDuplicate(record, () =>
    queries.run(tables.builder.insertInto('accounts').values(toAccountRow(account, tables.vault))),
  );
  insertCredential(queries, tables, { id: record.id, credential });
  return { record: { ...record, revision: 1 }, proxyUrl, health: HEALTHY, quotas: new Map() };
}

export interface AccountChange {
  readonly id: string;
  readonly change: AccountRecordChange;
  readonly expectedRevision: number | undefined;
}

/** @throws StoreError `missing`, `stale` or `conflict` */
export function changeAccount(
  queries: Queries,
  tables: AccountTables,
  { id, change, expectedRevision }: AccountChange,
): StoredAccount {
  const known = findAccountRow(queries, tables.builder, id);
  if (known === undefined) throw new StoreError('missing', told`There is no account ${id}.`);
  if (expectedRevision !== undefined && known.revision !== expectedRevision) {
    throw new StoreError(
      'stale',
      told`The account ${id} was changed meanwhile: it is at revision ${known.revision}, not ${expectedRevision}.`,
    );
  }
  const row = { ...toColumns(known, change, tables.vault), revision: known.revision + 1 };
  refuseDuplicate({ label: row.label ?? known.label, upstreamId: known.upstream_id }, () =>
    queries.run(tables.builder.updateTable('accounts').set(row).where('id', '=', id)),
  );
  const changed = findAccount(queries, tables, id);
  if (changed === undefined) throw new StoreError('missing', told`There is no account ${id}.`);
  return changed;
}

function toColumns(
  { id }: AccountRow,
  change: AccountRecordChange,
  vault: Vault,
): Partial<AccountRow> {
  const { label, projectId, tier, priority, notes, proxyUrl } = change;
  return {
    ...(label !== undefined && { label, label_key: labelKey(label) }),
    ...(projectId !== undefined && { project_id: projectId }),
    ...(tier !== undefined && { tier }),
    ...(priority !== undefined && { priority }),
    ...(notes !== undefined && { notes }),
    ...(proxyUrl !== undefined && {
      proxy_url: proxyUrl === null ? null : vault.seal(proxyUrl, proxyPlace(id)),
    }),
  };
}

function refuseDuplicate(
  { label, upstreamId }: { readonly label: string; readonly upstreamId: string },
  write: () => unknown,
): void {
  try {
    write();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    throw new StoreError(
      'conflict',
      told`The upstream ${upstreamId} already has an account ${label} (upper and lower case count as one). Choose another label, or change that account.`,
      error,
    );
  }
}
