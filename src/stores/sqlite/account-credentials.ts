// The sealed credentials: one row for each account, its version the fence between two replacements.

import { StoreError } from '../../accounts/account-store.ts';
import type { Credential, VersionedCredential } from '../../accounts/credential.ts';
import { told } from '../../lib/told.ts';
import { SealError, type Vault } from '../../sealing/vault.ts';
import { type AccountTables, findAccountRow } from './account-queries.ts';
import { credentialPlace } from './account-rows.ts';
import { readCredential, writeCredential } from './credential-json.ts';
import type { CredentialRow } from './schema.ts';
import type { Queries } from './session.ts';

export interface NewCredential {
  readonly id: string;
  readonly credential: Credential;
}

export function insertCredential(
  queries: Queries,
  { builder, vault }: AccountTables,
  { id, credential }: NewCredential,
): void {
  const sealed = vault.seal(writeCredential(credential), credentialPlace(id));
  queries.run(builder.insertInto('credentials').values({ account_id: id, version: 1, sealed }));
}

/** Undefined when the account is gone. @throws StoreError `unreadable` */
export function findCredential(
  queries: Queries,
  tables: AccountTables,
  id: string,
): VersionedCredential | undefined {
  const row = findRow(queries, tables, id);
  if (row !== undefined) return openCredential(row, tables.vault);
  if (findAccountRow(queries, tables.builder, id) !== undefined) throw unreadable(id);
  return undefined;
}

/** @param replacement.expectedVersion undefined to replace whatever stands there */
export function replaceCredential(
  queries: Queries,
  tables: AccountTables,
  replacement: NewCredential & { readonly expectedVersion: number | undefined },
): VersionedCredential | 'stale' | 'missing' {
  const { id, credential, expectedVersion } = replacement;
  const { builder, vault } = tables;
  if (findAccountRow(queries, builder, id) === undefined) return 'missing';
  const known = findRow(queries, tables, id)?.version ?? 0;
  if (expectedVersion !== undefined && known !== expectedVersion) return 'stale';
  const version = known + 1;
  const sealed = vault.seal(writeCredential(credential), credentialPlace(id));
  queries.run(builder.replaceInto('credentials').values({ account_id: id, version, sealed }));
  return { credential, version };
}

function findRow(
  queries: Queries,
  { builder }: AccountTables,
  id: string,
): CredentialRow | undefined {
  return queries.rows(
    builder.selectFrom('credentials').selectAll().where('account_id', '=', id),
  )[0];
}

function openCredential(row: CredentialRow, vault: Vault): VersionedCredential {
  try {
    const credential = readCredential(vault.open(row.sealed, credentialPlace(row.account_id)));
    if (credential !== undefined) return { credential, version: row.version };
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw unreadable(row.account_id, error);
  }
  throw unreadable(row.account_id);
}

function unreadable(id: string, cause?: unknown): StoreError {
  return new StoreError(
    'unreadable',
    told`The stored credential of account ${id} cannot be opened. Sign in or give the key again.`,
    cause,
  );
}
