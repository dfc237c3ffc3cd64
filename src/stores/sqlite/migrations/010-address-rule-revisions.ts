// Address rules have revisions, so that of two who change one the second is told.

import type { Migration } from './migration.ts';

export const addressRuleRevisions: Migration = {
  version: 10,
  name: 'address-rule-revisions',
  sql: 'alter table address_rules add column revision integer not null default 1;',
};
