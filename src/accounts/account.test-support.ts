// A stored account in memory, with what a test does not care about filled in.

import type { Account } from './account.ts';
import { HEALTHY } from './health.ts';

export function createAccount(id: string, parts: Partial<Account> = {}): Account {
  return {
    record: {
      id,
      upstreamId: 'u',
      kind: 'api-key',
      label: id,
      projectId: undefined,
      tier: undefined,
      billing: undefined,
      priority: 0,
      notes: undefined,
      createdAt: 0,
      revision: 1,
    },
    origin: 'stored',
    health: HEALTHY,
    models: undefined,
    quotas: new Map(),
    ...parts,
  };
}
