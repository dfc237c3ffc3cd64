// The access log, IP rules, API keys and console sessions in SQLite.

import { type Selectable, sql } from 'kysely';
import {
  ACCESS_VERDICTS,
  type AccessLogStore,
  type StoredAccessEntry,
} from '../../access/access-log.ts';
import type {
  ClientKey,
  ClientKeyStore,
  KeyLimits,
  KeyProgress,
  StoredKey,
} from '../../access/api-key.ts';
import type { ConsoleSessionStore } from '../../access/console-sign-in.ts';
import type { AddressRule, AddressRuleStore } from '../../access/ip-rules.ts';
import { StoreError } from '../../accounts/account-store.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import type { StoreLog } from './account-store.ts';
import type { ClientKeyRow, QueryBuilder } from './schema.ts';
import type { Queries, SqliteConnection } from './session.ts';

export function createAccessLogStore(
  connection: SqliteConnection,
  builder: QueryBuilder,
): AccessLogStore {
  return {
    add: (entries, most) =>
      connection.write('crash', (queries) => {
        for (const { keyId, ...entry } of entries) {
          const row = { ...entry, key_id: keyId ?? null };
          queries.run(builder.insertInto('access_log').values(row));
        }
        const oldestKept = builder
          .selectFrom('access_log')
          .select('id')
          .orderBy('id', 'desc')
          .limit(1)
          .offset(most - 1);
        queries.run(builder.deleteFrom('access_log').where('id', '<', oldestKept));
      }),
    list: ({ verdict, before, limit }) =>
      connection.read((queries) => {
        let query = builder.selectFrom('access_log').selectAll().orderBy('id', 'desc').limit(limit);
        if (verdict !== undefined) query = query.where('verdict', '=', verdict);
        if (before !== undefined) query = query.where('id', '<', before);
        return queries.rows(query).map(
          ({ key_id, verdict: stored, ...row }): StoredAccessEntry => ({
            ...row,
            verdict: ACCESS_VERDICTS.find((known) => known === stored) ?? 'rejected',
            keyId: key_id ?? undefined,
          }),
        );
      }),
  };
}

export function createAddressRuleStore(
  connection: SqliteConnection,
  builder: QueryBuilder,
): AddressRuleStore {
  return {
    list: () =>
      connection.read((queries) =>
        queries.rows(builder.selectFrom('address_rules').selectAll().orderBy('sequence')).map(
          (row): AddressRule => ({
            id: row.id,
            // Whatever is not an allow rule keeps its addresses out.
            list: row.list === 'allow' ? 'allow' : 'deny',
            range: row.range,
            note: row.note,
            expiresAt: row.expires_at ?? undefined,
            hits: row.hits,
            lastHitAt: row.last_hit_at ?? undefined,
            createdAt: row.created_at,
            revision: row.revision,
          }),
        ),
      ),
    insert: (rule) =>
      connection.write('power-cut', (queries) => {
        const { id, hits, createdAt } = rule;
        const counts = { hits, last_hit_at: rule.lastHitAt ?? null };
        const row = { ...fieldsOf(rule), id, ...counts, created_at: createdAt };
        queries.run(builder.insertInto('address_rules').values(row));
      }),
    update: (rule) => connection.write('power-cut', (queries) => update(queries, builder, rule)),
    remove: (id) =>
      connection.write(
        'power-cut',
        (queries) => queries.run(builder.deleteFrom('address_rules').where('id', '=', id)) > 0,
      ),
    addHits: (all) =>
      connection.write('crash', (queries) => {
        for (const { id, hits, lastHitAt } of all) {
          const counts = { hits: sql<number>`hits + ${hits}`, last_hit_at: lastHitAt };
          queries.run(builder.updateTable('address_rules').set(counts).where('id', '=', id));
        }
      }),
  };
}

function update(queries: Queries, builder: QueryBuilder, rule: AddressRule): void {
  const { id, revision } = rule;
  const changed = queries.run(
    builder
      .updateTable('address_rules')
      .set(fieldsOf(rule))
      .where('id', '=', id)
      .where('revision', '=', revision - 1),
  );
  if (changed > 0) return;
  const known = builder.selectFrom('address_rules').select('revision').where('id', '=', id);
  if (queries.rows(known).length === 0)
    throw new StoreError('missing', told`There is no rule ${id}.`);
  throw new StoreError('stale', told`The address rule ${id} was changed meanwhile.`);
}

function fieldsOf({ list, range, note, expiresAt, revision }: AddressRule) {
  return { list, range, note, expires_at: expiresAt ?? null, revision };
}

/** API keys: limits as JSON, the secret only as a digest. */
export function createClientKeyStore(
  connection: SqliteConnection,
  builder: QueryBuilder,
  log?: StoreLog | undefined,
): ClientKeyStore {
  return {
    list: () => connection.read((queries) => listKeys(queries, builder, log)),
    insert: (key, digest) =>
      connection.write('power-cut', (queries) => {
        queries.run(builder.insertInto('client_keys').values({ ...toRow(key), digest }));
      }),
    update: (key) => connection.write('power-cut', (queries) => updateKey(queries, builder, key)),
    remove: (id) =>
      connection.write(
        'power-cut',
        (queries) => queries.run(builder.deleteFrom('client_keys').where('id', '=', id)) > 0,
      ),
    saveProgress: (progress) =>
      connection.write('crash', (queries) => {
        for (const one of progress) saveProgress(queries, builder, one);
      }),
  };
}

