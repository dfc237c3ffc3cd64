// An upstream account: its record, its condition, and what is known of its quota.

import type { UpstreamModel } from '../upstreams/upstream.ts';
import type { AccountHealth } from './health.ts';

export type Tier = 'ultra' | 'pro' | 'free';

export type AccountKind = 'oauth' | 'api-key' | 'service-account';

/** Only stored accounts can be changed and outlive the process. */
export type AccountOrigin = 'stored' | 'environment' | 'sandbox';

/** What a person or a sign-in says of an account; secrets are elsewhere. */
export interface AccountRecord {
  readonly id: string;
  readonly upstreamId: string;
  readonly kind: AccountKind;
  /** E-mail or label: unique within its upstream, whatever its case. */
  readonly label: string;
  /** Undefined when none is known; then the upstream is asked without a project. */
  readonly projectId: string | undefined;
  readonly tier: Tier | undefined;
  /** Higher goes first. */
  readonly priority: number;
  readonly notes: string | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Rises with every change of the record; `If-Match` of the admin API. */
  readonly revision: number;
}

/** An account as the process knows it now. Immutable: a change makes a new object. */
export interface Account {
  readonly record: AccountRecord;
  readonly origin: AccountOrigin;
  readonly health: AccountHealth;
  /** The models its own list holds; undefined until the list was read. */
  readonly models: ReadonlyMap<string, UpstreamModel> | undefined;
  /** By the account's own model id; a model without a row has no known quota. */
  readonly quotas: ReadonlyMap<string, QuotaReading>;
}

export interface QuotaReading {
  /** 0 to 1. An upstream that names a model without a fraction means 0. */
  readonly remainingFraction: number;
  /** Calls that are left, where the upstream counts them. Not stored: it is read again. */
  readonly remainingCalls?: number | undefined;
  /** Milliseconds since the epoch; undefined when the upstream does not say. */
  readonly resetsAt: number | undefined;
  readonly source: 'upstream' | 'estimated';
  /** Milliseconds since the epoch. */
  readonly fetchedAt: number;
}
