// The tables as kysely types, derived from what they keep; migrations.ts creates them.

import {
  CamelCasePlugin,
  type ColumnType,
  DummyDriver,
  type Generated,
  Kysely,
  type Selectable,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { AccessEntry } from '../access/access-log.ts';
import type { ClientKey, DayUse, KeyLimits, PreviousSecret } from '../access/api-key.ts';
import type { AuditEntry } from '../access/audit-log.ts';
import type { Budget, BudgetUse } from '../access/budgets.ts';
import type { ConsoleSession } from '../access/console-sign-in.ts';
import type { AddressRule } from '../access/ip-rules.ts';
import type { Invitation, Person } from '../access/people.ts';
import type { AccountRecord, QuotaReading } from '../accounts/account.ts';
import type { ReceiptCounts, RequestRow } from '../monitor/record.ts';
import type { AttemptSum, USAGE_FIGURES } from '../monitor/request-store.ts';
import type { QuarterSum } from '../monitor/usage.ts';
import type { StoredSignature } from '../signatures/cache.ts';

/** Columns are called as the fields are, in snake case; of the words of a field any may be stored. */
type Row<Entity> = {
  [Field in keyof Entity]-?: undefined extends Entity[Field]
    ? Nullable<Stored<Exclude<Entity[Field], undefined>>>
    : Column<Stored<Entity[Field]>>;
};
type Stored<Value> = Value extends string ? string : Value extends boolean ? boolean : Value;
/** Truth is stored as 0 or 1. */
type Column<Value> = Value extends boolean ? ColumnType<number, boolean, boolean> : Value;
/** Read as undefined; written as null, as kysely leaves an undefined field out. */
type Nullable<Value> = ColumnType<Value | undefined, Written<Value>, Written<Value>>;
type Written<Value> = Value | null | undefined;

/** Rises with each row: the oldest go first. */
interface Sequenced {
  sequence: Generated<number>;
}

/** The place of a row among those of its table, which SQLite keeps of itself. */
interface Placed {
  rowid: Generated<number>;
}

interface Sealed {
  expiresAt: number;
  /** Length of `sealed`. */
  bytes: number;
  /** Sealed JSON. */
  sealed: string;
}

/** Counts by bucket, see `monitor/latency.ts`; null for none. */
export type TimingColumn = `duration${number}` | `first${number}` | 'timedTokens' | 'timedMs';
type TimingColumns = Record<TimingColumn, Nullable<number>>;

export interface Tables {
  accounts: Row<AccountRecord> &
    Placed & {
      /** The label without case: unique within its upstream. */
      labelKey: string;
      /** Sealed: it may hold a user and a password. */
      proxyUrl: Nullable<string>;
    };
  /** `sealed` is JSON. */
  credentials: { accountId: string; version: number; sealed: string };
  account_health: { accountId: string; health: string };
  account_quotas: Row<Omit<QuotaReading, 'remainingCalls'>> & {
    accountId: string;
    modelId: string;
  };
  signatures: Row<Omit<StoredSignature, 'on'>> & Sequenced & { part: Nullable<string> };
  call_traces: Sealed & Sequenced & { key: string };
  session_bindings: Sealed & Sequenced & { key: string };
  /** Of a large one `sealed` is the number of its pieces. */
  kept_answers: Sealed & Placed & { clientKey: string; id: string; writing: Nullable<string> };
  kept_pieces: { writing: string; piece: number; sealed: string };
  kept_items: { clientKey: string; itemId: string; answerId: string };
  /** Sealed with the secret key; they seal the secrets of all other tables. */
  data_keys: { name: string; sealed: string };
  requests: Row<Omit<RequestRow, 'receipt' | 'error' | 'tags'> & ReceiptCounts> &
    Sequenced & {
      error: Nullable<string>;
      /** As usage has them. */
      tags: Nullable<string>;
      errorParts: Nullable<string>;
      /** Of the record in all its tables, about. */
      bytes: number;
      /** JSON. */
      details: string;
    };
  /** One row: when the latest of those that were removed began. */
  removed_requests: { name: string; latest: number };
  request_bodies: {
    sequence: number;
    clientRequest: Nullable<string>;
    upstreamRequest: Nullable<string>;
    /** JSON. */
    response: Nullable<string>;
    upstreamResponse: Nullable<string>;
    clientResponse: Nullable<string>;
    /** One bit for each of the five, in their order. */
    isWhole: number;
  };
  usage_sums: Row<Omit<QuarterSum, 'timings'>> & TimingColumns;
  /** The sums of one hour, six hours, a day or a week, of all groups of one kind. */
  usage_rollups: Record<(typeof USAGE_FIGURES)[number] | 'at', number> &
    TimingColumns & { step: string; kind: string; name: string; keyName: Nullable<string> };
  usage_rolled: { step: string; kind: string; at: number };
  attempt_sums: Row<AttemptSum>;
  client_keys: Row<Omit<ClientKey, keyof KeyLimits | 'tags'>> &
    Sequenced & {
      /** HMAC of the secret. */
      digest: string;
      /** JSON. */
      tags: string;
      /** JSON. */
      limits: string;
    };
  budgets: Row<Budget> & Sequenced;
  budget_uses: BudgetUse;
  client_key_use: Row<DayUse> & { keyId: string };
  /** Secrets that were replaced and go on working for a while. */
  client_key_secrets: Row<PreviousSecret> & { keyId: string };
  client_key_addresses: { keyId: string; address: string; seenAt: number };
  address_rules: Row<AddressRule> & Sequenced;
  access_log: Row<Omit<AccessEntry, 'reason'>> & {
    id: Generated<number>;
    reason: string;
    reasonParts: Nullable<string>;
  };
  audit_log: Row<AuditEntry> & { id: Generated<number> };
  console_sessions: Row<ConsoleSession>;
  /** `nameKey` is the name without case. */
  people: Row<Person> & Sequenced & { nameKey: string };
  /** `gift` is JSON; `digest` SHA-256 of the secret. */
  invitations: Row<Omit<Invitation, 'gift'>> & Sequenced & { gift: string; digest: string };
  /** Who alone does some work of all replicas now. */
  leases: { name: string; holder: string; fence: number; expiresAt: number };
  /** The settings, where they are not in a file: one row. */
  settings: { name: string; revision: number; document: string };
  migrations: { version: number; name: string; appliedAt: number };
}

export type TableRow<Table extends keyof Tables> = Selectable<Tables[Table]>;

/** Builds queries and never runs them: each database compiles them into its own words. */
export const builder = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
  plugins: [new CamelCasePlugin()],
});
