// What access control keeps in a database: its logs, IP rules, API keys, budgets, console sessions, people and invitations.

import { sql } from 'kysely';
import {
  ACCESS_VERDICTS,
  type AccessLogStore,
  type StoredAccessEntry,
} from '../access/access-log.ts';
import {
  type ClientKey,
  type ClientKeyStore,
  KEY_AMOUNTS,
  type KeyLimits,
  type KeyProgress,
  RECORDING,
  type StoredKey,
} from '../access/api-key.ts';
import { AUDIT_ACTORS, type AuditStore, type StoredAuditEntry } from '../access/audit-log.ts';
import {
  BUDGET_PERIODS,
  BUDGET_SCOPES,
  BUDGET_UNITS,
  type Budget,
  type BudgetStore,
  type BudgetUse,
} from '../access/budgets.ts';
import type { ConsoleSessionStore } from '../access/console-sign-in.ts';
import type { AddressRule, AddressRuleStore } from '../access/ip-rules.ts';
import {
  type Gift,
  type Invitation,
  type InvitationStore,
  LAST_OWNER,
  nameTaken,
  type PeopleStore,
  type Person,
  ROLES,
} from '../access/people.ts';
import { StoreError } from '../accounts/account-store.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import { type Sentence, told } from '../lib/localized-message.ts';
import type { WarnLog } from '../lib/log.ts';
import { readTags } from '../monitor/usage.ts';
import { readJson, removeById } from './account-store.ts';
import {
  type Database,
  DuplicateRow,
  firstOf,
  fromColumns,
  insert,
  put,
  rowsOf,
  run,
  toColumns,
  type Work,
} from './database.ts';
import { builder, type TableRow } from './schema.ts';

export function createAccessLogStore(database: Database): AccessLogStore {
  return {
    add: (entries, most) =>
      database.write('crash', function* () {
        const rows = entries.map(({ reason: sentence, ...entry }) => {
          const [reason, reasonParts] = toColumns(sentence);
          return { ...entry, reason, reasonParts };
        });
        yield* insert('access_log', rows);
        yield* keepLatest('access_log', most);
      }),
    list: ({ verdict, before, limit }) =>
      database.read(function* () {
        let query = builder.selectFrom('access_log').selectAll().orderBy('id', 'desc').limit(limit);
        if (verdict !== undefined) query = query.where('verdict', '=', verdict);
        if (before !== undefined) query = query.where('id', '<', before);
        return (yield* rowsOf(query)).map(
          ({ reason, reasonParts, ...row }): StoredAccessEntry => ({
            ...row,
            reason: fromColumns(reason, reasonParts),
            verdict: ACCESS_VERDICTS.find((known) => known === row.verdict) ?? 'rejected',
          }),
        );
      }),
  };
}

function* keepLatest(table: 'access_log' | 'audit_log', most: number): Work<void> {
  const latest = builder.selectFrom(table).select('id').orderBy('id', 'desc');
  yield* run(builder.deleteFrom(table).where('id', '<', latest.limit(1).offset(most - 1)));
}

export function createAuditStore(database: Database): AuditStore {
  return {
    // A change that was made must not be forgotten, whatever happens to the machine.
    add: (entry, { most, since }) =>
      database.write('power-cut', function* () {
        yield* insert('audit_log', [entry]);
        yield* keepLatest('audit_log', most);
        yield* run(builder.deleteFrom('audit_log').where('at', '<', since));
      }),
    list: ({ actor, person, about, from, to, before, limit }) =>
      database.read(function* () {
        let query = builder.selectFrom('audit_log').selectAll().orderBy('id', 'desc').limit(limit);
        if (actor !== undefined) query = query.where('actor', '=', actor);
        if (person !== undefined) query = query.where('person', '=', person);
        if (from !== undefined) query = query.where('at', '>=', from);
        if (to !== undefined) query = query.where('at', '<', to);
        if (before !== undefined) query = query.where('id', '<', before);
        if (about !== undefined) {
          const { length } = about;
          query = query.where(({ or, eb }) =>
            or([
              eb(sql<string>`substr(subject, 1, ${length})`, '=', about),
              eb(sql<string>`substr(action, 1, ${length})`, '=', about),
            ]),
          );
        }
        return (yield* rowsOf(query)).map(
          (row): StoredAuditEntry => ({
            ...row,
            actor: AUDIT_ACTORS.find((known) => known === row.actor) ?? 'visitor',
          }),
        );
      }),
  };
}

