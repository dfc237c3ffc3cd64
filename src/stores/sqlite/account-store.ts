// Accounts in SQLite: records in clear, credentials and proxy addresses sealed.

import { sql } from 'kysely';
import {
  ACCOUNT_KINDS,
  type Credential,
  labelKey,
  type QuotaReading,
  TIERS,
} from '../../accounts/account.ts';
import { type AccountStore, type StoredAccount, StoreError } from '../../accounts/account-store.ts';
import { type AccountHealth, HEALTHY } from '../../accounts/health.ts';
import { readHealth, writeHealth } from '../../accounts/health-json.ts';
import { isJsonObject } from '../../lib/json.ts';
import { listed, type Sentence, told } from '../../lib/localized-message.ts';
import { SealError, type Vault } from '../../sealing/seal.ts';
import { isDuplicate } from './faults.ts';
import { builder, type TableRow } from './schema.ts';
import { type Queries, readJson, removeById, type SqliteConnection } from './session.ts';

/** Structured lines; a damaged row is told there. */
export interface StoreLog {
  warn(fields: object, message: string): void;
}

export interface SealedTables {
  readonly vault: Vault;
  readonly log?: StoreLog | undefined;
}

/** What people and sign-ins say survives a power cut; health and quotas the end of the process. */
export function createAccountStore(
  connection: SqliteConnection,
  tables: SealedTables,
): AccountStore {
  const { vault, log } = tables;
  return {
    list: () => connection.read((queries) => readAccounts(queries)),

    insert({ record, proxyUrl, credential }) {
      const { id, label } = record;
      return connection.write('power-cut', (queries) => {
        const row = {
          ...record,
          labelKey: labelKey(label),
          proxyUrl: proxyUrl && vault.seal(proxyUrl, proxyPlace(id)),
          revision: 1,
        };
        refuseDuplicate(record, () => queries.run(builder.insertInto('accounts').values(row)));
        const sealed = sealCredential(id, credential);
        queries.run(
          builder.insertInto('credentials').values({ accountId: id, version: 1, sealed }),
        );
        return { record: { ...record, revision: 1 }, proxyUrl, health: HEALTHY, quotas: new Map() };
      });
    },

    update(id, change, expectedRevision) {
      return connection.write('power-cut', (queries) => {
        const known = findAccount(queries, id);
        const missing = new StoreError('missing', told`There is no account ${id}.`);
        if (known === undefined) throw missing;
        const { revision, upstreamId } = known;
        if (expectedRevision !== undefined && revision !== expectedRevision) {
          const message = told`The account ${id} was changed meanwhile: it is at revision ${revision}, not ${expectedRevision}.`;
          throw new StoreError('stale', message);
        }
        const { proxyUrl, label } = change;
        const row = {
          ...change,
          labelKey: label && labelKey(label),
          proxyUrl: proxyUrl && vault.seal(proxyUrl, proxyPlace(id)),
          revision: revision + 1,
        };
        refuseDuplicate({ label: label ?? known.label, upstreamId }, () =>
          queries.run(builder.updateTable('accounts').set(row).where('id', '=', id)),
        );
        const [changed] = readAccounts(queries, id);
        if (changed === undefined) throw missing;
        return changed;
      });
    },

    remove: (id) => removeById(connection, 'accounts', id),

    readCredential(id) {
      return connection.read((queries) => {
        const row = findCredential(queries, id);
        if (row === undefined && findAccount(queries, id) === undefined) return undefined;
        const text = row && tryOpen(row.sealed, credentialPlace(id));
        const credential = text?.kind === 'open' ? readCredential(text.text) : undefined;
        if (row !== undefined && credential !== undefined) {
          return { credential, version: row.version };
        }
        throw new StoreError(
          'unreadable',
          told`The stored credential of account ${id} cannot be opened. Sign in or give the key again.`,
          text?.kind === 'closed' ? text.error : undefined,
        );
      });
    },

    replaceCredential(id, credential, expectedVersion) {
      return connection.write('power-cut', (queries) => {
        if (findAccount(queries, id) === undefined) return 'missing';
        const known = findCredential(queries, id)?.version ?? 0;
        if (expectedVersion !== undefined && known !== expectedVersion) return 'stale';
        const version = known + 1;
        const sealed = sealCredential(id, credential);
        queries.run(builder.replaceInto('credentials').values({ accountId: id, version, sealed }));
        return { credential, version };
      });
    },

    saveHealth(accountId, health) {
      return connection.write('crash', (queries) => {
        if (findAccount(queries, accountId) === undefined) return;
        const row = { accountId, health: JSON.stringify(writeHealth(health)) };
        queries.run(builder.replaceInto('account_health').values(row));
      });
    },

    saveQuotas(accountId, quotas) {
      return connection.write('crash', (queries) => {
        if (findAccount(queries, accountId) === undefined) return;
        queries.run(builder.deleteFrom('account_quotas').where('accountId', '=', accountId));
        for (const [modelId, { remainingCalls: _, ...reading }] of quotas) {
          const row = { accountId, modelId, ...reading };
          queries.run(builder.replaceInto('account_quotas').values(row));
        }
      });
    },
  };

  function sealCredential(id: string, credential: Credential): string {
    return vault.seal(JSON.stringify(credential), credentialPlace(id));
  }

  function tryOpen(sealed: string, place: string): Opened {
    try {
      return { kind: 'open', text: vault.open(sealed, place) };
    } catch (error) {
      if (error instanceof SealError) return { kind: 'closed', error };
      throw error;
    }
  }

  /** All of them, or the one of an id. */
  function readAccounts(queries: Queries, id?: string): StoredAccount[] {
    let accounts = builder
      .selectFrom('accounts')
      .leftJoin('credentials', 'credentials.accountId', 'accounts.id')
      .leftJoin('account_health', 'account_health.accountId', 'accounts.id')
      .selectAll('accounts')
      .select(['credentials.sealed', 'account_health.health'])
      .orderBy('accounts.createdAt')
      .orderBy(sql`accounts.rowid`);
    let quotas = builder.selectFrom('account_quotas').selectAll();
    if (id !== undefined) {
      accounts = accounts.where('accounts.id', '=', id);
      quotas = quotas.where('accountId', '=', id);
    }
    const quotasById = Map.groupBy(queries.rows(quotas), ({ accountId }) => accountId);
    return queries
      .rows(accounts)
      .map((row) => toStoredAccount(row, quotasById.get(row.id)?.flatMap(toReading) ?? []));
  }

  /** What cannot be read is told in plain words; the account is not used then. */
  function toStoredAccount(
    row: JoinedRow,
    quotas: readonly (readonly [string, QuotaReading])[],
  ): StoredAccount {
    const { sealed, health, labelKey: _, proxyUrl: sealedProxyUrl, ...record } = row;
    const { id } = record;
    const damages: Sentence[] = [];
    const kind = ACCOUNT_KINDS.find((known) => known === record.kind);
    if (kind === undefined) damages.push(told`its kind is none that is known`);
    const proxy =
      sealedProxyUrl === undefined ? undefined : tryOpen(sealedProxyUrl, proxyPlace(id));
    // Without the proxy it is set to, an account must not be used at all.
    if (proxy?.kind === 'closed') {
      damages.push(told`its proxy address cannot be opened: set it again`);
    }
    const readable = parseHealth(health ?? undefined, damages);
    if (sealed === undefined || sealed === null) {
      damages.push(told`its credential is gone: sign in or give the key again`);
    } else if (tryOpen(sealed, credentialPlace(id)).kind === 'closed') {
      damages.push(told`its credential cannot be opened: sign in or give the key again`);
    }
    for (const what of damages) {
      log?.warn({ accountId: id }, `A stored account is damaged and not used: ${what.text}.`);
    }
    return {
      record: {
        ...record,
        kind: kind ?? 'api-key',
        tier: TIERS.find((known) => known === record.tier),
      },
      proxyUrl: proxy?.kind === 'open' ? proxy.text : undefined,
      health: damages.length === 0 ? readable : damagedHealth(readable, damages),
      quotas: new Map(quotas),
    };
  }
}

