// Chooses one account for one request: the first of the ordered policies that names one, or why none.

import type { SelectionLogEntry } from '../canonical/call-record.ts';
import type { UpstreamModel } from '../canonical/model.ts';
import {
  areAlike,
  lackingOf,
  type Need,
  type NeedSet,
  needSet,
  worstOf,
} from '../canonical/needs.ts';
import type { AccountLabels } from './account-labels.ts';
import { type Eligibility, knownShare, type WaitingCause } from './eligibility.ts';
import type { ModelIndex } from './model-index.ts';
import type { Overloads } from './overload.ts';
import {
  type Candidate,
  type CandidateGroup,
  type LeaseRequest,
  type LeaseResult,
  type PoolOptions,
  type Rank,
  TIERS_BY_ROOM,
} from './pool.ts';
import type { Place, Slots } from './slots.ts';
import type { HealthBand, SuccessShares } from './success-shares.ts';

export interface Choice {
  readonly candidate: Candidate;
  readonly by: keyof typeof CHOSEN;
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
  | { readonly kind: 'tried' | 'busy'; readonly verdict: string };

export const OVERLOADED = 'upstream is overloaded';
export const TRIED: Verdict = { kind: 'tried', verdict: 'already tried' };

const BUSY: Verdict = { kind: 'busy', verdict: 'is at its concurrency limit' };

const ALL_TIERS = [...TIERS_BY_ROOM.keys()];
/** Differences below this are noise: quota readings are minutes old, and every call changes them a little. */
const EQUAL_WITHIN = 0.05;

const CHOSEN = {
  'fixed-account': 'chosen (the fixed account)',
  'preferred-account': 'chosen (the preferred account)',
  session: 'chosen (the account of the session)',
  'preferred-tier': 'chosen (of the requested tier)',
  'most-room': 'chosen',
  trial: 'chosen (to see whether it serves again)',
} as const;
const LOWERED = 'fails more than others';
/** Of one that would lose more of the request than the chosen one. */
const LOSING: Readonly<Record<Need, string>> = {
  'own-fields': 'cannot be sent all fields of the request',
  'serial-calls': 'cannot be limited to one call at a time',
  mask: 'does not support masks',
  prefill: 'does not support prefill',
  thinking: 'does not support thinking',
  format: 'does not support output formats',
  'format-with-tools': 'does not support output formats together with tools',
  schema: 'does not support a response schema',
  'code-execution': 'does not run code',
  'url-context': 'does not open web pages',
  'web-search': 'does not search the web',
  'server-tools-with-functions': 'does not support server tools together with functions',
  version: 'has only another version of the model',
  family: 'has only a model of another family',
  document: 'does not accept documents',
  video: 'does not accept video',
  audio: 'does not accept audio',
  image: 'does not accept images',
  functions: 'does not support functions',
  speech: 'does not generate speech',
  drawing: 'does not generate images',
  'forced-call': 'does not support forced calls',
  logprobs: 'does not give log-probabilities',
  'token-count': 'does not count tokens',
  'own-wire': 'cannot be sent the request as it came',
};
const PASSED_OVER = 'another was preferred';
/** Up to so many accounts stand in a selection log one by one. */
const MAX_LISTED = 50;
const EXAMPLES = 3;

interface SelectionSources extends Pick<PoolOptions, 'upstreams' | 'families'> {
  readonly overloads: Overloads;
  readonly shares: SuccessShares;
  readonly slots: Pick<Slots, 'isFull' | 'isLimited'>;
  readonly labels: Pick<AccountLabels, 'idsOf'>;
  readonly random: () => number;
}

type Throttled = Pick<Candidate, 'upstreamId' | 'modelId'>;

/** The accounts one request may use now: eligible, not tried by it, not throttled, and of the best health left. */
export class Selection {
  readonly request: LeaseRequest;
  readonly index: ModelIndex;
  readonly now: number;
  readonly #sources: SelectionSources;
  /** A look waits for nothing. */
  readonly #mindsSlots: boolean;
  /** With one group there is none that would lose less than another. */
  readonly #hasGroups: boolean;
  /** Accounts of lower bands than this are left aside. */
  lowestBand: HealthBand = 2;
  /** Whether a group is throttled is decided once a request. */
  #refusals: Map<string, number> | undefined;
  #losses: { readonly byGroup: ReadonlyMap<CandidateGroup, NeedSet> | undefined } | undefined;
  /** Those that lose least, of the accounts down to a band. */
  #fitting: { readonly band: HealthBand; readonly groups: readonly CandidateGroup[] } | undefined;

