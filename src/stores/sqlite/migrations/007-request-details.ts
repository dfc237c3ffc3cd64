// The details of a request stand in its row, behind all that lists read of it.

import type { Migration } from './migration.ts';

/**
 * Lists pass over records in the index, so that long rows cost them nothing, and a record costs one
 * row less to write. The sizes stand in the index as well: summing them up must not read the rows.
 */
export const requestDetails: Migration = {
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
};
