// The accounts of this process: stored ones with those of the environment and the sandbox, always current.

import type { UpstreamModel } from '../upstreams/upstream.ts';
import type { Account, AccountOrigin, AccountRecord, QuotaReading } from './account.ts';
import type { AccountRecordChange } from './account-store.ts';
import type { Credential, VersionedCredential } from './credential.ts';
import type { HealthEvent } from './health.ts';

/**
 * Reads are synchronous and cheap (the hot path takes them); changes of stored accounts are durable
 * when their promise resolves. Health and quotas are saved behind the caller's back, soon after.
 */
export interface AccountBook {
  /** In the order of their creation. The array is replaced, never changed. */
  list(): readonly Account[];
  find(id: string): Account | undefined;
  /** Rises with every change; lets a reader keep what it derived. */
  readonly version: number;
  /** @throws StoreError `conflict` when the label is taken in its upstream, `unavailable` without storage */
  add(account: NewAccount): Promise<Account>;
  /** @throws StoreError; `read-only` accounts (environment, sandbox) are a GatewayError for the caller */
  change(id: string, change: AccountRecordChange, expectedRevision?: number): Promise<Account>;
  /** Resolves when the account is gone from storage; it is out of `list` before. */
  remove(id: string): Promise<void>;
  /** Puts an event through the account's state machine; unknown ids are ignored. */
  apply(id: string, event: HealthEvent): void;
  /**
   * What the upstream itself says of an account's plan. Of accounts that come with the process it is
   * known until the process ends; unknown ids are ignored. @throws StoreError
   */
  learnPlan(id: string, plan: AccountPlan): Promise<void>;
  setModels(id: string, models: ReadonlyMap<string, UpstreamModel> | undefined): void;
  /**
   * Replaces the readings given; a reading of undefined removes the row. What the upstream itself
   * reported also goes through the state machine (`quota-read`), so that it ends stale cooldowns.
   */
  setQuotas(id: string, readings: ReadonlyMap<string, QuotaReading | undefined>): void;
  readCredential(id: string): Promise<VersionedCredential | undefined>;
  /**
   * An `expectedVersion` of undefined replaces whatever stands there. A credential that was replaced counts as renewed (`refreshed`); a sign-in applies `reauthenticated`
   * besides. @throws GatewayError `invalid-request` when its kind is not the account's
   */
  replaceCredential(
    id: string,
    credential: Credential,
    expectedVersion: number | undefined,
  ): Promise<VersionedCredential | 'stale' | 'missing'>;
  /** May hold a user and a password. */
  proxyUrl(id: string): string | undefined;
  /** Calls back after each change, at once and in order; the answer ends it. */
  subscribe(listener: (change: BookChange) => void): () => void;
  /**
   * Resolves when every change so far is saved: for whoever acknowledges a person's decision.
   * @throws StoreError `unavailable`
   */
  flush(): Promise<void>;
  /** Writes what is not saved yet. */
  close(): Promise<void>;
}

export type AccountPlan = Partial<Record<'projectId', string>> &
  Partial<Pick<AccountRecord, 'tier'>>;

export interface NewAccount {
  readonly upstreamId: string;
  readonly label: string;
  readonly projectId?: string | undefined;
  readonly tier?: AccountRecord['tier'];
  readonly priority?: number | undefined;
  readonly notes?: string | undefined;
  readonly proxyUrl?: string | undefined;
  readonly credential: Credential;
}

/** Accounts that come with the process: they are kept in memory only. */
export interface SeedAccount extends NewAccount {
  readonly id: string;
  readonly origin: Exclude<AccountOrigin, 'stored'>;
}

export type BookChange =
  | { readonly kind: 'added' | 'removed'; readonly account: Account }
  | { readonly kind: 'record' | 'health' | 'models' | 'quotas'; readonly account: Account }
  /** It has a new credential from a person: what is known of the old one says nothing of it. */
  | { readonly kind: 'reauthenticated'; readonly account: Account };
