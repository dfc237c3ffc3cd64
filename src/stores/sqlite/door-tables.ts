// The tables of keys, address rules, the access log and console sessions, as kysely knows them.

import type { Generated } from 'kysely';

export interface DoorTables {
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
