// Finds the accounts of the highest priority and, among those, of the best tier.

import type { Level } from '../lanes.ts';
import type { UsableCandidates } from '../usable-candidates.ts';

/** Levels of equal rank, one a lane, each with an account that can be used; none when there is none. */
export function bestLevels(
  usable: UsableCandidates,
  tierRanks: readonly number[],
): readonly Level[] {
  let best: { readonly priority: number; readonly rank: number } | undefined;
  let levels: Level[] = [];
  for (const lane of usable.lanes()) {
    for (const rank of tierRanks) {
      const level = lane.tiers[rank]?.find((one) => usable.hasLeft(one));
      if (level === undefined) continue;
      const { priority } = level;
      const order = best === undefined ? 1 : priority - best.priority || best.rank - rank;
      if (order > 0) [best, levels] = [{ priority, rank }, [level]];
      else if (order === 0) levels.push(level);
    }
  }
  return levels;
}
