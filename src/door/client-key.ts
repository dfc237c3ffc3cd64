// A person's key with its limits, and what keys ask of durable storage.

import type { Curfew } from './curfew.ts';

/** What a key may do; absent limits do not limit. */
export interface KeyLimits {
  /** Names and patterns with `*`; empty allows every model. */
  readonly allowedModels: readonly string[];
  /** Addresses within a day; of IPv6 each /64 is one. */
  readonly maxAddresses?: number | undefined;
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
  /** A day is one of UTC. */
  readonly dailyTokens?: number | undefined;
  readonly dailyImages?: number | undefined;
  readonly curfew?: Curfew | undefined;
}

/** Times are milliseconds since the epoch. */
export interface ClientKey extends KeyLimits {
  readonly id: string;
  readonly name: string;
  /** The beginning of the secret, to tell keys apart. */
  readonly prefix: string;
  readonly enabled: boolean;
  readonly createdAt: number;
  readonly expiresAt?: number | undefined;
  readonly lastUsedAt?: number | undefined;
  /** Rises with each change by a person. */
  readonly revision: number;
}

/** What a key used on one day. */
export interface DayUse {
  /** `2026-01-31`, of UTC. */
  readonly day: string;
  readonly requests: number;
  readonly tokens: number;
  readonly images: number;
}

export interface StoredKey {
  readonly key: ClientKey;
  /** HMAC-SHA-256 of the secret, in hexadecimal. */
  readonly digest: string;
  /** Of the latest day that was saved. */
  readonly use: DayUse | undefined;
  /** Address → when it came last. */
  readonly addresses: ReadonlyMap<string, number>;
}

export interface KeyProgress {
  readonly id: string;
  readonly lastUsedAt: number | undefined;
  readonly use: DayUse;
  readonly addresses: ReadonlyMap<string, number>;
}

/** Every method may throw StoreError. What people say survives a power cut. */
export interface ClientKeyStore {
  /** Oldest first. One whose limits cannot be read is there too, disabled. */
  list(): Promise<readonly StoredKey[]>;
  insert(key: ClientKey, digest: string): Promise<void>;
  /** @throws StoreError `missing`, or `stale` when the stored revision is not the one before */
  update(key: ClientKey): Promise<void>;
  /** False when there was none. Its counts go with it. */
  remove(id: string): Promise<boolean>;
  /** Replaces the counts of that day and the addresses; of a key that is gone there is nothing to save. */
  saveProgress(progress: readonly KeyProgress[]): Promise<void>;
}
