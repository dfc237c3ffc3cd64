// First shape: accounts with their credentials, health and quotas; remembered signatures; the data key.

import type { Migration } from './migration.ts';

export const accountsAndSignatures: Migration = {
  version: 1,
  name: 'accounts-and-signatures',
  sql: `
create table migrations (
  version integer primary key,
  name text not null,
  applied_at integer not null
) strict;

create table data_keys (
  name text primary key,
  sealed text not null
) strict, without rowid;

create table accounts (
  id text primary key not null,
  upstream_id text not null,
  kind text not null,
  label text not null,
  label_key text not null,
  project_id text,
  tier text,
  priority real not null,
  notes text,
  proxy_url text,
  created_at real not null,
  revision integer not null,
  unique (upstream_id, label_key)
) strict;

create table credentials (
  account_id text primary key not null references accounts (id) on delete cascade,
  version integer not null,
  sealed text not null
) strict;

create table account_health (
  account_id text primary key not null references accounts (id) on delete cascade,
  health text not null
) strict;

create table account_quotas (
  account_id text not null references accounts (id) on delete cascade,
  model_id text not null,
  remaining_fraction real not null,
  resets_at real,
  source text not null,
  fetched_at real not null,
  primary key (account_id, model_id)
) strict, without rowid;

create table signatures (
  sequence integer primary key,
  key text not null unique,
  value text not null,
  family text,
  part text,
  expires_at real not null
) strict;
create index signatures_by_expiry on signatures (expires_at);
`,
};
