// Chooses one account: the ordered policies; the first that names an account decides.

import { preferBoundSession } from './bound-session.ts';
import type { Choice, SelectionContext, SelectionPolicy } from './choice.ts';
import { useFixedAccount } from './fixed-account.ts';
import { preferMostRoom } from './most-room.ts';
import { preferPreferredAccount } from './preferred-account.ts';
import { preferRequestedTier } from './requested-tier.ts';

const POLICIES: readonly SelectionPolicy[] = [
  useFixedAccount,
  preferPreferredAccount,
  preferBoundSession,
  preferRequestedTier,
  preferMostRoom,
];

export function chooseAccount(context: SelectionContext): Choice | undefined {
  for (const policy of POLICIES) {
    const choice = policy(context);
    if (choice !== undefined) return choice;
  }
  return undefined;
}