  constructor(request: LeaseRequest, index: ModelIndex, now: number, sources: SelectionSources) {
    this.request = request;
    this.index = index;
    this.now = now;
    this.#sources = sources;
    this.#mindsSlots = request.isDryRun !== true && sources.slots.isLimited();
    this.#hasGroups = index.groups.length > 1;
  }

  /** `boundAccountIds` are those of the session, best first. */
  choose(fixedAccount: string | undefined, boundAccountIds: readonly string[]): Choice | undefined {
    const { preferredAccount, preferredTier } = this.request;
    if (fixedAccount !== undefined) {
      const candidate = this.#byId(fixedAccount) ?? this.byLabel(fixedAccount);
      if (candidate !== undefined) return { candidate, by: 'fixed-account' };
    }
    if (preferredAccount !== undefined) {
      const candidate = this.byLabel(preferredAccount);
      if (candidate !== undefined) return { candidate, by: 'preferred-account' };
    }
    // A session stays on its account, so that upstream prompt caching pays.
    for (const accountId of boundAccountIds) {
      const candidate = this.#byId(accountId);
      if (candidate !== undefined && this.losesLeast(candidate))
        return { candidate, by: 'session' };
    }
    if (preferredTier !== undefined) {
      const candidate = this.#pickOfTwo([TIERS_BY_ROOM.indexOf(preferredTier)]);
      if (candidate !== undefined) return { candidate, by: 'preferred-tier' };
    }
    // Priority first, then the tiers with the most room: ultra, pro, free.
    const candidate = this.#pickOfTwo(ALL_TIERS);
    return candidate && { candidate, by: 'most-room' };
  }

  /** Of the best priority where several have that label. */
  byLabel(label: string): Candidate | undefined {
    let best: Candidate | undefined;
    for (const id of this.#sources.labels.idsOf(label)) {
      const candidate = this.#byId(id);
      const { priority = Number.NEGATIVE_INFINITY } = best?.account.record ?? {};
      if (candidate !== undefined && candidate.account.record.priority > priority) best = candidate;
    }
    return best;
  }

  /** A stand-by account: it serves requests that name it, although real accounts go first. */
  onCall(label: string): Candidate | undefined {
    for (const id of this.#sources.labels.idsOf(label)) {
      const candidate = this.index.candidates.get(id);
      if (candidate?.eligibility.kind !== 'unusable') continue;
      if (this.request.exclude?.has(id) === true) continue;
      if (candidate.eligibility.isOnCall === true) return candidate;
    }
    return undefined;
  }

