// The door's stores in memory: what the contracts ask and no more.

import { randomBytes } from 'node:crypto';
import {
  type AccessControl,
  type AccessControlOptions,
  loadAccessControl,
} from '../../src/access/access.ts';
import type { AccessLogStore, StoredAccessEntry } from '../../src/access/access-log.ts';
import type { ClientKey, ClientKeyStore, StoredKey } from '../../src/access/api-key.ts';
import type { AuditStore, StoredAuditEntry } from '../../src/access/audit-log.ts';
import type { Budget, BudgetStore, BudgetUse } from '../../src/access/budgets.ts';
import type { ConsoleSession, ConsoleSessionStore } from '../../src/access/console-sign-in.ts';
import type { AddressRule, AddressRuleStore } from '../../src/access/ip-rules.ts';
import {
  type Invitation,
  type InvitationStore,
  LAST_OWNER,
  nameTaken,
  type PeopleStore,
  type Person,
} from '../../src/access/people.ts';
import { StoreError } from '../../src/accounts/account-store.ts';
import { createId } from '../../src/lib/ids.ts';
import { told } from '../../src/lib/localized-message.ts';
import { foldCase } from '../../src/lib/names.ts';

export type AccessStores = AccessControlOptions['stores'];

/** Access control over stores in memory, unless others are given. */
export function loadMemoryAccess(
  options: Pick<AccessControlOptions, 'settings' | 'clock'> & Partial<AccessControlOptions>,
): Promise<AccessControl> {
  return loadAccessControl({
    stores: createMemoryAccessStores(),
    passwordSettled: async () => {},
    derive: () => randomBytes(32),
    createId,
    redactorFor: () => ({ text: (text) => text }),
    log: { info: () => undefined, warn: () => undefined },
    provider: NO_PROVIDER,
    ...options,
  });
}

export const NO_PROVIDER: AccessControlOptions['provider'] = {
  settings: () => ({
    ...{ label: '', scopes: [], owners: [], operators: [], viewers: [], allowedDomains: [] },
    defaultRole: 'none',
  }),
  openSecret: (text) => text,
  fetch: () => Promise.reject(new Error('There is no provider.')),
  pending: { put: async () => {}, take: async () => undefined },
};

export function createMemoryAccessStores(): AccessStores {
  return {
    clientKeys: createClientKeys(),
    budgets: createBudgets(),
    addressRules: createAddressRules(),
    accessLog: createAccessLog(),
    audit: createAudit(),
    consoleSessions: createConsoleSessions(),
    people: createPeople(),
    invitations: createInvitations(),
  };
}

function createClientKeys(): ClientKeyStore {
  const kept = new Map<string, StoredKey>();
  const update = (key: ClientKey, secrets: Partial<StoredKey> = {}): void => {
    const known = kept.get(key.id);
    if (known === undefined) throw new StoreError('missing', told`There is no key ${key.id}.`);
    if (known.key.revision !== key.revision - 1) {
      throw new StoreError('stale', told`The key ${key.id} was changed meanwhile.`);
    }
    const { lastUsedAt } = known.key;
    const changed = lastUsedAt === undefined ? key : { ...key, lastUsedAt };
    kept.set(key.id, { ...known, ...secrets, key: changed });
  };
  return {
    list: async () => [...kept.values()],
    has: async (digest) => [...kept.values()].some((one) => one.digest === digest),
    async insert(key, digest) {
      kept.set(key.id, { key, digest, previous: [], use: undefined, addresses: new Map() });
    },
    update: async (key) => update(key),
    replaceSecret: async (key, digest, previous) => update(key, { digest, previous }),
    remove: async (id) => kept.delete(id),
    async saveProgress(progress) {
      for (const { id, lastUsedAt, use, addresses, previous } of progress) {
        const known = kept.get(id);
        if (known === undefined) continue;
        const key = lastUsedAt === undefined ? known.key : { ...known.key, lastUsedAt };
        const usedAt = new Map(previous.map((one) => [one.digest, one.lastUsedAt]));
        const secrets = known.previous.map((one) => ({
          ...one,
          lastUsedAt: usedAt.get(one.digest) ?? one.lastUsedAt,
        }));
        kept.set(id, { ...known, key, use, addresses, previous: secrets });
      }
    },
  };
}

function createBudgets(): BudgetStore {
  const kept = new Map<string, Budget>();
  const uses = new Map<string, BudgetUse>();
  return {
    list: async (since) => ({
      budgets: [...kept.values()],
      uses: [...uses.values()].filter(({ at }) => at >= since),
    }),
    async insert(budget, use) {
      kept.set(budget.id, budget);
      uses.set(`${use.budgetId} ${use.at}`, use);
    },
    async update(budget) {
      const known = kept.get(budget.id);
      if (known === undefined) throw new StoreError('missing', told`There is no ${budget.id}.`);
      if (known.revision !== budget.revision - 1) throw new StoreError('stale', told`Changed.`);
      kept.set(budget.id, budget);
    },
    async remove(id) {
      for (const [name, use] of uses) if (use.budgetId === id) uses.delete(name);
      return kept.delete(id);
    },
    async addUses(added) {
      return added.flatMap((use) => {
        if (!kept.has(use.budgetId)) return [];
        const name = `${use.budgetId} ${use.at}`;
        const sum = { ...use, used: (uses.get(name)?.used ?? 0) + use.used };
        uses.set(name, sum);
        return [sum];
      });
    },
  };
}

