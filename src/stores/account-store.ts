// Accounts in a database: records in clear, credentials and proxy addresses sealed.

import { sql } from 'kysely';
import {
  ACCOUNT_KINDS,
  type Credential,
  labelKey,
  type QuotaReading,
  TIERS,
  type VersionedCredential,
} from '../accounts/account.ts';
import { type AccountStore, type StoredAccount, StoreError } from '../accounts/account-store.ts';
import { type AccountHealth, HEALTHY, readHealth, writeHealth } from '../accounts/health.ts';
import { isJsonObject, type JsonValue } from '../lib/json.ts';
import { listed, type Sentence, told } from '../lib/localized-message.ts';
import type { WarnLog } from '../lib/log.ts';
import { BILLINGS } from '../pricing/charges.ts';
import { SealError, type Vault } from '../sealing/seal.ts';
import {
  type Database,
  DuplicateRow,
  firstOf,
  insert,
  put,
  rowsOf,
  run,
  type Work,
} from './database.ts';
import { builder, type TableRow } from './schema.ts';

export interface SealedTables {
  readonly vault: Vault;
  readonly log?: WarnLog | undefined;
}

interface AccountTables extends SealedTables {
  /** Keys are held in memory, sealed, where reading them waits for a network; undefined where it does not. */
  readonly held?: HeldCredentials | undefined;
}