export function createAddressRuleStore(database: Database): AddressRuleStore {
  return {
    list: () =>
      database.read(function* () {
        const rules = builder.selectFrom('address_rules').selectAll().orderBy('sequence');
        return (yield* rowsOf(rules)).map(
          // Whatever is not an allow rule keeps its addresses out.
          ({ sequence: _, ...row }): AddressRule => ({
            ...row,
            list: row.list === 'allow' ? 'allow' : 'deny',
          }),
        );
      }),
    insert: (rule) => database.write('power-cut', () => insert('address_rules', [rule])),
    update: ({ hits: _, lastHitAt: _kept, ...rule }) =>
      database.write('power-cut', () =>
        revise('address_rules', rule, {
          missing: told`There is no rule ${rule.id}.`,
          stale: told`The address rule ${rule.id} was changed meanwhile.`,
        }),
      ),
    remove: (id) => removeById(database, 'address_rules', id),
    addHits: (all) =>
      database.write('crash', function* () {
        for (const { id, hits, lastHitAt } of all) {
          const counts = { hits: sql<number>`hits + ${hits}`, lastHitAt };
          yield* run(builder.updateTable('address_rules').set(counts).where('id', '=', id));
        }
      }),
  };
}

/** Changes the row of the revision before; what is undefined becomes empty. @throws StoreError `missing` or `stale` */
function* revise<Row extends { readonly id: string; readonly revision: number }>(
  table: 'address_rules' | 'budgets' | 'client_keys' | 'people',
  row: Row,
  words: Readonly<Record<'missing' | 'stale', Sentence>>,
): Work<void> {
  const { id, revision } = row;
  // An undefined field would be left out.
  const fields: object = Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value ?? null]),
  );
  const before = builder.updateTable(table).set(fields).where('id', '=', id);
  if ((yield* run(before.where('revision', '=', revision - 1))) > 0) return;
  const found = yield* firstOf(builder.selectFrom(table).select('id').where('id', '=', id));
  const fault = found === undefined ? 'missing' : 'stale';
  throw new StoreError(fault, words[fault]);
}

/** API keys: limits as JSON, the secret only as a digest. */
export function createClientKeyStore(database: Database, log?: WarnLog): ClientKeyStore {
  return {
    list: () => database.read(() => listKeys(log)),
    has: (digest) =>
      database.read(function* () {
        const known = builder.selectFrom('client_keys').select('id').where('digest', '=', digest);
        return (yield* firstOf(known)) !== undefined;
      }),
    insert: (key, digest) =>
      database.write('power-cut', () => insert('client_keys', [{ ...toRow(key), digest }])),
    update: (key) => database.write('power-cut', () => updateKey(key)),
    replaceSecret: (key, digest, previous) =>
      database.write('power-cut', function* () {
        yield* updateKey(key, { digest });
        yield* run(builder.deleteFrom('client_key_secrets').where('keyId', '=', key.id));
        const rows = previous.map((one) => ({ ...one, keyId: key.id }));
        yield* insert('client_key_secrets', rows);
      }),
    remove: (id) => removeById(database, 'client_keys', id),
    saveProgress: (progress) =>
      database.write('crash', function* () {
        for (const one of progress) yield* saveProgress(one);
      }),
  };
}

function updateKey(key: ClientKey, secret: { readonly digest?: string } = {}): Work<void> {
  const { lastUsedAt: _kept, ...row } = toRow(key);
  return revise(
    'client_keys',
    { ...row, ...secret },
    {
      missing: told`There is no key ${key.id}.`,
      stale: told`The key ${key.id} was changed meanwhile.`,
    },
  );
}

function* listKeys(log: WarnLog | undefined): Work<readonly StoredKey[]> {
  const keys = yield* rowsOf(builder.selectFrom('client_keys').selectAll().orderBy('sequence'));
  const uses = yield* rowsOf(builder.selectFrom('client_key_use').selectAll());
  const addresses = yield* rowsOf(builder.selectFrom('client_key_addresses').selectAll());
  const secrets = yield* rowsOf(
    builder.selectFrom('client_key_secrets').selectAll().orderBy('endsAt'),
  );
  const useById = new Map(uses.map(({ keyId, ...use }) => [keyId, use]));
  const secretsById = Map.groupBy(secrets, ({ keyId }) => keyId);
  const addressesById = Map.groupBy(addresses, ({ keyId }) => keyId);
  return keys.map((row) => ({
    key: toKey(row, log),
    digest: row.digest,
    previous: (secretsById.get(row.id) ?? []).map(({ keyId: _, ...secret }) => secret),
    use: useById.get(row.id),
    addresses: new Map(addressesById.get(row.id)?.map((one) => [one.address, one.seenAt])),
  }));
}

