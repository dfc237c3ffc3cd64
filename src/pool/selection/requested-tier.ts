// `X-Model-Tier`: the accounts of the tier the client asked for, when one can be used.

import { tierRank } from '../candidate.ts';
import { bestLevels } from './best-levels.ts';
import type { SelectionPolicy } from './choice.ts';
import { pickOfTwo } from './spread.ts';

export const preferRequestedTier: SelectionPolicy = ({ usable, request, random }) => {
  if (request.preferredTier === undefined) return undefined;
  const levels = bestLevels(usable, [tierRank(request.preferredTier)]);
  const candidate = pickOfTwo(levels, { usable, random });
  return candidate && { candidate, by: 'preferred-tier' };
};
