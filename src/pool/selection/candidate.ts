// An eligible account as the selection policies see it, and what a policy is.

import type { LeaseRequest, Tier } from '../pool.ts';

export interface Candidate {
  readonly accountId: string;
  readonly label: string;
  readonly tier: Tier | undefined;
  /** Higher goes first among equals. */
  readonly priority: number;
  readonly inFlight: number;
  /** Milliseconds since the epoch; 0 when never used. */
  readonly lastUsedAt: number;
}

export interface SelectionContext {
  readonly request: LeaseRequest;
  /** The account the session is bound to, when it is. */
  readonly boundAccountId: string | undefined;
  /** A random number in [0, 1). */
  readonly random: () => number;
}

/** Narrows the candidates; returns them unchanged when it has nothing to say. Never returns none. */
export type SelectionPolicy = (
  candidates: readonly Candidate[],
  context: SelectionContext,
) => readonly Candidate[];

/** The matching candidates, or all of them when none matches. */
export function preferring(
  candidates: readonly Candidate[],
  matches: (candidate: Candidate) => boolean,
): readonly Candidate[] {
  const matching = candidates.filter(matches);
  return matching.length === 0 ? candidates : matching;
}
