// A pool over one fake upstream and a fake clock, and short ways to lease from it.

import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts';
import { createFakeUpstream } from '../../test/support/fake-upstream.ts';
import {
  createSeedPool,
  type SeedPool,
  type SeedPoolOptions,
} from '../../test/support/seed-pool.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import type { Lease, LeaseRequest, LeaseResult } from './pool.ts';

export interface PoolBench extends SeedPool {
  readonly clock: FakeClock;
  /** The result as it is. */
  ask(change?: Partial<LeaseRequest>): LeaseResult;
  /** @throws Error when there is none. */
  lease(change?: Partial<LeaseRequest>): Lease;
  /** Leases, ends with that failure or well, and gives the account's id. */
  use(change?: Partial<LeaseRequest>, failure?: UpstreamFailure): string;
  /** The verdict on each account of a lease, by id. */
  verdicts(change?: Partial<LeaseRequest>): Readonly<Record<string, string>>;
}

export type PoolBenchOptions = Omit<SeedPoolOptions, 'clock' | 'upstream'> &
  Partial<Pick<SeedPoolOptions, 'upstream'>>;

export function createPoolBench(options: PoolBenchOptions): PoolBench {
  const clock = createFakeClock();
  const upstream = createFakeUpstream(() => ({ fail: { kind: 'path' } }));
  const seeded = createSeedPool({ upstream, clock, ...options });
  const ask = (change: Partial<LeaseRequest> = {}): LeaseResult =>
    seeded.pool.lease({ model: 'm', exclude: new Set(), clientKeyId: 'k', ...change });
  const lease = (change?: Partial<LeaseRequest>): Lease => {
    const result = ask(change);
    if (result.kind !== 'lease') throw new Error(`no lease: ${JSON.stringify(result)}`);
    return result.lease;
  };
  return {
    ...seeded,
    clock,
    ask,
    lease,
    use(change, failure) {
      const leased = lease(change);
      leased.release(failure === undefined ? { kind: 'success' } : { kind: 'failure', failure });
      return leased.account.id;
    },
    verdicts(change) {
      const result = ask(change);
      const selectionLog =
        result.kind === 'lease' ? result.lease.selectionLog : result.selectionLog;
      if (result.kind === 'lease') result.lease.release({ kind: 'neutral' });
      return Object.fromEntries(
        selectionLog.flatMap((one) => ('accountId' in one ? [[one.accountId, one.verdict]] : [])),
      );
    },
  };
}

/** Numbers in [0, 1) that look random and are the same in every run. */
export function createSeededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