  /** Those of a lower band that it may try now, and whose answer would be as good. */
  lowered(): readonly Candidate[] {
    const { shares } = this.#sources;
    const found = [...shares.lowered].flatMap(({ accountId }) => this.#byId(accountId) ?? []);
    const isResting = ({ account, modelId = '' }: Candidate): boolean =>
      shares.isResting(account.record.id, modelId, this.now);
    return found.filter((one) => this.#bandOf(one) > 0 && !isResting(one) && this.losesLeast(one));
  }

  verdictOf(candidate: Candidate): Verdict {
    const { account, eligibility } = candidate;
    if (eligibility.kind !== 'eligible') return eligibility;
    const waitMs = this.overloadMs(candidate);
    if (waitMs > 0) return { kind: 'overloaded', verdict: OVERLOADED, waitMs };
    if (this.request.exclude?.has(account.record.id) === true) return TRIED;
    return this.#mindsSlots && this.#isFull(candidate) ? BUSY : eligibility;
  }

  /** Those that could serve it but for the calls they have under way. */
  busyPlaces(): readonly Place[] {
    const { onlyAccount } = this.request;
    const only = onlyAccount === undefined ? undefined : this.#sources.labels.idsOf(onlyAccount);
    const places: Place[] = [];
    for (const { upstreamId, tiers } of this.index.groups) {
      for (const member of tiers.flat().flatMap(({ members }) => members)) {
        const { id: accountId } = member.account.record;
        const isAsked = only === undefined || only.has(accountId);
        if (isAsked && this.verdictOf(member).kind === 'busy')
          places.push({ accountId, upstreamId });
      }
    }
    return places;
  }

  #isFull({ account, upstreamId }: Candidate): boolean {
    const place = { accountId: account.record.id, upstreamId };
    return this.#sources.slots.isFull(place, this.request.admitted);
  }

  /** Not tried by this request, not full, and of a band that is looked at now. */
  isLeft(candidate: Candidate): boolean {
    const { exclude } = this.request;
    if (exclude?.has(candidate.account.record.id) === true) return false;
    if (this.#mindsSlots && this.#isFull(candidate)) return false;
    return this.lowestBand === 2 || this.#bandOf(candidate) <= this.lowestBand;
  }

  /** The groups whose upstream is throttled, with how long. */
  overloaded(): ReadonlyMap<CandidateGroup, number> {
    const waits = new Map<CandidateGroup, number>();
    for (const group of this.index.groups) {
      const waitMs = group.size === 0 ? 0 : this.overloadMs(group);
      if (waitMs > 0) waits.set(group, waitMs);
    }
    return waits;
  }

  /** Until the upstream is surely asked again for the model; 0 when this request may ask it now. */
  overloadMs({ upstreamId, modelId }: Throttled): number {
    const { overloads, random } = this.#sources;
    if (overloads.failing.size === 0 && this.#refusals === undefined) return 0;
    if (modelId === undefined) return 0;
    const key = `${upstreamId} ${modelId}`;
    this.#refusals ??= new Map();
    const known = this.#refusals.get(key);
    if (known !== undefined) return known;
    const look = { now: this.now, random, isDryRun: this.request.isDryRun === true };
    const refusalMs = overloads.refusalMs(upstreamId, modelId, look);
    this.#refusals.set(key, refusalMs);
    return refusalMs;
  }

  /** True where no account that is left would lose less of the request. */
  losesLeast({ place }: Candidate): boolean {
    return place === undefined || this.#fittingGroups().includes(place.group);
  }

  /** The groups that would lose least of the request, of those with an account left. */
  #fittingGroups(): readonly CandidateGroup[] {
    const losses = this.#hasGroups ? this.#lossByGroup() : undefined;
    if (losses === undefined) return this.index.groups;
    const band = this.lowestBand;
    if (this.#fitting?.band === band) return this.#fitting.groups;
    let least = Number.POSITIVE_INFINITY;
    let groups: CandidateGroup[] = [];
    for (const [group, loss] of losses) {
      if (loss > least || !this.#hasLeft(group)) continue;
      if (loss < least) [least, groups] = [loss, []];
      groups.push(group);
    }
    this.#fitting = { band, groups };
    return groups;
  }

  #hasLeft(group: CandidateGroup): boolean {
    if (this.overloadMs(group) > 0) return false;
    return group.tiers.some((ranks) => this.#firstLeft(ranks) !== undefined);
  }

  /** Undefined where all lose the same; the request is read only where they might not. */
  #lossByGroup(): ReadonlyMap<CandidateGroup, NeedSet> | undefined {
    this.#losses ??= { byGroup: this.#findLosses() };
    return this.#losses.byGroup;
  }

  #findLosses(): ReadonlyMap<CandidateGroup, NeedSet> | undefined {
    const { needs } = this.request;
    const { groups } = this.index;
    if (needs === undefined) return undefined;
    const lacking = lackingByGroup(groups, this.request, this.#sources);
    if (areAlike([...lacking.values()])) return undefined;
    const needed = needs.read();
    return new Map([...lacking].map(([group, lacks]) => [group, needed & lacks]));
  }

  /** The worst that one would lose of the request and the chosen one keeps, where that is why it was passed over. */
  #moreLost(group: CandidateGroup | undefined, choice: Choice | undefined): Need | undefined {
    const chosenGroup = choice?.candidate.place?.group;
    if (group === undefined || chosenGroup === undefined || wasNamed(choice)) return undefined;
    const losses = this.#lossByGroup();
    if (losses === undefined) return undefined;
    const [loss, chosen] = [losses.get(group) ?? 0, losses.get(chosenGroup) ?? 0];
    return loss > chosen ? worstOf(loss & ~chosen) : undefined;
  }

  #byId(accountId: string): Candidate | undefined {
    const candidate = this.index.find(accountId, this.now);
    if (candidate === undefined || !this.isLeft(candidate)) return undefined;
    return this.verdictOf(candidate).kind === 'eligible' ? candidate : undefined;
  }

  #bandOf({ account, modelId }: Candidate): HealthBand {
    if (modelId === undefined) return 0;
    return this.#sources.shares.bandOf(account.record.id, modelId, this.now);
  }

