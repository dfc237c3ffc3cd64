// One account as the pool holds it: its seed, health, model list and use.

import type { AccountAccess, Upstream, UpstreamModel } from '../upstreams/upstream.ts';
import { type AccountHealth, HEALTHY } from './health.ts';
import type { AccountView, Tier } from './pool.ts';
import type { Candidate } from './selection/candidate.ts';

export interface AccountSeed {
  readonly id: string;
  readonly label: string;
  readonly tier?: Tier | undefined;
  readonly priority?: number | undefined;
  readonly upstream: Upstream;
  readonly access: AccountAccess;
}

export class PooledAccount {
  readonly seed: AccountSeed;
  health: AccountHealth = HEALTHY;
  models: ReadonlyMap<string, UpstreamModel> | undefined;
  modelsReadAt = Number.NEGATIVE_INFINITY;
  inFlight = 0;
  lastUsedAt = 0;

  constructor(seed: AccountSeed) {
    this.seed = seed;
  }

  /** The account's own id of a routed model; without a list, the upstream's first choice. */
  modelIdFor(model: string): string | undefined {
    const ids = this.seed.upstream.modelIds(model);
    return this.models === undefined ? ids[0] : ids.find((id) => this.models?.has(id));
  }

  candidate(): Candidate {
    const { id, label, tier, priority = 0 } = this.seed;
    const { inFlight, lastUsedAt } = this;
    return { accountId: id, label, tier, priority, inFlight, lastUsedAt };
  }

  view(): AccountView {
    const { id, label, tier, upstream } = this.seed;
    return { id, label, tier, upstreamId: upstream.id, models: this.models };
  }
}
