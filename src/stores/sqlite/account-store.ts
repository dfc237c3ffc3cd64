// Accounts in SQLite: records in clear, credentials and proxy addresses sealed.

import { sql } from 'kysely';
import {
  type AccountKind,
  type AccountRecord,
  type Credential,
  labelKey,
  type QuotaReading,
  type Tier,
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
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import { SealError, type Vault } from '../../sealing/seal.ts';
import type { AccountRow, CredentialRow, QueryBuilder, QuotaRow } from './schema.ts';
import { isDuplicate, type Queries, type SqliteConnection } from './session.ts';

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

/** @throws StoreError `conflict` */
function insertAccount(
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
  const sealed = vault.seal(writeCredential(credential), credentialPlace(id));
  queries.run(builder.insertInto('credentials').values({ account_id: id, version: 1, sealed }));
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

function findAccount(
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

function findAccountRow(
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

interface AccountRows {
  readonly account: AccountRow;
  /** Undefined when the row is gone. */
  readonly sealedCredential: string | undefined;
  readonly health: string | undefined;
  readonly quotas: readonly QuotaRow[];
}

const KINDS: readonly AccountKind[] = ['oauth', 'api-key', 'service-account'];
const TIERS: readonly Tier[] = ['ultra', 'pro', 'free'];

/** What seals a credential: bound to its account, so that no other's can stand in for it. */
function credentialPlace(accountId: string): string {
  return `credentials/${accountId}/sealed`;
}

function proxyPlace(accountId: string): string {
  return `accounts/${accountId}/proxy_url`;
}

function toAccountRow({ record, proxyUrl }: NewStoredAccount, vault: Vault): AccountRow {
  return {
    id: record.id,
    upstream_id: record.upstreamId,
    kind: record.kind,
    label: record.label,
    label_key: labelKey(record.label),
    project_id: record.projectId ?? null,
    tier: record.tier ?? null,
    priority: record.priority,
    notes: record.notes ?? null,
    proxy_url: proxyUrl === undefined ? null : vault.seal(proxyUrl, proxyPlace(record.id)),
    created_at: record.createdAt,
    revision: 1,
  };
}

/** `reportDamage` hears what could not be read, in plain words. */
function toStoredAccount(
  rows: AccountRows,
  vault: Vault,
  reportDamage: (what: string) => void,
): StoredAccount {
  const damages: string[] = [];
  const { account, quotas } = rows;
  const record = toRecord(account, damages);
  const proxyUrl = openProxyUrl(account, vault, damages);
  const health = parseHealth(rows.health, damages);
  checkCredential(rows, vault, damages);
  for (const what of damages) reportDamage(what);
  return {
    record,
    proxyUrl,
    health: damages.length === 0 ? health : damagedHealth(health, damages),
    quotas: new Map(quotas.flatMap(toReading)),
  };
}

function toRecord(row: AccountRow, damages: string[]): AccountRecord {
  const kind = KINDS.find((known) => known === row.kind);
  if (kind === undefined) damages.push(told`its kind is none that is known`);
  return {
    id: row.id,
    upstreamId: row.upstream_id,
    kind: kind ?? 'api-key',
    label: row.label,
    projectId: row.project_id ?? undefined,
    tier: TIERS.find((known) => known === row.tier),
    priority: row.priority,
    notes: row.notes ?? undefined,
    createdAt: row.created_at,
    revision: row.revision,
  };
}

/** Without the proxy it is set to, an account must not be used at all. */
function openProxyUrl(row: AccountRow, vault: Vault, damages: string[]): string | undefined {
  if (row.proxy_url === null) return undefined;
  const proxyUrl = tryOpen(vault, row.proxy_url, proxyPlace(row.id));
  if (proxyUrl === undefined) damages.push(told`its proxy address cannot be opened: set it again`);
  return proxyUrl;
}

function checkCredential(rows: AccountRows, vault: Vault, damages: string[]): void {
  const { account, sealedCredential } = rows;
  if (sealedCredential === undefined) {
    damages.push(told`its credential is gone: sign in or give the key again`);
  } else if (tryOpen(vault, sealedCredential, credentialPlace(account.id)) === undefined) {
    damages.push(told`its credential cannot be opened: sign in or give the key again`);
  }
}

function tryOpen(vault: Vault, sealed: string, place: string): string | undefined {
  try {
    return vault.open(sealed, place);
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}

function parseHealth(text: string | undefined, damages: string[]): AccountHealth {
  if (text === undefined) return HEALTHY;
  try {
    return readHealth(JSON.parse(text) as JsonValue);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    damages.push(told`its stored state is damaged: look at it and enable it again`);
    return HEALTHY;
  }
}

/** A state that already keeps the account out stays as it is. */
function damagedHealth(health: AccountHealth, damages: readonly string[]): AccountHealth {
  if (health.status.kind === 'disabled') return health;
  const detail = told`The stored account is damaged: ${damages.join('; ')}.`;
  return { ...health, status: { kind: 'disabled', reason: 'manual', since: 0, detail } };
}

function toReading(row: QuotaRow): readonly (readonly [string, QuotaReading])[] {
  const { source } = row;
  if (source !== 'upstream' && source !== 'estimated') return [];
  const reading: QuotaReading = {
    remainingFraction: Math.min(Math.max(row.remaining_fraction, 0), 1),
    resetsAt: row.resets_at ?? undefined,
    source,
    fetchedAt: row.fetched_at,
  };
  return [[row.model_id, reading]];
}

function writeCredential(credential: Credential): string {
  return JSON.stringify(credential);
}

/** Undefined when it is none of the kinds. */
function readCredential(text: string): Credential | undefined {
  const value = parse(text);
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

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
