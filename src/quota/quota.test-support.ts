// A book of accounts in memory, with what the quota rules read and write.

import type { Account, QuotaReading } from '../accounts/account.ts';
import type { AccountBook, BookChange } from '../accounts/account-book.ts';

export interface FakeBook extends AccountBook {
  readonly changes: { readonly id: string; readonly change: object }[];
  readonly events: { readonly id: string; readonly event: object }[];
  put(account: Account): void;
  /** As `put`, and told as a new list of models. */
  learnModels(account: Account): void;
  /** As one with a new credential. */
  reauthenticate(account: Account): void;
  /** As `put`, and nobody is told. */
  replace(account: Account): void;
}

export function createReading(parts: Partial<QuotaReading> = {}): QuotaReading {
  return {
    remainingFraction: 1,
    resetsAt: undefined,
    source: 'upstream',
    fetchedAt: 0,
    ...parts,
  };
}

export function createFakeBook(accounts: readonly Account[]): FakeBook {
  const known = new Map(accounts.map((account) => [account.record.id, account]));
  const listeners = new Set<(change: BookChange) => void>();
  const changes: { id: string; change: object }[] = [];
  const events: { id: string; event: object }[] = [];
  const refuse = (): never => {
    throw new Error('The quota rules have no business here.');
  };
  return {
    changes,
    events,
    list: () => [...known.values()],
    find: (id) => known.get(id),
    lookUp: async (id) => known.get(id),
    put(account) {
      known.set(account.record.id, account);
      for (const listener of listeners) listener({ kind: 'added', account });
    },
    learnModels(account) {
      known.set(account.record.id, account);
      for (const listener of listeners) listener({ kind: 'models', account });
    },
    reauthenticate(account) {
      for (const listener of listeners) listener({ kind: 'reauthenticated', account });
    },
    replace: (account) => void known.set(account.record.id, account),
    setQuotas(id, readings) {
      const account = known.get(id);
      if (account === undefined) return;
      const quotas = new Map(account.quotas);
      for (const [model, reading] of readings) {
        if (reading === undefined) quotas.delete(model);
        else quotas.set(model, reading);
      }
      known.set(id, { ...account, quotas });
    },
    change: refuse,
    order: refuse,
    heard: refuse,
    learnPlan: async (id, change) => void changes.push({ id, change }),
    async remove(id) {
      const account = known.get(id);
      known.delete(id);
      if (account === undefined) return;
      for (const listener of listeners) listener({ kind: 'removed', account });
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    add: refuse,
    putSeed: refuse,
    removeSeed: refuse,
    apply: (id, event) => void events.push({ id, event }),
    setModels: refuse,
    readCredential: refuse,
    replaceCredential: refuse,
    proxyUrl: () => undefined,
    flush: async () => undefined,
    close: async () => undefined,
  };
}