function createAddressRules(): AddressRuleStore {
  const kept = new Map<string, AddressRule>();
  return {
    list: async () => [...kept.values()],
    async insert(rule) {
      kept.set(rule.id, rule);
    },
    async update(rule) {
      const known = kept.get(rule.id);
      if (known === undefined) throw new StoreError('missing', told`There is no rule ${rule.id}.`);
      if (known.revision !== rule.revision - 1) {
        throw new StoreError('stale', told`The address rule ${rule.id} was changed meanwhile.`);
      }
      kept.set(rule.id, { ...rule, hits: known.hits, lastHitAt: known.lastHitAt });
    },
    remove: async (id) => kept.delete(id),
    async addHits(all) {
      for (const { id, hits, lastHitAt } of all) {
        const known = kept.get(id);
        if (known !== undefined) kept.set(id, { ...known, hits: known.hits + hits, lastHitAt });
      }
    },
  };
}

function createAccessLog(): AccessLogStore {
  let entries: readonly StoredAccessEntry[] = [];
  let nextId = 1;
  return {
    async add(added, most) {
      entries = [...entries, ...added.map((entry) => ({ ...entry, id: nextId++ }))].slice(-most);
    },
    list: async ({ verdict, before, limit }) =>
      entries
        .filter((entry) => verdict === undefined || entry.verdict === verdict)
        .filter((entry) => before === undefined || entry.id < before)
        .toReversed()
        .slice(0, limit),
  };
}

function createAudit(): AuditStore {
  let entries: readonly StoredAuditEntry[] = [];
  let nextId = 1;
  return {
    async add(entry, { most, since }) {
      const all = [...entries, { ...entry, id: nextId++ }].slice(-most);
      entries = all.filter(({ at }) => at >= since);
    },
    list: async ({ actor, person, about, from = 0, to = Infinity, before = Infinity, limit }) =>
      entries
        .filter((entry) => actor === undefined || entry.actor === actor)
        .filter((entry) => person === undefined || entry.person === person)
        .filter(({ at, id }) => at >= from && at < to && id < before)
        .filter(({ subject, action }) =>
          [subject, action].some((text) => text.startsWith(about ?? '')),
        )
        .toReversed()
        .slice(0, limit),
  };
}

function createConsoleSessions(): ConsoleSessionStore {
  const kept = new Map<string, ConsoleSession>();
  return {
    list: async () => [...kept.values()],
    async save(session) {
      kept.set(session.hash, session);
    },
    async saveSeen({ hash, lastSeenAt }) {
      const known = kept.get(hash);
      if (known !== undefined) kept.set(hash, { ...known, lastSeenAt });
    },
    async remove(hashes) {
      for (const hash of hashes) kept.delete(hash);
    },
  };
}

function createPeople(): PeopleStore {
  const kept = new Map<string, Person>();
  const refuseOwnerless = (people: readonly (Person | undefined)[], keepsOwner: boolean): void => {
    if (!keepsOwner || people.some((person) => person?.role === 'owner')) return;
    throw new StoreError('conflict', LAST_OWNER);
  };
  return {
    list: async () => [...kept.values()],
    async insert(person, nameKey) {
      const isTaken = [...kept.values()].some(
        ({ name, subject }) =>
          foldCase(name) === nameKey || (subject !== undefined && subject === person.subject),
      );
      if (isTaken) throw new StoreError('conflict', nameTaken(person.name));
      kept.set(person.id, person);
    },
    async update(person, { keepsOwner }) {
      const known = kept.get(person.id);
      if (known === undefined) {
        throw new StoreError('missing', told`There is no person ${person.id}.`);
      }
      if (known.revision !== person.revision - 1) {
        throw new StoreError('stale', told`${person.name} was changed meanwhile.`);
      }
      const others = [...kept.values()].filter(({ id }) => id !== person.id);
      refuseOwnerless([...others, person], keepsOwner);
      kept.set(person.id, { ...person, lastSignInAt: known.lastSignInAt });
    },
    async remove(id, { keepsOwner }) {
      const others = [...kept.values()].filter((person) => person.id !== id);
      if (kept.has(id)) refuseOwnerless(others, keepsOwner);
      return kept.delete(id);
    },
    async saveSignIn(id, lastSignInAt) {
      const known = kept.get(id);
      if (known !== undefined) kept.set(id, { ...known, lastSignInAt });
    },
  };
}

function createInvitations(): InvitationStore {
  const kept = new Map<string, Invitation>();
  return {
    list: async () => [...kept.values()],
    async insert(invitation, digest) {
      kept.set(digest, invitation);
    },
    find: async (digest) => kept.get(digest),
    async take(digest) {
      const found = kept.get(digest);
      kept.delete(digest);
      return found;
    },
    async remove(id) {
      const [digest] = [...kept].find(([, invitation]) => invitation.id === id) ?? [];
      return digest !== undefined && kept.delete(digest);
    },
    async removeBefore(expiresAt) {
      for (const [digest, one] of kept) if (one.expiresAt <= expiresAt) kept.delete(digest);
    },
  };
}
