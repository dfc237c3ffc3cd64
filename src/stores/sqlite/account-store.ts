// Accounts in SQLite: records in clear, credentials and proxy addresses sealed.

import { sql } from 'kysely';
import {
  ACCOUNT_KINDS,
  type Credential,
  labelKey,
  type QuotaReading,
  TIERS,
  type VersionedCredential,
} from '../../accounts/account.ts';
import {
  type AccountRecordChange,
  type AccountStore,
  type NewStoredAccount,
  type StoredAccount,
  StoreError,
} from '../../accounts/account-store.ts';
import { type AccountHealth, HEALTHY } from '../../accounts/health.ts';
import { readHealth, writeHealth } from '../../accounts/health-json.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { SealError, type Vault } from '../../sealing/seal.ts';
import type { QueryBuilder, TableRow } from './schema.ts';
import { isDuplicate, type Queries, readJson, type SqliteConnection } from './session.ts';

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
  { id: accountId, health }: { readonly id: string; readonly health: AccountHealth },
): void {
  if (findAccountRow(queries, builder, accountId) === undefined) return;
  const row = { accountId, health: JSON.stringify(writeHealth(health)) };
  queries.run(builder.replaceInto('account_health').values(row));
}

function saveQuotas(
  queries: Queries,
  { builder }: AccountTables,
  { id, quotas }: { readonly id: string; readonly quotas: ReadonlyMap<string, QuotaReading> },
): void {
  if (findAccountRow(queries, builder, id) === undefined) return;
  queries.run(builder.deleteFrom('account_quotas').where('accountId', '=', id));
  for (const [modelId, { remainingCalls: _, ...reading }] of quotas) {
    const row = { accountId: id, modelId, ...reading };
    queries.run(builder.replaceInto('account_quotas').values(row));
  }
}

/** @throws StoreError `conflict` */
function insertAccount(
  queries: Queries,
  tables: AccountTables,
  account: NewStoredAccount,
): StoredAccount {
  const { record, proxyUrl, credential } = account;
  const { builder, vault } = tables;
  const row = {
    ...record,
    labelKey: labelKey(record.label),
    proxyUrl: proxyUrl && vault.seal(proxyUrl, proxyPlace(record.id)),
    revision: 1,
  };
  refuseDuplicate(record, () => queries.run(builder.insertInto('accounts').values(row)));
  insertCredential(queries, tables, { id: record.id, credential });
  return { record: { ...record, revision: 1 }, proxyUrl, health: HEALTHY, quotas: new Map() };
}

interface AccountChange {
  readonly id: string;
  readonly change: AccountRecordChange;
  readonly expectedRevision: number | undefined;
}

