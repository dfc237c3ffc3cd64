// The key that seals the secrets of a database: itself sealed in it, with the secret key.

import { randomBytes } from 'node:crypto';
import { StoreError } from '../accounts/account-store.ts';
import { told } from '../lib/localized-message.ts';
import { createVault, SealError, type Vault } from '../sealing/seal.ts';
import { createSecretKey } from '../sealing/secret-key.ts';
import { firstOf, insert, put, type Work } from './database.ts';
import { builder, type TableRow } from './schema.ts';

interface DataKeyContext {
  /** What messages call the database. */
  readonly name: string;
  /** Of the secret key. */
  readonly vault: Vault;
}

const NAME = 'accounts';
const PLACE = 'data_keys/accounts/sealed';

export type DataKeyRow = TableRow<'data_keys'>;

/** Of a new database. @param given that of the database of which it is to be a copy */
export function createDataKey(vault: Vault, given?: DataKeyRow): Work<void> {
  const seal = (): DataKeyRow => {
    const sealed = vault.seal(randomBytes(32).toString('base64url'), PLACE);
    return { name: NAME, sealed };
  };
  return insert('data_keys', [given ?? seal()]);
}

/** @throws StoreError `conflict` when the database is no copy of the one that the key is of */
export function* requireSameDataKey(name: string, { sealed }: DataKeyRow): Work<void> {
  if ((yield* findDataKey())?.sealed !== sealed) throw holdsOtherData(name);
}

/** Of a database that something was to be copied to. */
export function holdsOtherData(name: string): StoreError {
  const message = told`The database ${name} holds other data already, so nothing was copied. Name an empty one.`;
  return new StoreError('conflict', message);
}

/** The vault of this database. @throws StoreError `unreadable` when it was sealed with another secret key */
export function* openDataKey(context: DataKeyContext): Work<Vault> {
  return createVault(createSecretKey(yield* readDataKey(context), context.name));
}

/** Still sealed; undefined where it was lost. */
export function findDataKey(): Work<DataKeyRow | undefined> {
  return firstOf(builder.selectFrom('data_keys').selectAll().where('name', '=', NAME));
}

/** Changes the key that opens everything. @param digestKey stays whatever the secret key is. @throws StoreError */
export function* changeDataKey(
  context: DataKeyContext,
  next: Vault,
  digestKey: Buffer,
): Work<void> {
  const kept = (yield* openDigestKey(context)) ?? digestKey;
  yield* put('data_keys', [
    { name: NAME, sealed: next.seal(yield* readDataKey(context), PLACE) },
    { name: DIGEST_NAME, sealed: next.seal(kept.toString('base64url'), DIGEST_PLACE) },
  ]);
}

const DIGEST_NAME = 'client-keys';
const DIGEST_PLACE = 'data_keys/client-keys/sealed';

/** Makes digests of client keys; undefined while the secret key was never changed. @throws SealError */
export function* openDigestKey({ vault }: DataKeyContext): Work<Buffer | undefined> {
  const row = yield* findDigestKey();
  return row && Buffer.from(vault.open(row.sealed, DIGEST_PLACE), 'base64url');
}

/** Still sealed; undefined where there is none. */
export function findDigestKey(): Work<DataKeyRow | undefined> {
  return firstOf(builder.selectFrom('data_keys').selectAll().where('name', '=', DIGEST_NAME));
}

/** Of a database that is a copy of one with this key. */
export function copyDigestKey(row: DataKeyRow): Work<void> {
  return put('data_keys', [row]);
}

function* readDataKey({ name, vault }: DataKeyContext): Work<string> {
  const row = yield* findDataKey();
  if (row === undefined) {
    const message = told`The database ${name} has lost the key of its secrets. It was left as it is. Put a backup in its place.`;
    throw new StoreError('unreadable', message);
  }
  try {
    return vault.open(row.sealed, PLACE);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    const why =
      error.fault === 'foreign-key'
        ? told`The database ${name} cannot be opened with this secret key. ${error.sentence} It was left as it is. Give back the key that was in use: ISTHMUS_SECRET_KEY, or the file secret.key in the data folder when that is not set.`
        : told`The database ${name} has a damaged key of its secrets. It was left as it is. Put a backup in its place.`;
    throw new StoreError('unreadable', why, error);
  }
}
