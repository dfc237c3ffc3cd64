// Answers kept for later requests, and which answer each of their items belongs to.

import type { Migration } from './migration.ts';

export const keptAnswers: Migration = {
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
};
