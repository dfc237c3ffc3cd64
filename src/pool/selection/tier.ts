// Prefers the tier the client asked for, then the accounts with the most room: ultra, pro, free.

import type { Tier } from '../pool.ts';
import { preferring, type SelectionPolicy } from './candidate.ts';

const BY_ROOM: readonly (Tier | undefined)[] = ['ultra', 'pro', 'free', undefined];

export const preferRequestedTier: SelectionPolicy = (candidates, { request }) =>
  request.preferredTier === undefined
    ? candidates
    : preferring(candidates, (candidate) => candidate.tier === request.preferredTier);

export const preferHighestTier: SelectionPolicy = (candidates) => {
  const best = BY_ROOM.find((tier) => candidates.some((candidate) => candidate.tier === tier));
  return candidates.filter((candidate) => candidate.tier === best);
};

export const preferPriority: SelectionPolicy = (candidates) => {
  const highest = Math.max(...candidates.map((candidate) => candidate.priority));
  return candidates.filter((candidate) => candidate.priority === highest);
};