function* saveProgress(progress: KeyProgress): Work<void> {
  const { id: keyId, lastUsedAt = null, use, addresses, previous } = progress;
  const changed = yield* run(
    builder.updateTable('client_keys').set({ lastUsedAt }).where('id', '=', keyId),
  );
  if (changed === 0) return;
  yield* put('client_key_use', [{ keyId, ...use }]);
  yield* run(builder.deleteFrom('client_key_addresses').where('keyId', '=', keyId));
  const rows = Array.from(addresses, ([address, seenAt]) => ({ keyId, address, seenAt }));
  yield* insert('client_key_addresses', rows);
  for (const { digest, lastUsedAt: at } of previous) {
    const used = builder.updateTable('client_key_secrets').set({ lastUsedAt: at ?? null });
    yield* run(used.where('digest', '=', digest));
  }
}

function toRow(key: ClientKey) {
  const { id, name, prefix, enabled, createdAt, expiresAt, lastUsedAt, revision, ...said } = key;
  const { owner, team, tags, ...limits } = said;
  const row = { id, name, prefix, enabled, createdAt, expiresAt, lastUsedAt, revision };
  return { ...row, owner, team, tags: JSON.stringify(tags), limits: JSON.stringify(limits) };
}

/** A key whose limits cannot be read must not be used without them. */
function toKey(row: TableRow<'client_keys'>, log: WarnLog | undefined): ClientKey {
  const { sequence: _, digest: _digest, limits: text, tags, enabled, ...fields } = row;
  const limits = readLimits(text);
  if (limits === undefined) {
    log?.warn({ keyId: row.id }, 'The limits of a stored key are damaged; it is disabled.');
  }
  const isEnabled = limits !== undefined && enabled !== 0;
  return { allowedModels: [], ...limits, ...fields, tags: readTags(tags), enabled: isEnabled };
}

function readLimits(text: string): KeyLimits | undefined {
  const limits = readJson(text);
  if (!isJsonObject(limits)) return undefined;
  const { allowedModels, curfew, recording } = limits;
  const isList =
    Array.isArray(allowedModels) && allowedModels.every((one) => typeof one === 'string');
  const areAmounts = Object.keys(KEY_AMOUNTS).every((name) =>
    ['number', 'undefined'].includes(typeof limits[name]),
  );
  const isRecording = recording === undefined || RECORDING.enum.some((one) => one === recording);
  if (!isList || !areAmounts || !isBlockedHours(curfew) || !isRecording) return undefined;
  // The one narrowing of this file: every field has just been looked at.
  return limits as JsonObject & KeyLimits;
}

function isBlockedHours(curfew: JsonValue | undefined): boolean {
  if (curfew === undefined) return true;
  if (!isJsonObject(curfew)) return false;
  return ['from', 'to', 'timeZone'].every((name) => typeof curfew[name] === 'string');
}

export function createBudgetStore(database: Database): BudgetStore {
  return {
    list: (since) =>
      database.read(function* () {
        const rows = yield* rowsOf(builder.selectFrom('budgets').selectAll().orderBy('sequence'));
        const uses = builder.selectFrom('budget_uses').selectAll().where('at', '>=', since);
        return { budgets: rows.flatMap(toBudget), uses: yield* rowsOf(uses) };
      }),
    insert: (budget, use) =>
      database.write('power-cut', function* () {
        yield* insert('budgets', [budget]);
        yield* insert('budget_uses', [use]);
      }),
    update: ({ id, amount, isHard, warnPercent, revision }) =>
      database.write('power-cut', () =>
        revise(
          'budgets',
          { id, amount, isHard, warnPercent, revision },
          {
            missing: told`There is no budget ${id}.`,
            stale: told`The budget ${id} was changed meanwhile.`,
          },
        ),
      ),
    remove: (id) => removeById(database, 'budgets', id),
    addUses: (uses) =>
      database.write('crash', function* () {
        const ids = builder.selectFrom('budgets').select('id');
        const known = new Set((yield* rowsOf(ids)).map(({ id }) => id));
        const rows = uses.filter(({ budgetId }) => known.has(budgetId));
        yield* insert('budget_uses', rows, {
          columns: ['budgetId', 'at', 'used'],
          onConflict: ADD,
        });
        const periods = database.dialect.listed(
          JSON.stringify(rows.map(({ budgetId, at }) => [budgetId, at])),
          [
            ['budget', 'text'],
            ['since', 'bigint'],
          ],
        );
        return yield* rowsOf(sql<BudgetUse>`select budget_uses.* from ${periods} as periods
          join budget_uses on budget_id = budget and at = since`);
      }),
  };
}

/** To what was used. */
const ADD = {
  clause: '(budget_id, at) do update set used = budget_uses.used + excluded.used',
} as const;

/** None for a row with a word that this version does not know. */
function toBudget({ sequence: _, ...row }: TableRow<'budgets'>): readonly Budget[] {
  const scope = BUDGET_SCOPES.find((known) => known === row.scope);
  const unit = BUDGET_UNITS.find((known) => known === row.unit);
  const period = BUDGET_PERIODS.find((known) => known === row.period);
  if (scope === undefined || unit === undefined || period === undefined) return [];
  return [{ ...row, scope, unit, period, isHard: row.isHard !== 0 }];
}