  /** The better of two random accounts: always taking the best would send all requests to it at once. */
  #pickOfTwo(tiers: readonly number[]): Candidate | undefined {
    const { random } = this.#sources;
    const ranks = this.#bestRanks(tiers);
    let total = 0;
    for (const { members } of ranks) total += members.length;
    if (total === 0) return undefined;
    const start = Math.floor(random() * total);
    const first = this.#nextLeft(ranks, start, total);
    if (first < 0 || total === 1) return memberAt(ranks, first);
    const second = this.#nextLeft(ranks, first + 1 + Math.floor(random() * (total - 1)), total);
    const [one, other] = [memberAt(ranks, first), memberAt(ranks, second)];
    if (one === undefined || other === undefined || one === other) return one;
    return this.#isBetter(other, one) ? other : one;
  }

  /** The best rank of each group: highest priority, then surely has the model, then best tier. */
  #bestRanks(tiers: readonly number[]): readonly Rank[] {
    let ranks: Rank[] = [];
    let [bestPriority, bestGuess, bestTier] = [Number.NEGATIVE_INFINITY, 0, 0];
    for (const group of this.#fittingGroups()) {
      if (group.size === 0 || this.overloadMs(group) > 0) continue;
      // Where no list of its accounts names the model, that the upstream has it is a guess.
      const guess = group.listed === 0 ? 1 : 0;
      for (const tier of tiers) {
        const rank = this.#firstLeft(group.tiers[tier]);
        if (rank === undefined) continue;
        const order = rank.priority - bestPriority || bestGuess - guess || bestTier - tier;
        if (order > 0) {
          [bestPriority, bestGuess, bestTier, ranks] = [rank.priority, guess, tier, [rank]];
        } else if (order === 0) ranks.push(rank);
      }
    }
    return ranks;
  }

  /** The first rank with an account that is left; the ranks of a tier begin with the highest priority. */
  #firstLeft(ranks: readonly Rank[] = []): Rank | undefined {
    const lowered = this.lowestBand === 2 ? 0 : this.#sources.shares.lowered.size;
    const most = (this.request.exclude?.size ?? 0) + lowered;
    for (const rank of ranks) {
      const { members } = rank;
      const isSure = members.length > most && !this.#mindsSlots;
      if (isSure || members.some((member) => this.isLeft(member))) return rank;
    }
    return undefined;
  }

  /** The place of the next one, from `start` on: steps over the few this request has tried or leaves aside. */
  #nextLeft(ranks: readonly Rank[], start: number, total: number): number {
    for (let step = 0; step < total; step += 1) {
      const place = (start + step) % total;
      const candidate = memberAt(ranks, place);
      if (candidate !== undefined && this.isLeft(candidate)) return place;
    }
    return -1;
  }

  #isBetter(a: Candidate, b: Candidate): boolean {
    const [leftA, leftB] = [remainingOf(a, this.now), remainingOf(b, this.now)];
    const isKnown = leftA !== undefined && leftB !== undefined;
    if (isKnown && Math.abs(leftA - leftB) > EQUAL_WITHIN) return leftA > leftB;
    if (a.load.inFlight !== b.load.inFlight) return a.load.inFlight < b.load.inFlight;
    return a.load.lastUse < b.load.lastUse;
  }

  /** Why this account: each with its verdict, or of more than fifty each verdict with its accounts. */
  log(choice: Choice | undefined): readonly SelectionLogEntry[] {
    const { candidates, unusable, groups } = this.index;
    if (candidates.size <= MAX_LISTED) return this.logEach(candidates.values(), choice);
    const listed = this.#listed(choice);
    const entries = [...this.logEach(listed, choice)];
    for (const { eligibility, accountIds } of unusable.values()) {
      const { verdict } = eligibility;
      entries.push({
        count: accountIds.size,
        verdict,
        accountIds: [...accountIds.values().take(EXAMPLES)],
      });
    }
    const overloaded = [...this.overloaded().keys()];
    const others = groups.filter((group) => !overloaded.includes(group));
    entries.push(...logGroups(overloaded, OVERLOADED, new Set()));
    const byLoss = Map.groupBy(others, (group) => this.#moreLost(group, choice));
    for (const [lost, alike] of byLoss) {
      entries.push(...logGroups(alike, lost === undefined ? PASSED_OVER : LOSING[lost], listed));
    }
    return entries;
  }

  logEach(candidates: Iterable<Candidate>, choice: Choice | undefined): SelectionLogEntry[] {
    const entries: SelectionLogEntry[] = [];
    for (const candidate of candidates) {
      const accountId = candidate.account.record.id;
      let verdict: string;
      if (candidate === choice?.candidate) verdict = CHOSEN[choice.by];
      else {
        const found = this.verdictOf(candidate);
        verdict = found.kind === 'eligible' ? this.#whyNot(candidate, choice) : found.verdict;
      }
      entries.push({ accountId, verdict });
    }
    return entries;
  }

  #whyNot(candidate: Candidate, choice: Choice | undefined): string {
    if (this.lowestBand < 2 && this.#bandOf(candidate) > this.lowestBand) return LOWERED;
    const lost = this.#hasGroups ? this.#moreLost(candidate.place?.group, choice) : undefined;
    if (lost !== undefined) return LOSING[lost];
    if (choice?.by !== 'most-room') return PASSED_OVER;
    const { priority, tier } = candidate.account.record;
    const winner = choice.candidate.account.record;
    if (priority < winner.priority) return 'has a lower priority';
    const [group, chosen] = [candidate.place?.group, choice.candidate.place?.group];
    if (group?.listed === 0 && chosen && chosen.listed > 0) return 'may not have the model';
    const isLower = TIERS_BY_ROOM.indexOf(tier) > TIERS_BY_ROOM.indexOf(winner.tier);
    return isLower ? 'is of a lower tier' : PASSED_OVER;
  }

  #listed(choice: Choice | undefined): ReadonlySet<Candidate> {
    const listed = new Set(choice && [choice.candidate]);
    for (const accountId of this.request.exclude ?? []) {
      const candidate = this.index.candidates.get(accountId);
      if (candidate !== undefined && this.verdictOf(candidate) === TRIED) listed.add(candidate);
    }
    return listed;
  }
}

