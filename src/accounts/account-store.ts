// What the accounts ask of durable storage; every store fulfils the contract suite in test/contracts.

import { type Sentence, SpokenError } from '../lib/localized-message.ts';
import type { AccountRecord, Credential, QuotaReading, VersionedCredential } from './account.ts';
import type { AccountHealth } from './health.ts';

/** Acknowledged changes survive `kill -9`. Secrets are sealed. Every method may throw StoreError. */
export interface AccountStore {
  /** All accounts, oldest first. One whose row cannot be read in full is disabled, with the reason. */
  list(): Promise<readonly StoredAccount[]>;
  /** @throws StoreError `conflict` when the upstream already has an account of that label */
  insert(account: NewStoredAccount): Promise<StoredAccount>;
  /** Without a revision it changes whatever is there. @throws StoreError `missing`, `stale` or `conflict` */
  update(
    id: string,
    change: AccountRecordChange,
    expectedRevision: number | undefined,
  ): Promise<StoredAccount>;
  /** Sets the priorities by the places of these, the first the highest, all of them or none. */
  order(ids: readonly string[]): Promise<void>;
  /** False when there was none. Its credential, state and quotas go with it. */
  remove(id: string): Promise<boolean>;
  /** Of all accounts by their ids, without those whose seals do not open. */
  readCredentials(): Promise<ReadonlyMap<string, Credential>>;
  /** Undefined when the account is gone. @throws StoreError `unreadable` when the seal does not open */
  readCredential(id: string): Promise<VersionedCredential | undefined>;
  /** `stale` says that another change came first. Without a version it replaces whatever is there. */
  replaceCredential(
    id: string,
    credential: Credential,
    expectedVersion: number | undefined,
  ): Promise<VersionedCredential | 'stale' | 'missing'>;
  /** Does nothing for a removed account. @param keeps `status`: another process may have changed it */
  saveHealth(id: string, health: AccountHealth, keeps?: 'status'): Promise<void>;
  /** All readings of the account; as `saveHealth` when it is gone. */
  saveQuotas(id: string, quotas: ReadonlyMap<string, QuotaReading>): Promise<void>;
}

export interface StoredAccount {
  readonly record: AccountRecord;
  /** May hold a user and a password. */
  readonly proxyUrl: string | undefined;
  readonly health: AccountHealth;
  readonly quotas: ReadonlyMap<string, QuotaReading>;
}

interface NewStoredAccount {
  readonly record: Omit<AccountRecord, 'revision'>;
  readonly proxyUrl: string | undefined;
  readonly credential: Credential;
}

/** Absent keys stay; null clears. */
export interface AccountRecordChange {
  readonly label?: string | undefined;
  readonly projectId?: string | null | undefined;
  readonly tier?: AccountRecord['tier'] | null;
  readonly billing?: AccountRecord['billing'] | null;
  readonly priority?: number | undefined;
  readonly notes?: string | null | undefined;
  readonly proxyUrl?: string | null | undefined;
}

/**
 * `conflict` the label is taken · `stale` somebody else changed it first · `missing` it is gone ·
 * `unreadable` sealed with another key or damaged · `unavailable` the disk or database refused.
 */
export type StoreFault = 'conflict' | 'stale' | 'missing' | 'unreadable' | 'unavailable';

export class StoreError extends SpokenError {
  readonly fault: StoreFault;

  constructor(fault: StoreFault, message: Sentence, cause?: unknown) {
    super(message, cause);
    this.name = 'StoreError';
    this.fault = fault;
  }
}

/** @returns false where the store is away or full. @throws any other error of it */
export async function reachesStore(work: Promise<void>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.fault === 'unavailable') return false;
    throw error;
  }
}