/** An account with what stands in the tables beside; null or absent where the row is gone. */
type JoinedRow = TableRow<'accounts'> & Record<'sealed' | 'health', string | null | undefined>;

type Opened =
  | { readonly kind: 'open'; readonly text: string }
  | { readonly kind: 'closed'; readonly error: SealError };

function findAccount(queries: Queries, id: string): TableRow<'accounts'> | undefined {
  return queries.rows(builder.selectFrom('accounts').selectAll().where('id', '=', id))[0];
}

function findCredential(queries: Queries, id: string): TableRow<'credentials'> | undefined {
  return queries.rows(builder.selectFrom('credentials').selectAll().where('accountId', '=', id))[0];
}

/** @throws StoreError `conflict` when the label is taken */
function refuseDuplicate(
  { label, upstreamId }: { readonly label: string; readonly upstreamId: string },
  write: () => unknown,
): void {
  try {
    write();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    const message = told`The upstream ${upstreamId} already has an account ${label} (upper and lower case count as one). Choose another label, or change that account.`;
    throw new StoreError('conflict', message, error);
  }
}

/** What seals a credential: bound to its account, so that no other's can stand in for it. */
function credentialPlace(accountId: string): string {
  return `credentials/${accountId}/sealed`;
}

function proxyPlace(accountId: string): string {
  return `accounts/${accountId}/proxy_url`;
}

function parseHealth(text: string | undefined, damages: Sentence[]): AccountHealth {
  if (text === undefined) return HEALTHY;
  const json = readJson(text);
  if (json !== undefined) return readHealth(json);
  damages.push(told`its stored state is damaged: look at it and enable it again`);
  return HEALTHY;
}

/** A state that already keeps the account out stays as it is. */
function damagedHealth(health: AccountHealth, damages: readonly Sentence[]): AccountHealth {
  if (health.status.kind === 'disabled') return health;
  const detail = told`The stored account is damaged: ${listed(damages)}.`;
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

/** The texts without which a credential is none. */
const REQUIRED: Readonly<Record<Credential['kind'], readonly string[]>> = {
  'api-key': ['key'],
  oauth: ['refreshToken'],
  'service-account': ['clientEmail', 'privateKey'],
};

/** Undefined when it is none of the kinds. */
function readCredential(text: string): Credential | undefined {
  const value = readJson(text);
  if (!isJsonObject(value)) return undefined;
  const kind = ACCOUNT_KINDS.find((known) => known === value.kind);
  const isWhole =
    kind !== undefined && REQUIRED[kind].every((name) => typeof value[name] === 'string');
  // The seal says that nobody else wrote it.
  return isWhole ? (value as unknown as Credential) : undefined;
}
