// Third shape: records of requests with their bodies, and usage by quarter hour.

import type { Migration } from './migration.ts';

/**
 * Lists are read by time alone and filtered on the way, so that a record costs one index to write.
 * What only the view of one request needs is apart: the rows that lists pass over stay small.
 */
export const monitor: Migration = {
  version: 3,
  name: 'monitor',
  sql: `
create table requests (
  sequence integer primary key,
  id text not null,
  request_id text not null,
  at integer not null,
  protocol text not null,
  surface text not null,
  method text not null,
  path text not null,
  stream integer not null,
  status integer not null,
  outcome text not null,
  model text not null,
  routed_model text,
  upstream_model text,
  account text,
  key_id text not null,
  key_name text,
  client_address text not null,
  attempts integer not null,
  first_event_ms integer,
  total_ms integer not null,
  input_tokens integer,
  output_tokens integer,
  cached_tokens integer,
  thought_tokens integer,
  images integer,
  dropped integer not null,
  approximated integer not null,
  repaired integer not null,
  error text,
  bytes integer not null
) strict;
create index requests_by_time on requests (at);
create index requests_by_request_id on requests (request_id);
create index requests_by_own_id on requests (id) where id <> request_id;

create table request_details (
  sequence integer primary key references requests (sequence) on delete cascade,
  details text not null
) strict;

create table request_bodies (
  sequence integer primary key references requests (sequence) on delete cascade,
  client_request text,
  upstream_request text,
  response text,
  is_whole integer not null
) strict;

create table usage_sums (
  at integer not null,
  model text not null,
  account text not null,
  key_id text not null,
  protocol text not null,
  requests integer not null,
  errors integer not null,
  input_tokens integer not null,
  output_tokens integer not null,
  cached_tokens integer not null,
  thought_tokens integer not null,
  images integer not null,
  primary key (at, model, account, key_id, protocol)
) strict, without rowid;
`,
};