/** What people and sign-ins say survives a power cut; health and quotas the end of the process. */
export function createAccountStore(database: Database, tables: AccountTables): AccountStore {
  const { vault, log, held } = tables;
  return {
    list: () => database.read(() => readAccounts()),

    insert({ record, proxyUrl, credential }) {
      const { id, label } = record;
      held?.drop(id);
      return database.write('power-cut', function* () {
        const row = {
          ...record,
          labelKey: labelKey(label),
          proxyUrl: proxyUrl && vault.seal(proxyUrl, proxyPlace(id)),
          revision: 1,
        };
        yield* refuseDuplicate(record, () => insert('accounts', [row]));
        const sealed = sealCredential(id, credential);
        yield* insert('credentials', [{ accountId: id, version: 1, sealed }]);
        return { record: { ...record, revision: 1 }, proxyUrl, health: HEALTHY, quotas: new Map() };
      });
    },

    update(id, change, expectedRevision) {
      return database.write('power-cut', function* () {
        const known = yield* findAccount(id);
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
        yield* refuseDuplicate({ label: label ?? known.label, upstreamId }, () =>
          run(builder.updateTable('accounts').set(row).where('id', '=', id)),
        );
        const [changed] = yield* readAccounts(id);
        if (changed === undefined) throw missing;
        return changed;
      });
    },

    order(ids) {
      const places = JSON.stringify(ids.map((id, index) => [id, ids.length - index]));
      const ordered = database.dialect.listed(places, [
        ['ordered', 'text'],
        ['place', 'bigint'],
      ]);
      return database.write('power-cut', function* () {
        yield* run(sql`
          with places as ${ordered}
          update accounts set priority = place, revision = revision + 1
          from places where id = ordered and priority <> place`);
      });
    },

    remove(id) {
      held?.drop(id);
      return removeById(database, 'accounts', id);
    },

    async readCredentials() {
      const rows = await database.read(() => rowsOf(builder.selectFrom('credentials').selectAll()));
      return new Map(
        rows.flatMap(({ accountId, sealed }): [string, Credential][] => {
          const text = tryOpen(sealed, credentialPlace(accountId));
          const credential = text.kind === 'open' ? readCredential(text.text) : undefined;
          return credential === undefined ? [] : [[accountId, credential]];
        }),
      );
    },

    async readCredential(id) {
      const known = held?.get(id, async () => void (await readStored(id)));
      return known === undefined ? readStored(id) : openCredential(id, known);
    },

    replaceCredential(id, credential, expectedVersion) {
      const replaced = database.write('power-cut', function* () {
        if ((yield* findAccount(id)) === undefined) return 'missing';
        const known = (yield* findCredential(id))?.version ?? 0;
        if (expectedVersion !== undefined && known !== expectedVersion) return 'stale';
        const version = known + 1;
        const sealed = sealCredential(id, credential);
        yield* put('credentials', [{ accountId: id, version, sealed }]);
        return { credential, version };
      });
      return replaced.finally(() => held?.drop(id));
    },

    saveHealth(accountId, health, keeps) {
      return database.write('crash', function* () {
        if ((yield* findAccount(accountId)) === undefined) return;
        // What stands there is not changed before this is written.
        if (keeps !== undefined) yield* database.dialect.holdWriters('account_health');
        const known = keeps && (yield* findHealth(accountId));
        const json = known && readJson(known.health);
        const status = json === undefined ? health.status : readHealth(json).status;
        const text = JSON.stringify(writeHealth({ ...health, status }));
        yield* put('account_health', [{ accountId, health: text }]);
      });
    },

    saveQuotas(accountId, quotas) {
      return database.write('crash', function* () {
        if ((yield* findAccount(accountId)) === undefined) return;
        yield* run(builder.deleteFrom('account_quotas').where('accountId', '=', accountId));
        const rows = Array.from(quotas, ([modelId, { remainingCalls: _, ...reading }]) => ({
          ...{ accountId, modelId },
          ...reading,
        }));
        yield* put('account_quotas', rows);
      });
    },
  };

  async function readStored(id: string): Promise<VersionedCredential | undefined> {
    const row = await database.read(function* () {
      const found = yield* findCredential(id);
      return found === undefined && (yield* findAccount(id)) === undefined ? 'missing' : found;
    });
    if (row === 'missing') {
      held?.drop(id);
      return undefined;
    }
    const opened = openCredential(id, row);
    if (row !== undefined) held?.put(id, opened.credential.kind, row);
    return opened;
  }

  /** @throws StoreError `unreadable` */
  function openCredential(id: string, row: SealedCredential | undefined): VersionedCredential {
    const text = row && tryOpen(row.sealed, credentialPlace(id));
    const credential = text?.kind === 'open' ? readCredential(text.text) : undefined;
    if (row !== undefined && credential !== undefined) return { credential, version: row.version };
    throw new StoreError(
      'unreadable',
      told`The stored credential of account ${id} cannot be opened. Sign in or give the key again.`,
      text?.kind === 'closed' ? text.error : undefined,
    );
  }

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

  function* readAccounts(id?: string): Work<readonly StoredAccount[]> {
    let accounts = builder
      .selectFrom('accounts')
      .leftJoin('credentials', 'credentials.accountId', 'accounts.id')
      .leftJoin('account_health', 'account_health.accountId', 'accounts.id')
      .selectAll('accounts')
      .select(['credentials.sealed', 'credentials.version', 'account_health.health'])
      .orderBy('accounts.createdAt')
      .orderBy(sql`accounts.rowid`);
    let quotas = builder.selectFrom('account_quotas').selectAll();
    if (id !== undefined) {
      accounts = accounts.where('accounts.id', '=', id);
      quotas = quotas.where('accountId', '=', id);
    }
    const quotasById = Map.groupBy(yield* rowsOf(quotas), ({ accountId }) => accountId);
    const rows = yield* rowsOf(accounts);
    for (const { id, kind, sealed, version } of rows) {
      // Null where the row is gone.
      if (sealed != null && version != null) held?.put(id, kind, { sealed, version });
    }
    return rows.map((row) =>
      toStoredAccount(row, quotasById.get(row.id)?.flatMap(toReading) ?? []),
    );
  }

  /** What cannot be read is told in plain words; the account is not used then. */
  function toStoredAccount(
    row: JoinedRow,
    quotas: readonly (readonly [string, QuotaReading])[],
  ): StoredAccount {
    const { sealed, version: _version, health, rowid: _place, labelKey: _, ...rest } = row;
    const { proxyUrl: sealedProxyUrl, ...record } = rest;
    const { id } = record;
    const damages: Sentence[] = [];
    const kind = ACCOUNT_KINDS.find((known) => known === record.kind);
    if (kind === undefined) damages.push(told`its kind is unknown`);
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
        billing: BILLINGS.find((known) => known === record.billing),
      },
      proxyUrl: proxy?.kind === 'open' ? proxy.text : undefined,
      health: damages.length === 0 ? readable : damagedHealth(readable, damages),
      quotas: new Map(quotas),
    };
  }
}

