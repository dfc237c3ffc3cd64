// Finds accounts by their label, whatever its case.

import type { Account } from '../accounts/account.ts';

export interface AccountLabels {
  put(account: Account): void;
  remove(accountId: string): void;
  /** Several when upstreams have accounts of the same label. */
  idsOf(label: string): Iterable<string>;
}

export function createAccountLabels(accounts: Iterable<Account>): AccountLabels {
  const labels = new Map<string, string>();
  const ids = new Map<string, Set<string>>();
  const remove = (accountId: string): void => {
    const label = labels.get(accountId);
    if (label === undefined) return;
    labels.delete(accountId);
    const sharing = ids.get(label);
    sharing?.delete(accountId);
    if (sharing?.size === 0) ids.delete(label);
  };
  const put = ({ record }: Account): void => {
    remove(record.id);
    const label = record.label.toLowerCase();
    labels.set(record.id, label);
    const sharing = ids.get(label);
    if (sharing === undefined) ids.set(label, new Set([record.id]));
    else sharing.add(record.id);
  };
  for (const account of accounts) put(account);
  return { put, remove, idsOf: (label) => ids.get(label.toLowerCase()) ?? [] };
}
