// The tables as kysely types; migrations/ creates them.

import {
  DummyDriver,
  type Generated,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { RequestBodiesRow, RequestsRow } from './monitor-rows.ts';

export interface Tables extends AccessTables {
  accounts: AccountRow;
  credentials: CredentialRow;
  account_health: HealthRow;
  account_quotas: QuotaRow;
  signatures: SignatureRow;
  call_traces: SealedRow;
  session_bindings: SealedRow;
  kept_answers: StoredResponseTableRow;
  kept_items: KeptItemRow;
  data_keys: DataKeyRow;
  requests: RequestsRow;
  request_bodies: RequestBodiesRow;
  usage_sums: UsageSumsRow;
  migrations: MigrationRow;
}

export interface AccountRow {
  id: string;
  upstream_id: string;
  kind: string;
  label: string;
  /** The label without case: unique within its upstream. */
  label_key: string;
  project_id: string | null;
  tier: string | null;
  priority: number;
  notes: string | null;
  /** Sealed: it may hold a user and a password. */
  proxy_url: string | null;
  created_at: number;
  revision: number;
}

export interface CredentialRow {
  account_id: string;
  version: number;
  /** Sealed JSON. */
  sealed: string;
}

interface HealthRow {
  account_id: string;
  health: string;
}

export interface QuotaRow {
  account_id: string;
  model_id: string;
  remaining_fraction: number;
  resets_at: number | null;
  source: string;
  fetched_at: number;
}

interface SignatureRow {
  /** Rises with each save; the oldest go first. */
  sequence: Generated<number>;
  key: string;
  value: string;
  family: string | null;
  part: string | null;
  expires_at: number;
}

interface SealedRow {
  /** Rises with each save; the oldest go first. */
  sequence: Generated<number>;
  key: string;
  expires_at: number;
  /** Length of `sealed`. */
  bytes: number;
  /** Sealed JSON. */
  sealed: string;
}

interface StoredResponseTableRow {
  client_key: string;
  id: string;
  /** Sealed JSON. */
  sealed: string;
  expires_at: number;
  /** Length of `sealed`. */
  bytes: number;
}

interface KeptItemRow {
  client_key: string;
  item_id: string;
  answer_id: string;
}

interface DataKeyRow {
  name: string;
  /** Sealed with the secret key; it seals the secrets of all other tables. */
  sealed: string;
}

interface UsageSumsRow {
  /** Beginning of a quarter of an hour. */
  at: number;
  model: string;
  account: string;
  key_id: string;
  protocol: string;
  requests: number;
  errors: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  thought_tokens: number;
  images: number;
  /** As the key was called last within the quarter; null for what has no name. */
  key_name: string | null;
}

interface MigrationRow {
  version: number;
  name: string;
  applied_at: number;
}

/** Builds queries and never runs them: node's SQLite is synchronous, so the connection does that. */
export function createQueryBuilder(): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (database) => new SqliteIntrospector(database),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
}

export type QueryBuilder = Kysely<Tables>;

interface AccessTables {
  client_keys: ClientKeyRow;
  client_key_use: ClientKeyUseRow;
  client_key_addresses: ClientKeyAddressRow;
  address_rules: AddressRuleRow;
  access_log: AccessLogRow;
  console_sessions: ConsoleSessionRow;
}

export interface ClientKeyRow {
  /** Rises with each key. */
  sequence: Generated<number>;
  id: string;
  name: string;
  prefix: string;
  /** HMAC of the secret. */
  digest: string;
  enabled: number;
  created_at: number;
  expires_at: number | null;
  /** JSON. */
  limits: string;
  last_used_at: number | null;
  revision: number;
}

interface ClientKeyUseRow {
  key_id: string;
  day: string;
  requests: number;
  tokens: number;
  images: number;
}

interface ClientKeyAddressRow {
  key_id: string;
  address: string;
  seen_at: number;
}

interface AddressRuleRow {
  sequence: Generated<number>;
  id: string;
  list: string;
  range: string;
  note: string;
  expires_at: number | null;
  hits: number;
  last_hit_at: number | null;
  created_at: number;
  revision: number;
}

interface AccessLogRow {
  id: Generated<number>;
  at: number;
  verdict: string;
  address: string;
  method: string;
  path: string;
  key_id: string | null;
  reason: string;
}

interface ConsoleSessionRow {
  /** Of the secret in the cookie. */
  hash: string;
  created_at: number;
  last_seen_at: number;
  password_tag: string;
}
