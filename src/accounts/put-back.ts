// Puts an account that was taken out of the book back where it stood.

import type { Account } from './account.ts';

/** The accounts with this one in its old place. */
export function putBack(
  account: Account,
  { before, into }: { readonly before: readonly Account[]; readonly into: Map<string, Account> },
): Map<string, Account> {
  const all = new Map(into).set(account.record.id, account);
  const ordered = new Map<string, Account>();
  for (const { record } of before) {
    const current = all.get(record.id);
    if (current !== undefined) ordered.set(record.id, current);
  }
  for (const [id, current] of all) ordered.set(id, current);
  return ordered;
}
