// What a selection policy is: it names an account, or leaves the choice to the next one.

import type { Candidate } from '../candidate.ts';
import type { LeaseRequest } from '../pool.ts';
import type { UsableCandidates } from '../usable-candidates.ts';

export interface Choice {
  readonly candidate: Candidate;
  readonly by: ChosenBy;
}

/** Which policy chose. */
export type ChosenBy =
  | 'fixed-account'
  | 'preferred-account'
  | 'session'
  | 'preferred-tier'
  | 'most-room'
  | 'trial';

export interface SelectionContext {
  readonly request: LeaseRequest;
  readonly usable: UsableCandidates;
  /** Id or label of the operator's fixed account. */
  readonly fixedAccount: string | undefined;
  /** The accounts the session is bound to, best first. */
  readonly boundAccountIds: readonly string[];
  /** A random number in [0, 1). */
  readonly random: () => number;
}

export type SelectionPolicy = (context: SelectionContext) => Choice | undefined;