function listKeys(
  queries: Queries,
  builder: QueryBuilder,
  log: StoreLog | undefined,
): readonly StoredKey[] {
  const keys = queries.rows(builder.selectFrom('client_keys').selectAll().orderBy('sequence'));
  const uses = queries.rows(builder.selectFrom('client_key_use').selectAll());
  const addresses = queries.rows(builder.selectFrom('client_key_addresses').selectAll());
  const useById = new Map(uses.map(({ key_id, ...use }) => [key_id, use]));
  const addressesById = Map.groupBy(addresses, (row) => row.key_id);
  return keys.map((row) => ({
    key: toKey(row, log),
    digest: row.digest,
    use: useById.get(row.id),
    addresses: new Map((addressesById.get(row.id) ?? []).map((one) => [one.address, one.seen_at])),
  }));
}

function updateKey(queries: Queries, builder: QueryBuilder, key: ClientKey): void {
  const { last_used_at: _kept, ...row } = toRow(key);
  const changed = queries.run(
    builder
      .updateTable('client_keys')
      .set(row)
      .where('id', '=', key.id)
      .where('revision', '=', key.revision - 1),
  );
  if (changed > 0) return;
  const [known] = queries.rows(
    builder.selectFrom('client_keys').select('revision').where('id', '=', key.id),
  );
  if (known === undefined) throw new StoreError('missing', told`There is no key ${key.id}.`);
  throw new StoreError('stale', told`The key ${key.id} was changed meanwhile.`);
}

function saveProgress(queries: Queries, builder: QueryBuilder, progress: KeyProgress): void {
  const { id, lastUsedAt, use, addresses } = progress;
  const changed = queries.run(
    builder
      .updateTable('client_keys')
      .set({ last_used_at: lastUsedAt ?? null })
      .where('id', '=', id),
  );
  if (changed === 0) return;
  queries.run(builder.replaceInto('client_key_use').values({ key_id: id, ...use }));
  queries.run(builder.deleteFrom('client_key_addresses').where('key_id', '=', id));
  for (const [address, seenAt] of addresses) {
    const row = { key_id: id, address, seen_at: seenAt };
    queries.run(builder.insertInto('client_key_addresses').values(row));
  }
}

function toRow(key: ClientKey) {
  const { id, name, prefix, enabled, createdAt, expiresAt, lastUsedAt, revision, ...limits } = key;
  return {
    id,
    name,
    prefix,
    enabled: enabled ? 1 : 0,
    created_at: createdAt,
    expires_at: expiresAt ?? null,
    limits: JSON.stringify(limits),
    last_used_at: lastUsedAt ?? null,
    revision,
  };
}

/** A key whose limits cannot be read must not be used without them. */
function toKey(row: Selectable<ClientKeyRow>, log: StoreLog | undefined): ClientKey {
  const limits = readLimits(row.limits);
  if (limits === undefined) {
    log?.warn({ keyId: row.id }, 'The limits of a stored key are damaged; it is disabled.');
  }
  return {
    allowedModels: [],
    ...limits,
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    enabled: limits !== undefined && row.enabled !== 0,
    createdAt: row.created_at,
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
    ...(row.last_used_at === null ? {} : { lastUsedAt: row.last_used_at }),
    revision: row.revision,
  };
}

const AMOUNTS = [
  'maxAddresses',
  'requestsPerMinute',
  'tokensPerMinute',
  'dailyTokens',
  'dailyImages',
] as const;

function readLimits(text: string): KeyLimits | undefined {
  const limits = parse(text);
  if (!isJsonObject(limits)) return undefined;
  const { allowedModels, curfew } = limits;
  const isList =
    Array.isArray(allowedModels) && allowedModels.every((one) => typeof one === 'string');
  const areAmounts = AMOUNTS.every((name) => ['number', 'undefined'].includes(typeof limits[name]));
  if (!isList || !areAmounts || !isBlockedHours(curfew)) return undefined;
  // The one narrowing of this file: every field has just been looked at.
  return limits as JsonObject & KeyLimits;
}

function isBlockedHours(curfew: JsonValue | undefined): boolean {
  if (curfew === undefined) return true;
  if (!isJsonObject(curfew)) return false;
  return ['from', 'to', 'timeZone'].every((name) => typeof curfew[name] === 'string');
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function createConsoleSessionStore(
  connection: SqliteConnection,
  builder: QueryBuilder,
): ConsoleSessionStore {
  return {
    list: () =>
      connection.read((queries) =>
        queries
          .rows(builder.selectFrom('console_sessions').selectAll().orderBy('created_at'))
          .map((row) => ({
            hash: row.hash,
            createdAt: row.created_at,
            lastSeenAt: row.last_seen_at,
            passwordTag: row.password_tag,
          })),
      ),
    save: ({ hash, createdAt, lastSeenAt, passwordTag }) =>
      connection.write('crash', (queries) => {
        const times = { created_at: createdAt, last_seen_at: lastSeenAt };
        const row = { hash, ...times, password_tag: passwordTag };
        queries.run(builder.replaceInto('console_sessions').values(row));
      }),
    // An ended session must not come back, whatever happens to the machine.
    remove: (hashes) =>
      connection.write('power-cut', (queries) => {
        for (const hash of hashes) {
          queries.run(builder.deleteFrom('console_sessions').where('hash', '=', hash));
        }
      }),
  };
}