/** @throws StoreError `missing`, `stale` or `conflict` */
function changeAccount(
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
  const { proxyUrl, label } = change;
  const row = {
    ...change,
    labelKey: label && labelKey(label),
    proxyUrl: proxyUrl && tables.vault.seal(proxyUrl, proxyPlace(id)),
    revision: known.revision + 1,
  };
  refuseDuplicate({ label: label ?? known.label, upstreamId: known.upstreamId }, () =>
    queries.run(tables.builder.updateTable('accounts').set(row).where('id', '=', id)),
  );
  const changed = findAccount(queries, tables, id);
  if (changed === undefined) throw new StoreError('missing', told`There is no account ${id}.`);
  return changed;
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

/** A sealed credential: one row per account; `version` is the optimistic lock. */
interface NewCredential {
  readonly id: string;
  readonly credential: Credential;
}

function insertCredential(
  queries: Queries,
  { builder, vault }: AccountTables,
  { id, credential }: NewCredential,
): void {
  const sealed = vault.seal(JSON.stringify(credential), credentialPlace(id));
  queries.run(builder.insertInto('credentials').values({ accountId: id, version: 1, sealed }));
}

/** Undefined when the account is gone. @throws StoreError `unreadable` */
function findCredential(
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
function replaceCredential(
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
  const sealed = vault.seal(JSON.stringify(credential), credentialPlace(id));
  queries.run(builder.replaceInto('credentials').values({ accountId: id, version, sealed }));
  return { credential, version };
}

function findRow(
  queries: Queries,
  { builder }: AccountTables,
  id: string,
): TableRow<'credentials'> | undefined {
  return queries.rows(builder.selectFrom('credentials').selectAll().where('accountId', '=', id))[0];
}

function openCredential(
  { accountId, sealed, version }: TableRow<'credentials'>,
  vault: Vault,
): VersionedCredential {
  try {
    const credential = readCredential(vault.open(sealed, credentialPlace(accountId)));
    if (credential !== undefined) return { credential, version };
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw unreadable(accountId, error);
  }
  throw unreadable(accountId);
}

function unreadable(id: string, cause?: unknown): StoreError {
  return new StoreError(
    'unreadable',
    told`The stored credential of account ${id} cannot be opened. Sign in or give the key again.`,
    cause,
  );
}

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
function listAccounts(queries: Queries, tables: AccountTables): StoredAccount[] {
  const { builder } = tables;
  const accounts = queries.rows(
    builder.selectFrom('accounts').selectAll().orderBy('createdAt').orderBy(sql`rowid`),
  );
  const credentials = queries.rows(builder.selectFrom('credentials').selectAll());
  const healths = queries.rows(builder.selectFrom('account_health').selectAll());
  const quotas = queries.rows(builder.selectFrom('account_quotas').selectAll());
  const sealedById = new Map(credentials.map(({ accountId, sealed }) => [accountId, sealed]));
  const healthById = new Map(healths.map(({ accountId, health }) => [accountId, health]));
  const quotasById = Map.groupBy(quotas, ({ accountId }) => accountId);
  return accounts.map((account) =>
    toStoredAccount(tables, {
      account,
      sealedCredential: sealedById.get(account.id),
      health: healthById.get(account.id),
      quotas: quotasById.get(account.id) ?? [],
    }),
  );
}

function findAccount(
  queries: Queries,
  tables: AccountTables,
  id: string,
): StoredAccount | undefined {
  const { builder } = tables;
  const account = findAccountRow(queries, builder, id);
  if (account === undefined) return undefined;
  const [health] = queries.rows(
    builder.selectFrom('account_health').selectAll().where('accountId', '=', id),
  );
  return toStoredAccount(tables, {
    account,
    sealedCredential: findRow(queries, tables, id)?.sealed,
    health: health?.health,
    quotas: queries.rows(
      builder.selectFrom('account_quotas').selectAll().where('accountId', '=', id),
    ),
  });
}

function findAccountRow(
  queries: Queries,
  builder: QueryBuilder,
  id: string,
): TableRow<'accounts'> | undefined {
  return queries.rows(builder.selectFrom('accounts').selectAll().where('id', '=', id))[0];
}

interface AccountRows {
  readonly account: TableRow<'accounts'>;
  /** Undefined when the row is gone. */
  readonly sealedCredential: string | undefined;
  readonly health: string | undefined;
  readonly quotas: readonly TableRow<'account_quotas'>[];
}

/** What seals a credential: bound to its account, so that no other's can stand in for it. */
function credentialPlace(accountId: string): string {
  return `credentials/${accountId}/sealed`;
}

function proxyPlace(accountId: string): string {
  return `accounts/${accountId}/proxy_url`;
}

/** What cannot be read is told in plain words; the account is not used then. */
function toStoredAccount({ vault, log }: AccountTables, rows: AccountRows): StoredAccount {
  const { account, sealedCredential, health: healthText, quotas } = rows;
  const { labelKey: _, proxyUrl: sealedProxyUrl, kind: storedKind, tier, ...record } = account;
  const damages: string[] = [];
  const kind = ACCOUNT_KINDS.find((known) => known === storedKind);
  if (kind === undefined) damages.push(told`its kind is none that is known`);
  const proxyUrl =
    sealedProxyUrl === undefined
      ? undefined
      : tryOpen(vault, sealedProxyUrl, proxyPlace(record.id));
  // Without the proxy it is set to, an account must not be used at all.
  if (proxyUrl === null) {
    damages.push(told`its proxy address cannot be opened: set it again`);
  }
  const health = parseHealth(healthText, damages);
  if (sealedCredential === undefined) {
    damages.push(told`its credential is gone: sign in or give the key again`);
  } else if (tryOpen(vault, sealedCredential, credentialPlace(record.id)) === null) {
    damages.push(told`its credential cannot be opened: sign in or give the key again`);
  }
  for (const what of damages) {
    log?.warn({ accountId: record.id }, `A stored account is damaged and not used: ${what}.`);
  }
  return {
    record: { ...record, kind: kind ?? 'api-key', tier: TIERS.find((known) => known === tier) },
    proxyUrl: proxyUrl ?? undefined,
    health: damages.length === 0 ? health : damagedHealth(health, damages),
    quotas: new Map(quotas.flatMap(toReading)),
  };
}

/** Null when the seal does not open. */
function tryOpen(vault: Vault, sealed: string, place: string): string | null {
  try {
    return vault.open(sealed, place);
  } catch (error) {
    if (error instanceof SealError) return null;
    throw error;
  }
}

function parseHealth(text: string | undefined, damages: string[]): AccountHealth {
  if (text === undefined) return HEALTHY;
  const json = readJson(text);
  if (json !== undefined) return readHealth(json);
  damages.push(told`its stored state is damaged: look at it and enable it again`);
  return HEALTHY;
}

/** A state that already keeps the account out stays as it is. */
function damagedHealth(health: AccountHealth, damages: readonly string[]): AccountHealth {
  if (health.status.kind === 'disabled') return health;
  const detail = told`The stored account is damaged: ${damages.join('; ')}.`;
  return { ...health, status: { kind: 'disabled', reason: 'manual', since: 0, detail } };
}

function toReading({
  accountId: _,
  modelId,
  source,
  ...row
}: TableRow<'account_quotas'>): readonly (readonly [string, QuotaReading])[] {
  if (source !== 'upstream' && source !== 'estimated') return [];
  const remainingFraction = Math.min(Math.max(row.remainingFraction, 0), 1);
  return [[modelId, { ...row, remainingFraction, source }]];
}

/** Undefined when it is none of the kinds. */
function readCredential(text: string): Credential | undefined {
  const value = readJson(text);
  if (!isJsonObject(value)) return undefined;
  switch (value.kind) {
    case 'api-key':
      return typeof value.key === 'string' ? { kind: 'api-key', key: value.key } : undefined;
    case 'oauth':
      return readOAuth(value);
    case 'service-account':
      return readServiceAccount(value);
    default:
      return undefined;
  }
}

function readOAuth(value: JsonObject): Credential | undefined {
  const { refreshToken, accessToken, expiresAt, scopes } = value;
  if (typeof refreshToken !== 'string') return undefined;
  return {
    kind: 'oauth',
    refreshToken,
    ...(typeof accessToken === 'string' && { accessToken }),
    ...(typeof expiresAt === 'number' && { expiresAt }),
    ...(Array.isArray(scopes) && { scopes: scopes.filter((scope) => typeof scope === 'string') }),
  };
}

function readServiceAccount(value: JsonObject): Credential | undefined {
  const { clientEmail, privateKey, privateKeyId, tokenUrl } = value;
  if (typeof clientEmail !== 'string' || typeof privateKey !== 'string') return undefined;
  return {
    kind: 'service-account',
    clientEmail,
    privateKey,
    ...(typeof privateKeyId === 'string' && { privateKeyId }),
    ...(typeof tokenUrl === 'string' && { tokenUrl }),
  };
}
