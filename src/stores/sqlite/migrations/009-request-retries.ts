// How many attempts of a request were retries, which its attempts alone do not say.

import type { Migration } from './migration.ts';

/**
 * Of a request that was several upstream calls each call succeeds once, so that older records tell
 * their calls by the attempts that succeeded.
 */
export const requestRetries: Migration = {
  version: 9,
  name: 'request-retries',
  sql: `
alter table requests add column retries integer not null default 0;
update requests set retries = attempts - max(1, (
  select count(*) from json_each(requests.details, '$.attemptsList')
  where json_extract(json_each.value, '$.outcome') = 'ok'
)) where attempts > 1 and json_valid(details);
`,
};
