// The name of the key stands beside its usage, which outlives keys and records.

import type { Migration } from './migration.ts';

export const usageKeyNames: Migration = {
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
};
