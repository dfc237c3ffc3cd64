// The eligible accounts of one model, kept in order: by upstream and model id, tier, and priority.

import { type Candidate, TIERS_BY_ROOM, tierRank } from './candidate.ts';

/** The accounts that would send the same model id to the same upstream: an overload is theirs together. */
export interface Lane {
  readonly upstreamId: string;
  readonly modelId: string;
  /** One list of levels a tier, in the order of `TIERS_BY_ROOM`; highest priority first, none empty. */
  readonly tiers: readonly (readonly Level[])[];
  readonly size: number;
}

/** Accounts of the same priority and tier. */
export interface Level {
  readonly priority: number;
  readonly members: readonly Candidate[];
}

export interface Lanes extends Iterable<Lane> {
  add(candidate: Candidate, modelId: string): void;
  remove(accountId: string): void;
  readonly size: number;
}

interface OpenLevel {
  readonly priority: number;
  readonly members: Candidate[];
}

interface OpenLane extends Lane {
  readonly tiers: readonly OpenLevel[][];
  size: number;
}

interface Place {
  readonly lane: OpenLane;
  readonly levels: OpenLevel[];
  readonly level: OpenLevel;
  index: number;
}

export function createLanes(): Lanes {
  const lanes = new Map<string, OpenLane>();
  const places = new Map<string, Place>();
  const laneFor = ({ account }: Candidate, modelId: string): OpenLane => {
    const { upstreamId } = account.record;
    const key = `${upstreamId} ${modelId}`;
    const known = lanes.get(key);
    if (known !== undefined) return known;
    const lane = { upstreamId, modelId, tiers: TIERS_BY_ROOM.map(() => []), size: 0 };
    lanes.set(key, lane);
    return lane;
  };
  return {
    add(candidate, modelId) {
      const { id, tier, priority } = candidate.account.record;
      const lane = laneFor(candidate, modelId);
      const levels = lane.tiers[tierRank(tier)];
      if (levels === undefined) return;
      const level = levelOf(levels, priority);
      places.set(id, { lane, levels, level, index: level.members.length });
      level.members.push(candidate);
      lane.size += 1;
    },
    remove(accountId) {
      const place = places.get(accountId);
      if (place === undefined) return;
      places.delete(accountId);
      const { lane, levels, level, index } = place;
      const last = level.members.pop();
      if (last !== undefined && index < level.members.length) {
        level.members[index] = last;
        const moved = places.get(last.account.record.id);
        if (moved !== undefined) moved.index = index;
      }
      if (level.members.length === 0) levels.splice(levels.indexOf(level), 1);
      lane.size -= 1;
    },
    get size() {
      return places.size;
    },
    [Symbol.iterator]: () => lanes.values(),
  };
}

/** The level of that priority, put in its place when it is new. */
function levelOf(levels: OpenLevel[], priority: number): OpenLevel {
  let low = 0;
  let high = levels.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((levels[middle]?.priority ?? Number.NEGATIVE_INFINITY) > priority) low = middle + 1;
    else high = middle;
  }
  const found = levels[low];
  if (found?.priority === priority) return found;
  const level = { priority, members: [] };
  levels.splice(low, 0, level);
  return level;
}