/** Who is asked for by name serves, whatever is lost. */
function wasNamed(choice: Choice | undefined): boolean {
  return choice?.by === 'fixed-account' || choice?.by === 'preferred-account';
}

function memberAt(ranks: readonly Rank[], place: number): Candidate | undefined {
  let index = place;
  for (const { members } of ranks) {
    if (index < members.length) return members[index];
    index -= members.length;
  }
  return undefined;
}

/** What is known to be left of the model's quota, 0 to 1. */
function remainingOf({ account, modelId }: Candidate, now: number): number | undefined {
  if (modelId === undefined || account.quotas.size === 0) return undefined;
  return knownShare(account, modelId, now);
}

function logGroups(
  groups: readonly CandidateGroup[],
  verdict: string,
  listed: ReadonlySet<Candidate>,
): readonly SelectionLogEntry[] {
  const isHere = ({ place }: Candidate): boolean =>
    place !== undefined && groups.includes(place.group);
  const apart = [...listed].filter(isHere).length;
  const count = groups.reduce((sum, { size }) => sum + size, 0) - apart;
  if (count <= 0) return [];
  const accountIds: string[] = [];
  for (const { members } of groups.flatMap(({ tiers }) => tiers.flat())) {
    for (const member of members) {
      if (listed.has(member)) continue;
      if (accountIds.push(member.account.record.id) === EXAMPLES) {
        return [{ count, verdict, accountIds }];
      }
    }
  }
  return [{ count, verdict, accountIds }];
}

