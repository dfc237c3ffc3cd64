// The keys of persons in SQLite: the limits as JSON, the secret as a digest only.

import type { Selectable } from 'kysely';
import { StoreError } from '../../accounts/account-store.ts';
import type {
  ClientKey,
  ClientKeyStore,
  KeyLimits,
  KeyProgress,
  StoredKey,
} from '../../door/client-key.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts';
import { told } from '../../lib/told.ts';
import type { StoreLog } from './account-queries.ts';
import type { SqliteConnection } from './connection.ts';
import type { ClientKeyRow } from './door-tables.ts';
import type { QueryBuilder } from './schema.ts';
import type { Queries } from './session.ts';

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
  if (!isList || !areAmounts || !isCurfew(curfew)) return undefined;
  // The one narrowing of this file: every field has just been looked at.
  return limits as JsonObject & KeyLimits;
}

function isCurfew(curfew: JsonValue | undefined): boolean {
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
