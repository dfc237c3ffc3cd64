// Second shape: keys of persons with what they used, address rules, the access log, console sessions.

import type { Migration } from './migration.ts';

export const keysAndRules: Migration = {
  version: 2,
  name: 'keys-and-rules',
  sql: `
create table client_keys (
  sequence integer primary key,
  id text not null unique,
  name text not null,
  prefix text not null,
  digest text not null unique,
  enabled integer not null,
  created_at real not null,
  expires_at real,
  limits text not null,
  last_used_at real,
  revision integer not null
) strict;

create table client_key_use (
  key_id text primary key not null references client_keys (id) on delete cascade,
  day text not null,
  requests real not null,
  tokens real not null,
  images real not null
) strict;

create table client_key_addresses (
  key_id text not null references client_keys (id) on delete cascade,
  address text not null,
  seen_at real not null,
  primary key (key_id, address)
) strict, without rowid;

create table address_rules (
  sequence integer primary key,
  id text not null unique,
  list text not null,
  range text not null,
  note text not null,
  expires_at real,
  hits real not null,
  last_hit_at real,
  created_at real not null
) strict;

create table access_log (
  id integer primary key autoincrement,
  at real not null,
  verdict text not null,
  address text not null,
  method text not null,
  path text not null,
  key_id text,
  reason text not null
) strict;
create index access_log_by_verdict on access_log (verdict, id);

create table console_sessions (
  hash text primary key not null,
  created_at real not null,
  last_seen_at real not null,
  password_tag text not null
) strict, without rowid;
`,
};
