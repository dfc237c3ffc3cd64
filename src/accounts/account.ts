// An upstream account: its record, its condition, and what is known of its quota.

import type { UpstreamModel } from '../canonical/model.ts';
import type { Billing } from '../pricing/charges.ts';
import type { AccountAccess } from '../upstreams/upstream.ts';
import type { AccountHealth } from './health.ts';

export const TIERS = ['ultra', 'pro', 'free'] as const;
export type Tier = (typeof TIERS)[number];

export const ACCOUNT_KINDS = ['oauth', 'api-key', 'service-account'] as const;
type AccountKind = (typeof ACCOUNT_KINDS)[number];

/** Only stored accounts can be changed and outlive the process. */
export const ACCOUNT_ORIGINS = ['stored', 'environment', 'settings', 'sandbox'] as const;
export type AccountOrigin = (typeof ACCOUNT_ORIGINS)[number];

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
  /** Undefined for what is usual of its kind and upstream. */
  readonly billing: Billing | undefined;
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
  /** `estimated`: from limits and our own use; `rate`: a limit of about a minute, which keeps no account out. */
  readonly source: 'upstream' | 'estimated' | 'rate';
  /** Milliseconds since the epoch. */
  readonly fetchedAt: number;
}

/** The credential of an account. Never logged, never answered; sealed wherever it is stored. */
export type Credential = ApiKeyCredential | OAuthCredential | ServiceAccountCredential;

interface ApiKeyCredential {
  readonly kind: 'api-key';
  readonly key: string;
}

export interface OAuthCredential {
  readonly kind: 'oauth';
  readonly refreshToken: string;
  /** The last access token, kept so that a restart need not refresh. */
  readonly accessToken?: string | undefined;
  /** End of the access token, in milliseconds since the epoch. */
  readonly expiresAt?: number | undefined;
  readonly scopes?: readonly string[] | undefined;
}

/** A service account's key file, in our words (RFC 7523: a signed JWT is traded for an access token). */
export interface ServiceAccountCredential {
  readonly kind: 'service-account';
  readonly clientEmail: string;
  /** PKCS #8 PEM. */
  readonly privateKey: string;
  readonly privateKeyId?: string | undefined;
  /** Undefined for the upstream's own token address. */
  readonly tokenUrl?: string | undefined;
}

/** `version` rises with every replacement: the fence against two refreshes of one token. */
export interface VersionedCredential {
  readonly credential: Credential;
  readonly version: number;
}

/** Labels that differ by case only, by blanks around them, or by how an accent is written, have the same key. */
export function labelKey(label: string): string {
  return label.trim().normalize('NFC').toLowerCase();
}

export function isSameLabel(one: string, other: string): boolean {
  return labelKey(one) === labelKey(other);
}

/** Gives the credential an account uses now; the pool asks before each call. */
export interface TokenSource {
  /**
   * The access to use now. A valid one is given at once; an OAuth or service-account token that has
   * under 90 s left, or any with `refresh`, is renewed first, once for all who ask.
   * @throws GatewayError with `failure` kind `credential-revoked` when the token endpoint refuses the
   * grant for good, `credential-unavailable` when it cannot be reached or fails.
   */
  accessFor(account: Account, options: AccessOptions): Promise<AccountAccess>;
}

export interface AccessOptions {
  /** True after the upstream answered 401. */
  readonly refresh: boolean;
  /** With `refresh`: the credential that was refused; whoever holds an older one gets the present one. */
  readonly refused?: string | undefined;
  readonly signal: AbortSignal;
}
