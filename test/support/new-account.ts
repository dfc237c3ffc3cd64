// An account for a store, with what a test does not care about filled in.

import type { Credential } from '../../src/accounts/account.ts';
import type { AccountStore } from '../../src/accounts/account-store.ts';

export type NewStoredAccount = Parameters<AccountStore['insert']>[0];

export function newAccount(
  id: string,
  change: Partial<NewStoredAccount['record']> = {},
  credential: Credential = { kind: 'oauth', refreshToken: `refresh-${id}` },
): NewStoredAccount {
  const record: NewStoredAccount['record'] = {
    id,
    upstreamId: 'gemini',
    kind: credential.kind,
    label: `${id}@example.com`,
    projectId: undefined,
    tier: undefined,
    billing: undefined,
    priority: 0,
    notes: undefined,
    createdAt: 1000,
    ...change,
  };
  return { record, proxyUrl: undefined, credential };
}
