// One account as the choice for one model sees it, and how busy it is.

import type { Account, Tier } from '../accounts/account.ts';
import type { Eligibility } from './eligibility.ts';

/** How busy an account is; one object an account, shared by the models. */
export interface AccountLoad {
  inFlight: number;
  /** The number of its last use among all uses of the pool; 0 when never used. */
  lastUse: number;
  /** Milliseconds since the epoch; undefined when never used. */
  lastUsedAt: number | undefined;
}

/** Immutable but for its load: what is found anew makes a new candidate. */
export interface Candidate {
  readonly account: Account;
  /** The account's own id of the model; undefined when it does not offer it. */
  readonly modelId: string | undefined;
  readonly eligibility: Eligibility;
  readonly load: AccountLoad;
}

/** The accounts with the most room first. */
export const TIERS_BY_ROOM: readonly (Tier | undefined)[] = ['ultra', 'pro', 'free', undefined];

export function tierRank(tier: Tier | undefined): number {
  return TIERS_BY_ROOM.indexOf(tier);
}
