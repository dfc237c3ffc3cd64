// The steps of the database's shape, from its first one. A published step is never changed: a later one corrects it.

export interface Migration {
  /** 1, 2, 3, … in the order of the list. */
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

export const MIGRATIONS: readonly Migration[] = [
  // First shape: accounts with their credentials, health and quotas; remembered signatures; the data key.
  {
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
  },
  // Second shape: keys of persons with what they used, address rules, the access log, console sessions.
  {
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
  },
  // Third shape: records of requests with their bodies, and usage by quarter hour.
  // Lists are read by time alone and filtered on the way, so that a record costs one index to write.
  // What only the view of one request needs is apart: the rows that lists pass over stay small.
  {
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
  },
  // Answers kept for later requests, and which answer each of their items belongs to.
  {
    version: 4,
    name: 'kept-answers',
    sql: `
create table kept_answers (
  client_key text not null,
  id text not null,
  sealed text not null,
  expires_at integer not null,
  primary key (client_key, id)
) strict;

create index kept_answers_by_end on kept_answers (expires_at);

create table kept_items (
  client_key text not null,
  item_id text not null,
  answer_id text not null,
  primary key (client_key, item_id),
  foreign key (client_key, answer_id) references kept_answers (client_key, id) on delete cascade
) strict, without rowid;

create index kept_items_by_answer on kept_items (client_key, answer_id);
`,
  },
  // How large each kept answer is, so that all of them together can be bounded.
  // The index holds the sizes: summing them up must not read the answers.
  {
    version: 5,
    name: 'kept-answer-sizes',
    sql: `
alter table kept_answers add column bytes integer not null default 0;
update kept_answers set bytes = length(sealed);
drop index kept_answers_by_end;
create index kept_answers_by_end on kept_answers (expires_at, bytes);
`,
  },
  // What lists of requests are filtered by stands in the index they are read along.
  // One index as before, only wider: a filter looks at the records it passes over without reading them.
  // New records come last in it, so that it costs them next to nothing.
  {
    version: 6,
    name: 'request-filters',
    sql: `
drop index requests_by_time;
create index requests_by_time on requests (
  at, sequence, outcome, status, protocol, account, model, upstream_model, key_id, key_name, path, error
);
`,
  },
  // The details of a request stand in its row, behind all that lists read of it.
  // Lists pass over records in the index, so that long rows cost them nothing, and a record costs one
  // row less to write. The sizes stand in the index as well: summing them up must not read the rows.
  {
    version: 7,
    name: 'request-details',
    sql: `
delete from requests where sequence not in (select sequence from request_details);
alter table requests add column details text not null default '{}';
update requests set details = (
  select request_details.details from request_details where request_details.sequence = requests.sequence
);
drop table request_details;
drop index requests_by_time;
create index requests_by_time on requests (
  at, sequence, outcome, status, protocol, account, model, upstream_model, key_id, key_name, path, error, bytes
);
`,
  },
  // The name of the key stands beside its usage, which outlives keys and records.
  {
    version: 8,
    name: 'usage-key-names',
    sql: `
alter table usage_sums add column key_name text;
create temp table names_of_keys as
  select key_id, key_name, max(sequence) from requests where key_name is not null group by key_id;
update usage_sums set key_name = (
  select names_of_keys.key_name from names_of_keys where names_of_keys.key_id = usage_sums.key_id
);
drop table names_of_keys;
`,
  },
  // How many attempts of a request were retries, which its attempts alone do not say. Of a request that was several
  // upstream calls each call succeeds once, so that older records tell their calls by the attempts that succeeded.
  {
    version: 9,
    name: 'request-retries',
    sql: `
alter table requests add column retries integer not null default 0;
update requests set retries = attempts - max(1, (
  select count(*) from json_each(requests.details, '$.attemptsList')
  where json_extract(json_each.value, '$.outcome') = 'ok'
)) where attempts > 1 and json_valid(details);
`,
  },
  // Address rules have revisions, so that of two who change one the second is told.
  {
    version: 10,
    name: 'address-rule-revisions',
    sql: 'alter table address_rules add column revision integer not null default 1;',
  },
  // What upstreams did by themselves before tool calls, sealed: it may quote what clients wrote.
  // The sizes stand before the texts: summing them up must not read those.
  {
    version: 11,
    name: 'call-traces',
    sql: `
create table call_traces (
  sequence integer primary key,
  key text not null unique,
  expires_at real not null,
  bytes integer not null,
  sealed text not null
) strict;
create index call_traces_by_expiry on call_traces (expires_at);
`,
  },
  // The accounts that sessions are bound to, sealed: a session's name is its client's own word.
  {
    version: 12,
    name: 'session-bindings',
    sql: `
create table session_bindings (
  sequence integer primary key,
  key text not null unique,
  expires_at real not null,
  bytes integer not null,
  sealed text not null
) strict;
create index session_bindings_by_expiry on session_bindings (expires_at);
`,
  },
  // What the sentences of records are made of, beside their English texts: the console says them in its language.
  // JSON; null of texts from elsewhere, and of all that stood there before.
  {
    version: 13,
    name: 'sentence-parts',
    sql: `
alter table requests add column error_parts text;
alter table access_log add column reason_parts text;
`,
  },
  // Tokens written to a cache cost more than others; older records do not tell them.
  {
    version: 14,
    name: 'cache-writes',
    sql: `
alter table requests add column cache_write_tokens integer;
alter table usage_sums add column cache_write_tokens integer not null default 0;
`,
  },
];
