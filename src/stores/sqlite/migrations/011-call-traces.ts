// What upstreams did by themselves before tool calls, sealed: it may quote what clients wrote.

import type { Migration } from './migration.ts';

/** The sizes stand before the texts: summing them up must not read those. */
export const callTraces: Migration = {
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
};
