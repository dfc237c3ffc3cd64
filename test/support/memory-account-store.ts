// The account store in memory: what the contract asks and no more.

import {
  type Credential,
  isSameLabel,
  type QuotaReading,
  type VersionedCredential,
} from '../../src/accounts/account.ts';
import {
  type AccountRecordChange,
  type AccountStore,
  type StoredAccount,
  StoreError,
} from '../../src/accounts/account-store.ts';
import { type AccountHealth, HEALTHY } from '../../src/accounts/health.ts';
import { told } from '../../src/lib/localized-message.ts';
import type { NewStoredAccount } from './new-account.ts';

interface Kept {
  account: StoredAccount;
  credential: VersionedCredential;
}

export function createMemoryAccountStore(): AccountStore {
  return new MemoryAccountStore();
}

class MemoryAccountStore implements AccountStore {
  readonly #kept = new Map<string, Kept>();

  async list(): Promise<readonly StoredAccount[]> {
    return [...this.#kept.values()]
      .map(({ account }) => account)
      .sort((a, b) => a.record.createdAt - b.record.createdAt);
  }

  async insert({ record, proxyUrl, credential }: NewStoredAccount): Promise<StoredAccount> {
    if (this.#kept.has(record.id)) throw new StoreError('conflict', told`${record.id} is taken.`);
    this.#refuseDuplicate(record);
    const account: StoredAccount = {
      record: { ...record, revision: 1 },
      proxyUrl,
      health: HEALTHY,
      quotas: new Map(),
    };
    this.#kept.set(record.id, { account, credential: { credential, version: 1 } });
    return account;
  }

  async update(
    id: string,
    change: AccountRecordChange,
    expectedRevision: number | undefined,
  ): Promise<StoredAccount> {
    const kept = this.#kept.get(id);
    if (kept === undefined) throw new StoreError('missing', told`There is no account ${id}.`);
    const { record } = kept.account;
    if (expectedRevision !== undefined && record.revision !== expectedRevision) {
      throw new StoreError('stale', told`The account ${id} was changed meanwhile.`);
    }
    const changed = {
      ...record,
      label: change.label ?? record.label,
      projectId: replaced(record.projectId, change.projectId),
      tier: replaced(record.tier, change.tier),
      priority: change.priority ?? record.priority,
      notes: replaced(record.notes, change.notes),
      revision: record.revision + 1,
    };
    this.#refuseDuplicate(changed);
    const proxyUrl = replaced(kept.account.proxyUrl, change.proxyUrl);
    kept.account = { ...kept.account, record: changed, proxyUrl };
    return kept.account;
  }

  async order(ids: readonly string[]): Promise<void> {
    for (const [index, id] of ids.entries()) {
      const priority = ids.length - index;
      const known = this.#kept.get(id)?.account.record.priority ?? priority;
      if (known !== priority) await this.update(id, { priority }, undefined);
    }
  }

  async remove(id: string): Promise<boolean> {
    return this.#kept.delete(id);
  }

  async readCredentials(): Promise<ReadonlyMap<string, Credential>> {
    return new Map([...this.#kept].map(([id, { credential }]) => [id, credential.credential]));
  }

  async readCredential(id: string): Promise<VersionedCredential | undefined> {
    return this.#kept.get(id)?.credential;
  }

  async replaceCredential(
    id: string,
    credential: Credential,
    expectedVersion: number | undefined,
  ): Promise<VersionedCredential | 'stale' | 'missing'> {
    const kept = this.#kept.get(id);
    if (kept === undefined) return 'missing';
    const { version } = kept.credential;
    if (expectedVersion !== undefined && version !== expectedVersion) return 'stale';
    kept.credential = { credential, version: version + 1 };
    return kept.credential;
  }

  async saveHealth(id: string, health: AccountHealth, keeps?: 'status'): Promise<void> {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    const { status } = keeps === undefined ? health : kept.account.health;
    kept.account = { ...kept.account, health: { ...health, status } };
  }

  async saveQuotas(id: string, quotas: ReadonlyMap<string, QuotaReading>): Promise<void> {
    const kept = this.#kept.get(id);
    if (kept !== undefined) kept.account = { ...kept.account, quotas: new Map(quotas) };
  }

  #refuseDuplicate(record: Pick<StoredAccount['record'], 'id' | 'upstreamId' | 'label'>): void {
    const isTaken = [...this.#kept.values()].some(
      ({ account: { record: other } }) =>
        other.id !== record.id &&
        other.upstreamId === record.upstreamId &&
        isSameLabel(other.label, record.label),
    );
    if (!isTaken) return;
    throw new StoreError('conflict', told`${record.upstreamId} already has ${record.label}.`);
  }
}

/** Absent keeps, null clears. */
function replaced<Value>(
  known: Value | undefined,
  change: Value | null | undefined,
): Value | undefined {
  return change === undefined ? known : (change ?? undefined);
}
