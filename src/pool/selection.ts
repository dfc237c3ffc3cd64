// Chooses one account: a verdict on each candidate, then the ordered policies; the first that names one decides.

import { type Eligibility, knownQuota } from './eligibility.ts';
import type { CandidateGroup, ModelIndex, Rank } from './model-index.ts';
import type { AccountLabels } from './model-lists.ts';
import type { Overloads } from './overload.ts';
import { type Candidate, type LeaseRequest, TIERS_BY_ROOM, tierRank } from './pool.ts';
import type { HealthBand, SuccessShares } from './success-shares.ts';

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

/** What one account is to one request. The choice, the refusal and the selection log all go by it. */
export type Verdict =
  | Eligibility
  | {
      readonly kind: 'overloaded';
      readonly verdict: string;
      /** Until the upstream is surely asked again for the model. */
      readonly waitMs: number;
    }
  | { readonly kind: 'tried'; readonly verdict: string };

export const OVERLOADED = 'upstream is overloaded';
export const TRIED: Verdict = { kind: 'tried', verdict: 'already tried' };

const ALL_TIERS = [...TIERS_BY_ROOM.keys()];

export function chooseAccount(context: SelectionContext): Choice | undefined {
  const { request, usable, fixedAccount, boundAccountIds, random } = context;
  if (fixedAccount !== undefined) {
    const candidate = usable.byId(fixedAccount) ?? usable.byLabel(fixedAccount)[0];
    if (candidate !== undefined) return { candidate, by: 'fixed-account' };
  }
  if (request.preferredAccount !== undefined) {
    const candidate = usable.byLabel(request.preferredAccount)[0];
    if (candidate !== undefined) return { candidate, by: 'preferred-account' };
  }
  // A session stays on its account, so that upstream prompt caching pays.
  for (const accountId of boundAccountIds) {
    const candidate = usable.byId(accountId);
    if (candidate !== undefined) return { candidate, by: 'session' };
  }
  if (request.preferredTier !== undefined) {
    const candidate = pickOfTwo(usable, [tierRank(request.preferredTier)], random);
    if (candidate !== undefined) return { candidate, by: 'preferred-tier' };
  }
  // Priority first, then the tiers with the most room: ultra, pro, free.
  const candidate = pickOfTwo(usable, ALL_TIERS, random);
  return candidate && { candidate, by: 'most-room' };
}

/**
 * Of two random accounts the one with more quota left, then fewer calls, then longer unused. The best
 * of all would draw a herd when many requests choose at once.
 */
function pickOfTwo(
  usable: UsableCandidates,
  tierRanks: readonly number[],
  random: () => number,
): Candidate | undefined {
  const ranks = bestRanks(usable, tierRanks);
  let total = 0;
  for (const { members } of ranks) total += members.length;
  if (total === 0) return undefined;
  const start = Math.floor(random() * total);
  const first = nextLeft(ranks, { start, total, usable });
  if (first === undefined || total === 1) return first?.candidate;
  const offset = 1 + Math.floor(random() * (total - 1));
  const second = nextLeft(ranks, { start: first.place + offset, total, usable });
  if (second === undefined || second.place === first.place) return first.candidate;
  return usable.isBetter(second.candidate, first.candidate) ? second.candidate : first.candidate;
}

/** The best-ranked rank of each group with a usable account: of the highest priority, then of the best tier. */
function bestRanks(usable: UsableCandidates, tierRanks: readonly number[]): readonly Rank[] {
  let best: { readonly priority: number; readonly tier: number } | undefined;
  let ranks: Rank[] = [];
  for (const group of usable.groups()) {
    for (const tier of tierRanks) {
      const rank = usable.firstLeft(group.tiers[tier] ?? []);
      if (rank === undefined) continue;
      const { priority } = rank;
      const order = best === undefined ? 1 : priority - best.priority || best.tier - tier;
      if (order > 0) [best, ranks] = [{ priority, tier }, [rank]];
      else if (order === 0) ranks.push(rank);
    }
  }
  return ranks;
}

interface Walk {
  readonly start: number;
  readonly total: number;
  readonly usable: UsableCandidates;
}

/** Steps over the few accounts this request has tried or leaves aside. */
function nextLeft(
  ranks: readonly Rank[],
  { start, total, usable }: Walk,
): { readonly candidate: Candidate; readonly place: number } | undefined {
  for (let step = 0; step < total; step += 1) {
    const place = (start + step) % total;
    let index = place;
    for (const { members } of ranks) {
      const candidate = members[index];
      index -= members.length;
      if (candidate === undefined) continue;
      if (usable.isLeft(candidate)) return { candidate, place };
      break;
    }
  }
  return undefined;
}

export interface UsableOptions {
  readonly index: ModelIndex;
  readonly overloads: Overloads;
  readonly shares: SuccessShares;
  readonly random: () => number;
  readonly isDryRun: boolean;
  readonly labels: Pick<AccountLabels, 'idsOf'>;
  /** Accounts already tried for this request. */
  readonly tried: ReadonlySet<string>;
  readonly now: number;
}

