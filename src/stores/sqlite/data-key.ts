// The key that seals this database's secrets, itself sealed with the secret key: changing that re-seals one row.

import { randomBytes } from 'node:crypto';
import { StoreError } from '../../accounts/account-store.ts';
import { type Sentence, told } from '../../lib/told.ts';
import { createSecretKey } from '../../sealing/secret-key.ts';
import { createVault, SealError, type Vault } from '../../sealing/vault.ts';
import type { QueryBuilder } from './schema.ts';
import type { Queries } from './session.ts';

export interface DataKeyContext {
  readonly builder: QueryBuilder;
  readonly path: string;
  /** Of the secret key. */
  readonly vault: Vault;
}

const NAME = 'accounts';
const PLACE = 'data_keys/accounts/sealed';

export function insertDataKey(queries: Queries, { builder, vault }: DataKeyContext): void {
  const sealed = vault.seal(randomBytes(32).toString('base64url'), PLACE);
  queries.run(builder.insertInto('data_keys').values({ name: NAME, sealed }));
}

/**
 * The vault of everything in this database.
 * @throws StoreError `unreadable` when the secret key is not the one the database was sealed with
 */
export function openDataKey(queries: Queries, context: DataKeyContext): Vault {
  return createVault(createSecretKey(readDataKey(queries, context), context.path));
}

/** Seals the data key with the secret key that shall hold from now on. @throws StoreError */
export function resealDataKey(queries: Queries, context: DataKeyContext, next: Vault): void {
  const sealed = next.seal(readDataKey(queries, context), PLACE);
  queries.run(context.builder.updateTable('data_keys').set({ sealed }).where('name', '=', NAME));
}

function readDataKey(queries: Queries, { builder, path, vault }: DataKeyContext): string {
  const [row] = queries.rows(
    builder.selectFrom('data_keys').select('sealed').where('name', '=', NAME),
  );
  if (row === undefined) {
    throw new StoreError(
      'unreadable',
      told`The database ${path} has lost the key of its secrets. It was left as it is. Put a backup in its place.`,
    );
  }
  try {
    return vault.open(row.sealed, PLACE);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new StoreError('unreadable', explain(path, error), error);
  }
}

function explain(path: string, error: SealError): Sentence {
  if (error.fault === 'foreign-key') {
    return told`The database ${path} cannot be opened with this secret key. ${error.message} It was left as it is. Give back the key that was in use: ISTHMUS_SECRET_KEY, or the file secret.key in the data folder when that is not set.`;
  }
  return told`The database ${path} has a damaged key of its secrets. It was left as it is. Put a backup in its place.`;
}
