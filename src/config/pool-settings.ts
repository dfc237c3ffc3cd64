// The settings of the account pool and its quotas, with their defaults filled in.

import { POOL_SCHEMA, QUOTA_SCHEMA } from './pool-schema.ts';
import type { ConfigFile } from './schema.ts';

const POOL_MODES = ['balance', 'cache-first', 'performance-first'] as const;

export interface PoolSettings {
  readonly mode: (typeof POOL_MODES)[number];
  /** Longest wait of a session for its account, with `cache-first`. */
  readonly maxWaitMs: number;
  /** Id or label of the one account to use. */
  readonly fixedAccount: string | undefined;
  readonly sessionIdleMs: number;
}

export interface QuotaSettings {
  readonly refreshIntervalMs: number;
  readonly protection: {
    readonly enabled: boolean;
    /** 0 to 100. */
    readonly thresholdPercent: number;
    /** Empty protects every model. */
    readonly models: readonly string[];
  };
}

type Sections = NonNullable<ConfigFile['proxy']>;

const POOL = POOL_SCHEMA.properties;
const QUOTA = QUOTA_SCHEMA.properties;
const MINUTE_MS = 60_000;

export function readPoolSettings(section: Sections['pool'] = {}): PoolSettings {
  return {
    mode: POOL_MODES.find((mode) => mode === section.mode) ?? POOL.mode.default,
    maxWaitMs: (section.max_wait_seconds ?? POOL.max_wait_seconds.default) * 1000,
    fixedAccount: section.fixed_account,
    sessionIdleMs: (section.session_ttl_minutes ?? POOL.session_ttl_minutes.default) * MINUTE_MS,
  };
}

export function readQuotaSettings(section: Sections['quota'] = {}): QuotaSettings {
  const { enabled, threshold_percent: threshold } = QUOTA.protection.properties;
  const { protection = {} } = section;
  return {
    refreshIntervalMs: (section.refresh_minutes ?? QUOTA.refresh_minutes.default) * MINUTE_MS,
    protection: {
      enabled: protection.enabled ?? enabled.default,
      thresholdPercent: protection.threshold_percent ?? threshold.default,
      models: protection.models ?? [],
    },
  };
}