/** Differences below this are noise: quota readings are minutes old, and every call changes them a little. */
const EQUAL_WITHIN = 0.05;

/** The accounts one request may use now: eligible, not tried by it, not throttled, and of the best health left. */
export class UsableCandidates {
  readonly #options: UsableOptions;
  /** Accounts of lower bands than this are left aside. */
  lowestBand: HealthBand = 2;
  /** Whether a group is throttled is decided once a request. */
  readonly #refusals = new Map<string, number>();

  constructor(options: UsableOptions) {
    this.#options = options;
  }

  verdictOf(candidate: Candidate): Verdict {
    if (candidate.eligibility.kind !== 'eligible') return candidate.eligibility;
    const waitMs = this.overloadMs(candidate);
    if (waitMs > 0) return { kind: 'overloaded', verdict: OVERLOADED, waitMs };
    return this.isTried(candidate) ? TRIED : candidate.eligibility;
  }

  byId(accountId: string): Candidate | undefined {
    const { index, now } = this.#options;
    const candidate = index.find(accountId, now);
    if (candidate === undefined || !this.isLeft(candidate)) return undefined;
    return this.verdictOf(candidate).kind === 'eligible' ? candidate : undefined;
  }

  /** Best priority first. */
  byLabel(label: string): readonly Candidate[] {
    const ids = [...this.#options.labels.idsOf(label)];
    return ids
      .flatMap((id) => this.byId(id) ?? [])
      .toSorted((a, b) => b.account.record.priority - a.account.record.priority);
  }

  /** A stand-by account: it serves requests that name it, although real accounts go first. */
  onCall(label: string): Candidate | undefined {
    for (const id of this.#options.labels.idsOf(label)) {
      const candidate = this.#options.index.peek(id);
      if (candidate?.eligibility.kind !== 'unusable' || this.isTried(candidate)) continue;
      if (candidate.eligibility.isOnCall === true) return candidate;
    }
    return undefined;
  }

  *groups(): Iterable<CandidateGroup> {
    for (const group of this.#options.index.groups()) {
      if (group.size > 0 && this.groupOverloadMs(group) === 0) yield group;
    }
  }

  /** The first rank with an account that is left; the ranks of a tier begin with the highest priority. */
  firstLeft(ranks: readonly Rank[]): Rank | undefined {
    const { tried, shares } = this.#options;
    const most = tried.size + (this.lowestBand === 2 ? 0 : shares.loweredCount);
    for (const rank of ranks) {
      const { members } = rank;
      if (members.length > most || members.some((member) => this.isLeft(member))) return rank;
    }
    return undefined;
  }

  /** Not tried by this request, and of a band that is looked at now. */
  isLeft(candidate: Candidate): boolean {
    return !this.isTried(candidate) && !this.isLowered(candidate);
  }

  /** True while accounts of better health are left. */
  isLowered(candidate: Candidate): boolean {
    return this.lowestBand < 2 && this.bandOf(candidate) > this.lowestBand;
  }

  bandOf({ account, modelId }: Candidate): HealthBand {
    const { shares, now } = this.#options;
    return modelId === undefined ? 0 : shares.bandOf(account.record.id, modelId, now);
  }

  isTried({ account }: Candidate): boolean {
    return this.#options.tried.has(account.record.id);
  }

  isBetter(a: Candidate, b: Candidate): boolean {
    const [leftA, leftB] = [this.#remainingOf(a), this.#remainingOf(b)];
    const isKnown = leftA !== undefined && leftB !== undefined;
    if (isKnown && Math.abs(leftA - leftB) > EQUAL_WITHIN) return leftA > leftB;
    if (a.load.inFlight !== b.load.inFlight) return a.load.inFlight < b.load.inFlight;
    return a.load.lastUse < b.load.lastUse;
  }

  /** What is known to be left of the model's quota, 0 to 1. */
  #remainingOf({ account, modelId }: Candidate): number | undefined {
    if (modelId === undefined || account.quotas.size === 0) return undefined;
    return knownQuota(account, modelId, this.#options.now)?.remainingFraction;
  }

  overloadMs({ account, modelId }: Candidate): number {
    if (modelId === undefined) return 0;
    return this.groupOverloadMs({ upstreamId: account.record.upstreamId, modelId });
  }

  groupOverloadMs({ upstreamId, modelId }: Pick<CandidateGroup, 'upstreamId' | 'modelId'>): number {
    const { overloads, now, random, isDryRun } = this.#options;
    const key = `${upstreamId} ${modelId}`;
    const known = this.#refusals.get(key);
    if (known !== undefined) return known;
    const refusalMs = overloads.refusalMs(upstreamId, modelId, { now, random, isDryRun });
    this.#refusals.set(key, refusalMs);
    return refusalMs;
  }
}