/** Of the groups with an account that is eligible. */
export function lackingByGroup(
  groups: readonly CandidateGroup[],
  { model, needs }: Pick<LeaseRequest, 'model' | 'needs'>,
  { upstreams, families }: Pick<PoolOptions, 'upstreams' | 'families'>,
): ReadonlyMap<CandidateGroup, NeedSet> {
  const found = new Map<CandidateGroup, NeedSet>();
  for (const group of groups) {
    const upstream = group.size === 0 ? undefined : upstreams.get(group.upstreamId);
    if (upstream === undefined) continue;
    const capabilities = upstream.capabilities(group.modelId, listedModel(group));
    const lacking = lackingOf({ wire: upstream.wire, capabilities }, needs?.wire);
    const loss = families?.().lossOf(model, group.modelId);
    found.set(group, loss === undefined ? lacking : lacking | needSet(loss));
  }
  return found;
}

/** As the list of one of them has it: the accounts of an upstream read the same one. */
function listedModel({ tiers, modelId }: CandidateGroup): UpstreamModel | undefined {
  const ranks = tiers.find(({ length }) => length > 0);
  return ranks?.[0]?.members[0]?.account.models?.get(modelId);
}

/** By then the quota of an account that gave no reset time is read again. */
const UNKNOWN_RECOVERY_MS = 300_000;
const LIMITS: readonly WaitingCause[] = ['limited', 'exhausted', 'protected'];

interface NoAccountFacts {
  /** One of each kind is enough. */
  readonly verdicts: readonly Verdict[];
  /** The soonest end of a wait, from now; undefined when none is known. */
  readonly soonestMs: number | undefined;
  readonly selectionLog: readonly SelectionLogEntry[];
}

/** The most hopeful reason: failed for this request, overloaded, limited for a time, then gone. */
export function noAccountReason(facts: NoAccountFacts): LeaseResult {
  const { verdicts, soonestMs: retryAfterMs, selectionLog } = facts;
  const kinds = new Set(verdicts.map(({ kind }) => kind));
  if (kinds.has('tried')) return { kind: 'none', reason: 'all-tried', selectionLog };
  if (kinds.has('overloaded')) {
    return { kind: 'none', reason: 'overloaded', retryAfterMs, selectionLog };
  }
  const causes = verdicts.flatMap((one) => (one.kind === 'waiting' ? [one.cause] : []));
  if (causes.some((cause) => LIMITS.includes(cause))) {
    const limitedMs = retryAfterMs ?? UNKNOWN_RECOVERY_MS;
    return { kind: 'none', reason: 'limited', retryAfterMs: limitedMs, selectionLog };
  }
  if (causes.length > 0) return { kind: 'none', reason: 'unusable', retryAfterMs, selectionLog };
  const isUnusable = verdicts.some(
    (one) => one.kind === 'unusable' && (one.isStandIn !== true || !kinds.has('not-offered')),
  );
  return { kind: 'none', reason: isUnusable ? 'unusable' : 'not-offered', selectionLog };
}
