// Priority first, then the tiers with the most room: ultra, pro, free.

import { TIERS_BY_ROOM } from '../candidate.ts';
import { bestLevels } from './best-levels.ts';
import type { SelectionPolicy } from './choice.ts';
import { pickOfTwo } from './spread.ts';

const ALL_TIERS = [...TIERS_BY_ROOM.keys()];

export const preferMostRoom: SelectionPolicy = ({ usable, random }) => {
  const levels = bestLevels(usable, ALL_TIERS);
  const candidate = pickOfTwo(levels, { usable, random });
  return candidate && { candidate, by: 'most-room' };
};
