// The accounts that sessions are bound to, sealed: a session's name is its client's own word.

import type { Migration } from './migration.ts';

export const sessionBindings: Migration = {
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
};
