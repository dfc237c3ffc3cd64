// Chooses one account: the ordered policies; the first that names an account decides.

import type { Rank, UsableCandidates } from './model-index.ts';
import { type Candidate, type LeaseRequest, TIERS_BY_ROOM, tierRank } from './pool.ts';

// The operator's fixed account: every request goes to it while it can be used.

const useFixedAccount: SelectionPolicy = ({ usable, fixedAccount }) => {
  if (fixedAccount === undefined) return undefined;
  const candidate = usable.byId(fixedAccount) ?? usable.byLabel(fixedAccount)[0];
  return candidate && { candidate, by: 'fixed-account' };
};

// `X-Preferred-Account`: the account with that e-mail, when it can be used.

const preferPreferredAccount: SelectionPolicy = ({ usable, request }) => {
  if (request.preferredAccount === undefined) return undefined;
  const candidate = usable.byLabel(request.preferredAccount)[0];
  return candidate && { candidate, by: 'preferred-account' };
};

// Keeps a session on the account it is bound to, so that upstream prompt caching pays.

const preferBoundSession: SelectionPolicy = ({ usable, boundAccountIds }) => {
  for (const accountId of boundAccountIds) {
    const candidate = usable.byId(accountId);
    if (candidate !== undefined) return { candidate, by: 'session' };
  }
  return undefined;
};

// `X-Model-Tier`: the accounts of the tier the client asked for, when one can be used.

const preferRequestedTier: SelectionPolicy = ({ usable, request, random }) => {
  if (request.preferredTier === undefined) return undefined;
  const levels = bestRanks(usable, [tierRank(request.preferredTier)]);
  const candidate = pickOfTwo(levels, { usable, random });
  return candidate && { candidate, by: 'preferred-tier' };
};

// Finds the accounts of the highest priority and, among those, of the best tier.

/** Levels of equal rank, one a lane, each with an account that can be used; none when there is none. */
function bestRanks(usable: UsableCandidates, tierRanks: readonly number[]): readonly Rank[] {
  let best: { readonly priority: number; readonly rank: number } | undefined;
  let levels: Rank[] = [];
  for (const lane of usable.groups()) {
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

// Spreads load: of two random accounts the one with more quota left, then less to do, then longer unused.

interface SpreadContext {
  readonly usable: Pick<UsableCandidates, 'isLeft' | 'remainingOf'>;
  readonly random: () => number;
}

/** Figures are minutes old and every call changes them a little: closer ones count as equal. */
const EQUAL_WITHIN = 0.05;

/** Power of two choices avoids the herd that "the best of all" draws when many ask at once. */
function pickOfTwo(
  levels: readonly Rank[],
  { usable, random }: SpreadContext,
): Candidate | undefined {
  const total = levels.reduce((sum, { members }) => sum + members.length, 0);
  if (total === 0) return undefined;
  const start = Math.floor(random() * total);
  const first = nextLeft(levels, { start, total, usable });
  if (first === undefined) return undefined;
  if (total === 1) return first.candidate;
  const offset = 1 + Math.floor(random() * (total - 1));
  const second = nextLeft(levels, { start: first.place + offset, total, usable });
  if (second === undefined || second.place === first.place) return first.candidate;
  return isBetter(second.candidate, first.candidate, usable) ? second.candidate : first.candidate;
}

interface Walk {
  readonly start: number;
  readonly total: number;
  readonly usable: SpreadContext['usable'];
}

/** Steps over the few accounts this request has tried or leaves aside. */
function nextLeft(
  levels: readonly Rank[],
  { start, total, usable }: Walk,
): { readonly candidate: Candidate; readonly place: number } | undefined {
  for (let step = 0; step < total; step += 1) {
    const place = (start + step) % total;
    const candidate = memberAt(levels, place);
    if (candidate !== undefined && usable.isLeft(candidate)) return { candidate, place };
  }
  return undefined;
}

function memberAt(levels: readonly Rank[], place: number): Candidate | undefined {
  let index = place;
  for (const { members } of levels) {
    if (index < members.length) return members[index];
    index -= members.length;
  }
  return undefined;
}

function isBetter(a: Candidate, b: Candidate, usable: SpreadContext['usable']): boolean {
  const [leftA, leftB] = [usable.remainingOf(a), usable.remainingOf(b)];
  const isKnown = leftA !== undefined && leftB !== undefined;
  if (isKnown && Math.abs(leftA - leftB) > EQUAL_WITHIN) return leftA > leftB;
  if (a.load.inFlight !== b.load.inFlight) return a.load.inFlight < b.load.inFlight;
  return a.load.lastUse < b.load.lastUse;
}

// Priority first, then the tiers with the most room: ultra, pro, free.

const ALL_TIERS = [...TIERS_BY_ROOM.keys()];

const preferMostRoom: SelectionPolicy = ({ usable, random }) => {
  const levels = bestRanks(usable, ALL_TIERS);
  const candidate = pickOfTwo(levels, { usable, random });
  return candidate && { candidate, by: 'most-room' };
};

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

// What a selection policy is: it names an account, or leaves the choice to the next one.

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

type SelectionPolicy = (context: SelectionContext) => Choice | undefined;