type JoinedRow = TableRow<'accounts'> &
  Record<'sealed' | 'health', string | null | undefined> & {
    readonly version: number | null | undefined;
  };

type Opened =
  | { readonly kind: 'open'; readonly text: string }
  | { readonly kind: 'closed'; readonly error: SealError };

type SealedCredential = Pick<TableRow<'credentials'>, 'sealed' | 'version'>;

type HeldCredentials = ReturnType<typeof createHeldCredentials>;

/** A credential that another process replaced is in use after so long and the next reading. */
const HELD_MS = 1000;

/** The most that are read anew at once: at a start all are asked for, and others need the connections too. */
const MAX_REREADS = 2;

/** Sealed keys kept in memory, read anew behind the request. What is renewed only once is not kept. */
export function createHeldCredentials(monotonic: () => number) {
  const all = new Map<string, { readonly row: SealedCredential; readAt: number }>();
  let rereads = 0;
  return {
    put(id: string, kind: string, row: SealedCredential): void {
      if (kind === 'oauth') all.delete(id);
      else all.set(id, { row, readAt: monotonic() });
    },
    drop: (id: string) => all.delete(id),
    /** @param reread puts or drops it; what it throws is of no matter to who has one */
    get(id: string, reread: () => Promise<void>): SealedCredential | undefined {
      const known = all.get(id);
      if (known === undefined) return undefined;
      if (rereads < MAX_REREADS && monotonic() - known.readAt > HELD_MS) {
        known.readAt = monotonic();
        rereads += 1;
        void reread()
          .catch(() => undefined)
          .finally(() => {
            rereads -= 1;
          });
      }
      return known.row;
    },
  };
}

function findAccount(id: string): Work<TableRow<'accounts'> | undefined> {
  return firstOf(builder.selectFrom('accounts').selectAll().where('id', '=', id));
}

function findCredential(id: string): Work<TableRow<'credentials'> | undefined> {
  return firstOf(builder.selectFrom('credentials').selectAll().where('accountId', '=', id));
}

function findHealth(id: string): Work<TableRow<'account_health'> | undefined> {
  return firstOf(builder.selectFrom('account_health').selectAll().where('accountId', '=', id));
}

/** @throws StoreError `conflict` when the label is taken */
function* refuseDuplicate(
  { label, upstreamId }: { readonly label: string; readonly upstreamId: string },
  write: () => Work<unknown>,
): Work<void> {
  try {
    yield* write();
  } catch (error) {
    if (!(error instanceof DuplicateRow)) throw error;
    const message = told`The upstream ${upstreamId} already has an account ${label} (upper and lower case count as one). Choose another label, or change that account.`;
    throw new StoreError('conflict', message, error);
  }
}

/** Removes what people said, and all that hangs at it. @returns false when there was none */
export function removeById(
  database: Database,
  table: 'accounts' | 'address_rules' | 'budgets' | 'client_keys' | 'invitations',
  id: string,
): Promise<boolean> {
  return database.write('power-cut', function* () {
    return (yield* run(builder.deleteFrom(table).where('id', '=', id))) > 0;
  });
}

export function readJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
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

function readCredential(text: string): Credential | undefined {
  const value = readJson(text);
  if (!isJsonObject(value)) return undefined;
  const kind = ACCOUNT_KINDS.find((known) => known === value.kind);
  const isWhole =
    kind !== undefined && REQUIRED[kind].every((name) => typeof value[name] === 'string');
  // The seal proves that the gateway wrote it.
  return isWhole ? (value as unknown as Credential) : undefined;
}
