// A pool over accounts of one upstream, held in memory, for tests.

import type { QuotaReading, Tier, TokenSource } from '../../src/accounts/account.ts';
import {
  type AccountBook,
  createAccountBook,
  type SeedAccount,
} from '../../src/accounts/account-book.ts';
import type { AccountStore } from '../../src/accounts/account-store.ts';

import type { Clock } from '../../src/lib/clock.ts';
import { createPool, type Pool } from '../../src/pool/create-pool.ts';
import type { PoolOptions } from '../../src/pool/pool.ts';
import type { Upstream } from '../../src/upstreams/upstream.ts';
import { createApiKeySource } from './api-key-source.ts';

type PoolSettings = ReturnType<PoolOptions['settings']>;

export interface PoolSeed {
  readonly id: string;
  /** The one upstream where it does not say. */
  readonly upstreamId?: string | undefined;
  readonly tier?: Tier | undefined;
  readonly priority?: number | undefined;
  /** The share of the quota of model `m` that is left, read just now. */
  readonly remaining?: number | undefined;
  /** True for an account that signed in: what it proves itself with can be renewed. */
  readonly isRenewable?: boolean | undefined;
}

export interface SeedPoolOptions {
  readonly accounts: readonly PoolSeed[];
  readonly upstream: Upstream;
  readonly clock: Clock;
  readonly random?: () => number;
  /** A function for settings that change. */
  readonly settings?: Partial<PoolSettings> | (() => Partial<PoolSettings>);
  readonly tokens?: TokenSource;
  readonly isProtected?: PoolOptions['isProtected'];
  readonly rulesVersion?: () => unknown;
  readonly callLimitOf?: PoolOptions['callLimitOf'];
  readonly families?: PoolOptions['families'];
  readonly onOutcome?: PoolOptions['onOutcome'];
  readonly onModelListFailure?: PoolOptions['onModelListFailure'];
  readonly concurrency?: PoolOptions['concurrency'];
  readonly sessionStore?: PoolOptions['sessionStore'];
  readonly notices?: PoolOptions['notices'];
  readonly hearing?: Parameters<typeof createAccountBook>[0]['hearing'];
  readonly sharing?: PoolOptions['sharing'];
  /** Instead of the one upstream. */
  readonly upstreams?: PoolOptions['upstreams'];
  /** An empty one, for accounts that are added later. */
  readonly store?: AccountStore;
}

export interface SeedPool {
  readonly pool: Pool;
  readonly book: AccountBook;
}

/** Account `x` has the label `x@example.org` and the key `key-x`. Random numbers are 0 by default. */
export function createSeedPool(options: SeedPoolOptions): SeedPool {
  const { upstream, clock, random = () => 0 } = options;
  const book = createAccountBook({
    stored: [],
    seeds: options.accounts.map((seed) => seedOf(seed, upstream.id)),
    clock,
    random,
    createId: (prefix) => `${prefix}1`,
    log: { info: () => {}, warn: () => {}, error: () => {} },
    store: options.store,
    notices: options.notices,
    hearing: options.hearing,
  });
  for (const { id, remaining } of options.accounts) {
    if (remaining !== undefined) book.setQuotas(id, new Map([['m', readingOf(remaining, clock)]]));
  }
  const change = options.settings;
  const settings = (): PoolSettings => ({
    mode: 'balance',
    maxWaitMs: 60_000,
    fixedAccount: undefined,
    sessionIdleMs: 3_600_000,
    ...(typeof change === 'function' ? change() : change),
  });
  const pool = createPool({
    book,
    upstreams: options.upstreams ?? new Map([[upstream.id, upstream]]),
    tokens: options.tokens ?? createApiKeySource(book),
    settings,
    isProtected: options.isProtected ?? (() => false),
    rulesVersion: options.rulesVersion ?? (() => undefined),
    callLimitOf: options.callLimitOf,
    families: options.families,
    onOutcome: options.onOutcome,
    concurrency: options.concurrency,
    sessionStore: options.sessionStore,
    sharing: options.sharing,
    clock,
    random,
    onModelListFailure: options.onModelListFailure ?? (() => {}),
  });
  return { pool, book };
}

function seedOf(
  { id, tier, priority, isRenewable, upstreamId }: PoolSeed,
  usualUpstream: string,
): SeedAccount {
  return {
    id,
    label: `${id}@example.org`,
    origin: 'environment',
    upstreamId: upstreamId ?? usualUpstream,
    tier,
    priority,
    credential:
      isRenewable === true
        ? { kind: 'oauth', refreshToken: `refresh-${id}` }
        : { kind: 'api-key', key: `key-${id}` },
  };
}

function readingOf(remainingFraction: number, clock: Clock): QuotaReading {
  const fetchedAt = clock.now();
  return { remainingFraction, resetsAt: undefined, source: 'upstream', fetchedAt };
}
