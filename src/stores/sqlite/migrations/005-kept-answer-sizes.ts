// How large each kept answer is, so that all of them together can be bounded.

import type { Migration } from './migration.ts';

/** The index holds the sizes: summing them up must not read the answers. */
export const keptAnswerSizes: Migration = {
  version: 5,
  name: 'kept-answer-sizes',
  sql: `
alter table kept_answers add column bytes integer not null default 0;
update kept_answers set bytes = length(sealed);
drop index kept_answers_by_end;
create index kept_answers_by_end on kept_answers (expires_at, bytes);
`,
};
