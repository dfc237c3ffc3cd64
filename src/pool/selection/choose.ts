// Chooses one account: the ordered policies, each narrowing what the one before it left.

import { preferBoundSession } from './bound-session.ts';
import type { Candidate, SelectionContext, SelectionPolicy } from './candidate.ts';
import { preferPreferredAccount } from './preferred-account.ts';
import { spreadByTwoChoices } from './spread.ts';
import { preferHighestTier, preferPriority, preferRequestedTier } from './tier.ts';

const POLICIES: readonly SelectionPolicy[] = [
  preferPreferredAccount,
  preferBoundSession,
  preferRequestedTier,
  preferPriority,
  preferHighestTier,
  spreadByTwoChoices,
];

export function chooseAccount(
  candidates: readonly Candidate[],
  context: SelectionContext,
): Candidate | undefined {
  return POLICIES.reduce(
    (left, policy) => (left.length <= 1 ? left : policy(left, context)),
    candidates,
  )[0];
}
