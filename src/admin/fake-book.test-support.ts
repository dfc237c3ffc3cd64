// An account book in memory, for tests of what stands on one.

import type { Account, Credential } from '../accounts/account.ts';
import type { AccountBook } from '../accounts/account-book.ts';
import { StoreError } from '../accounts/account-store.ts';

import { HEALTHY, nextHealth } from '../accounts/health.ts';
import { told } from '../lib/localized-message.ts';

interface Held {
  account: Account;
  credential: Credential;
  version: number;
  proxyUrl: string | undefined;
}

/** Keeps accounts in memory; those labelled `…@env` come from the environment. */
export function createFakeBook(now: () => number): AccountBook {
  const held = new Map<string, Held>();
  let count = 0;
  const find = (id: string): Held => {
    const one = held.get(id);
    if (one === undefined) throw new StoreError('missing', told`It is gone.`);
    return one;
  };
  return {
    list: () => [...held.values()].map(({ account }) => account),
    find: (id) => held.get(id)?.account,
    get version() {
      return count;
    },
    async add({ upstreamId, label, credential, proxyUrl, ...rest }) {
      for (const { account } of held.values()) {
        if (account.record.label === label) {
          throw new StoreError('conflict', told`There is already an account called ${label}.`);
        }
      }
      count += 1;
      const isSeed = label.endsWith('@env');
      const id = isSeed ? `main/${label}` : `acc_${count}`;
      const account: Account = {
        record: {
          id,
          upstreamId,
          label,
          kind: credential.kind,
          projectId: rest.projectId,
          tier: rest.tier,
          priority: rest.priority ?? 0,
          notes: rest.notes,
          createdAt: now() + count,
          revision: 1,
        },
        origin: isSeed ? 'environment' : 'stored',
        health: HEALTHY,
        models: undefined,
        quotas: new Map(),
      };
      held.set(id, { account, credential, version: 1, proxyUrl });
      return account;
    },
    async change(id, { projectId, tier, notes, proxyUrl, ...change }, expectedRevision) {
      const one = find(id);
      const { record } = one.account;
      if (expectedRevision !== undefined && expectedRevision !== record.revision) {
        throw new StoreError('stale', told`Somebody else changed it first.`);
      }
      if (proxyUrl !== undefined) one.proxyUrl = proxyUrl ?? undefined;
      one.account = {
        ...one.account,
        record: {
          ...record,
          label: change.label ?? record.label,
          priority: change.priority ?? record.priority,
          projectId: projectId === undefined ? record.projectId : (projectId ?? undefined),
          tier: tier === undefined ? record.tier : (tier ?? undefined),
          notes: notes === undefined ? record.notes : (notes ?? undefined),
          revision: record.revision + 1,
        },
      };
      return one.account;
    },
    remove: async (id) => void held.delete(id),
    apply(id, event) {
      const one = find(id);
      const health = nextHealth(one.account.health, event, { now: now(), jitter: 0.5 });
      one.account = { ...one.account, health };
    },
    async learnPlan(id, plan) {
      const one = find(id);
      one.account = { ...one.account, record: { ...one.account.record, ...plan } };
    },
    setModels(id, models) {
      const one = find(id);
      one.account = { ...one.account, models };
    },
    setQuotas(id, readings) {
      const one = find(id);
      const quotas = new Map(one.account.quotas);
      for (const [model, reading] of readings) {
        if (reading === undefined) quotas.delete(model);
        else quotas.set(model, reading);
      }
      one.account = { ...one.account, quotas };
    },
    readCredential: async (id) => {
      const one = held.get(id);
      return one && { credential: one.credential, version: one.version };
    },
    replaceCredential: async (id, credential, expectedVersion) => {
      const one = find(id);
      if (one.version !== expectedVersion) return 'stale';
      one.credential = credential;
      one.version += 1;
      return { credential, version: one.version };
    },
    proxyUrl: (id) => held.get(id)?.proxyUrl,
    subscribe: () => () => undefined,
    flush: async () => undefined,
    close: async () => undefined,
  };
}