export function createConsoleSessionStore(database: Database): ConsoleSessionStore {
  return {
    list: () =>
      database.read(() =>
        rowsOf(builder.selectFrom('console_sessions').selectAll().orderBy('createdAt')),
      ),
    save: (session) => database.write('crash', () => put('console_sessions', [session])),
    saveSeen: ({ hash, lastSeenAt }) =>
      database.write('crash', function* () {
        const seen = builder.updateTable('console_sessions').set({ lastSeenAt });
        yield* run(seen.where('hash', '=', hash));
      }),
    // An ended session must not come back, whatever happens to the machine.
    remove: (hashes) =>
      database.write('power-cut', function* () {
        for (const hash of hashes) {
          yield* run(builder.deleteFrom('console_sessions').where('hash', '=', hash));
        }
      }),
  };
}

export function createPeopleStore(database: Database): PeopleStore {
  return {
    list: () =>
      database.read(function* () {
        const people = builder.selectFrom('people').selectAll().orderBy('sequence');
        return (yield* rowsOf(people)).map(
          ({ sequence: _, nameKey: _key, role, isRoleClaimed, ...row }): Person => ({
            ...row,
            // A word that is no role gives the least.
            role: ROLES.find((known) => known === role) ?? 'viewer',
            isRoleClaimed: isRoleClaimed !== 0,
          }),
        );
      }),
    insert: (person, nameKey) =>
      database.write('power-cut', function* () {
        try {
          yield* insert('people', [{ ...person, nameKey }]);
        } catch (error) {
          if (!(error instanceof DuplicateRow)) throw error;
          throw new StoreError('conflict', nameTaken(person.name), error);
        }
      }),
    update: ({ lastSignInAt: _kept, ...person }, { keepsOwner }) =>
      database.write('power-cut', function* () {
        yield* revise('people', person, {
          missing: told`There is no person ${person.id}.`,
          stale: told`${person.name} was changed meanwhile.`,
        });
        if (keepsOwner) yield* refuseOwnerless();
      }),
    remove: (id, { keepsOwner }) =>
      database.write('power-cut', function* () {
        const removed = yield* run(builder.deleteFrom('people').where('id', '=', id));
        if (keepsOwner && removed > 0) yield* refuseOwnerless();
        return removed > 0;
      }),
    saveSignIn: (id, lastSignInAt) =>
      database.write('crash', function* () {
        yield* run(builder.updateTable('people').set({ lastSignInAt }).where('id', '=', id));
      }),
  };
}

/** Undoes the transaction it is asked in. @throws StoreError `conflict` */
function* refuseOwnerless(): Work<void> {
  const owner = builder.selectFrom('people').select('id').where('role', '=', 'owner');
  if ((yield* firstOf(owner)) === undefined) throw new StoreError('conflict', LAST_OWNER);
}

export function createInvitationStore(database: Database): InvitationStore {
  const all = builder.selectFrom('invitations').selectAll();
  const waiting = (digest: string) => all.where('digest', '=', digest);
  return {
    list: () =>
      database.read(function* () {
        return (yield* rowsOf(all.orderBy('sequence'))).flatMap((row) => toInvitation(row) ?? []);
      }),
    insert: ({ gift, ...invitation }, digest) =>
      database.write('power-cut', () =>
        insert('invitations', [{ ...invitation, digest, gift: JSON.stringify(gift) }]),
      ),
    find: (digest) =>
      database.read(function* () {
        return toInvitation(yield* firstOf(waiting(digest)));
      }),
    take: (digest) =>
      database.write('power-cut', function* () {
        const row = yield* firstOf(waiting(digest));
        const taken = yield* run(builder.deleteFrom('invitations').where('digest', '=', digest));
        return taken === 0 ? undefined : toInvitation(row);
      }),
    remove: (id) => removeById(database, 'invitations', id),
    removeBefore: (expiresAt) =>
      database.write('crash', function* () {
        yield* run(builder.deleteFrom('invitations').where('expiresAt', '<=', expiresAt));
      }),
  };
}

/** Undefined also of one whose gift cannot be read: it gives nothing. */
function toInvitation(row: TableRow<'invitations'> | undefined): Invitation | undefined {
  if (row === undefined) return undefined;
  const { sequence: _, digest: _digest, gift: text, ...fields } = row;
  const gift = readJson(text);
  if (!isJsonObject(gift)) return undefined;
  // It was written by `insert` alone.
  return { ...fields, gift: gift as JsonObject & Gift };
}
