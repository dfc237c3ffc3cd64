// What the sentences of records are made of, beside their English texts: the console says them in its language.

import type { Migration } from './migration.ts';

/** JSON; null of texts from elsewhere, and of all that stood there before. */
export const sentenceParts: Migration = {
  version: 13,
  name: 'sentence-parts',
  sql: `
alter table requests add column error_parts text;
alter table access_log add column reason_parts text;
`,
};
