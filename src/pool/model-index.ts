// The accounts as one routed model sees them, kept current by changes and by time, so that a choice scans none.

import type { Account } from '../accounts/account.ts';
import type { AccountBook, BookChange } from '../accounts/account-book.ts';
import type { Clock } from '../lib/clock.ts';
import { touchLru } from '../lib/lru.ts';
import {
  checkEligibility,
  type Eligibility,
  knownQuota,
  type OwnId,
  type Waiting,
} from './eligibility.ts';
import { createExpiryHeap } from './expiry-heap.ts';
import { type AccountLoad, type Candidate, TIERS_BY_ROOM, tierRank } from './pool.ts';
import type { QuotaReservations } from './quota-reservations.ts';

interface Judgement {
  readonly modelId: string | undefined;
  readonly eligibility: Eligibility;
}

export interface ModelIndexOptions {
  readonly accounts: readonly Account[];
  /** What the model is to an account now. */
  readonly judge: (account: Account, now: number) => Judgement;
  readonly loadOf: (accountId: string) => AccountLoad;
  readonly now: number;
}

/** The accounts that share one reason not to be used. */
export interface UnusableGroup {
  readonly eligibility: Exclude<Eligibility, { kind: 'eligible' }>;
  readonly accountIds: ReadonlySet<string>;
}

/** So many recoveries are looked at in one choice, while others can be chosen meanwhile. */
const MAX_EXPIRIES = 64;

export class ModelIndex {
  readonly #options: ModelIndexOptions;
  /** In the order of the accounts. */
  readonly #candidates = new Map<string, Candidate>();
  readonly #groups = createCandidateGroups();
  readonly #unusable = new Map<string, UnusableGroup & { readonly accountIds: Set<string> }>();
  #expiries = createExpiryHeap();
  #soonest: { readonly value: number | undefined } | undefined;

  constructor(options: ModelIndexOptions) {
    this.#options = options;
    for (const account of options.accounts) this.update(account, options.now);
  }

  get size(): number {
    return this.#candidates.size;
  }

  get eligibleCount(): number {
    return this.#groups.size;
  }

  groups(): Iterable<CandidateGroup> {
    return this.#groups;
  }

  unusableGroups(): Iterable<UnusableGroup> {
    return this.#unusable.values();
  }

  all(): Iterable<Candidate> {
    return this.#candidates.values();
  }

  /** The account as it was last looked at. */
  peek(accountId: string): Candidate | undefined {
    return this.#candidates.get(accountId);
  }

  /** The account as it is at that moment. */
  find(accountId: string, now: number): Candidate | undefined {
    const known = this.#candidates.get(accountId);
    if (known === undefined) return undefined;
    const until = endOf(known.eligibility);
    if (until === undefined || until > now) return known;
    this.update(known.account, now);
    return this.#candidates.get(accountId);
  }

  update(account: Account, now: number): void {
    const { id } = account.record;
    this.#leaveGroup(id);
    const { modelId, eligibility } = this.#options.judge(account, now);
    const candidate = { account, modelId, eligibility, load: this.#options.loadOf(id) };
    this.#candidates.set(id, candidate);
    if (eligibility.kind === 'eligible') {
      if (modelId !== undefined) this.#groups.add(candidate, modelId);
      return;
    }
    this.#joinGroup(id, eligibility);
    const until = endOf(eligibility);
    if (until !== undefined) this.#expireAt(until, id);
  }

  remove(accountId: string): void {
    this.#leaveGroup(accountId);
    this.#candidates.delete(accountId);
  }

  /** Looks at the accounts whose wait is over. */
  wake(now: number): void {
    for (let woken = 0; woken < MAX_EXPIRIES || this.#groups.size === 0; woken += 1) {
      const accountId = this.#expiries.takeDue(now);
      if (accountId === undefined) return;
      this.find(accountId, now);
    }
  }

  /** The soonest end of a wait, in milliseconds since the epoch; undefined when none is known. */
  soonestEnd(): number | undefined {
    this.#soonest ??= { value: soonestOf(this.#candidates.values()) };
    return this.#soonest.value;
  }

  #joinGroup(accountId: string, eligibility: UnusableGroup['eligibility']): void {
    const { verdict } = eligibility;
    const group = this.#unusable.get(verdict);
    if (group !== undefined) group.accountIds.add(accountId);
    else this.#unusable.set(verdict, { eligibility, accountIds: new Set([accountId]) });
  }

  #leaveGroup(accountId: string): void {
    this.#soonest = undefined;
    const known = this.#candidates.get(accountId)?.eligibility;
    if (known === undefined) return;
    if (known.kind === 'eligible') {
      this.#groups.remove(accountId);
      return;
    }
    const group = this.#unusable.get(known.verdict);
    group?.accountIds.delete(accountId);
    if (group?.accountIds.size === 0) this.#unusable.delete(known.verdict);
  }

  /** Moments that no longer hold stay in the heap until they come; too many of them are left out. */
  #expireAt(until: number, accountId: string): void {
    this.#expiries.add(until, accountId);
    if (this.#expiries.size <= 4 * this.#candidates.size + MAX_EXPIRIES) return;
    this.#expiries = createExpiryHeap();
    for (const [id, { eligibility }] of this.#candidates) {
      const end = endOf(eligibility);
      if (end !== undefined) this.#expiries.add(end, id);
    }
  }
}

function endOf(eligibility: Eligibility): number | undefined {
  switch (eligibility.kind) {
    case 'waiting':
    case 'not-offered':
      return eligibility.until;
    case 'eligible':
    case 'unusable':
      return undefined;
    default:
      return eligibility satisfies never;
  }
}

function soonestOf(candidates: Iterable<Candidate>): number | undefined {
  let soonest: number | undefined;
  for (const { eligibility } of candidates) {
    if (!isWaiting(eligibility) || eligibility.until === undefined) continue;
    if (soonest === undefined || eligibility.until < soonest) soonest = eligibility.until;
  }
  return soonest;
}

function isWaiting(eligibility: Eligibility): eligibility is Waiting {
  return eligibility.kind === 'waiting';
}

export type ProtectionRule = (
  account: Account,
  model: { readonly modelId: string; readonly routedModel: string },
) => boolean;

export interface ModelIndexesOptions {
  readonly book: Pick<AccountBook, 'list'>;
  readonly upstreams: { get(id: string): unknown };
  readonly ownIdOf: OwnId;
  readonly isProtected: ProtectionRule;
  readonly rulesVersion: () => unknown;
  readonly reservations: Pick<QuotaReservations, 'hasRoom'>;
  readonly clock: Pick<Clock, 'now'>;
}

export type ModelIndexes = ReturnType<typeof createModelIndexes>;

/** Clients may name any model; the indexes of those not asked for lately are dropped. */
const MAX_INDEXES = 32;

/** The indexes of the models asked for lately: built on first use, kept current with the account book. */
export function createModelIndexes(options: ModelIndexesOptions) {
  const { book, clock, rulesVersion } = options;
  const indexes = new Map<string, ModelIndex>();
  const loads = new Map<string, AccountLoad>();
  let version = rulesVersion();
  const loadOf = (accountId: string): AccountLoad => {
    const known = loads.get(accountId);
    if (known !== undefined) return known;
    const load: AccountLoad = { inFlight: 0, lastUse: 0, lastUsedAt: undefined };
    loads.set(accountId, load);
    return load;
  };
  const build = (model: string): ModelIndex =>
    new ModelIndex({
      accounts: book.list(),
      judge: (account, now) => judge(account, { model, now, options }),
      loadOf,
      now: clock.now(),
    });
  let newest: ModelIndex | undefined;
  const dropOutdated = (): void => {
    const latest = rulesVersion();
    if (latest === version) return;
    version = latest;
    indexes.clear();
  };
  /** The map is in the order of last use; mostly it is in that order already. */
  const moveToEnd = (model: string, index: ModelIndex): void => {
    if (index === newest) return;
    newest = index;
    touchLru(indexes, [model, index], MAX_INDEXES);
  };
  return {
    /** The accounts as a routed model sees them now. */
    of(model: string): ModelIndex {
      dropOutdated();
      const index = indexes.get(model) ?? build(model);
      moveToEnd(model, index);
      index.wake(clock.now());
      return index;
    },
    take({ kind, account }: BookChange): void {
      const { id } = account.record;
      const now = clock.now();
      for (const index of indexes.values()) {
        if (kind === 'removed') index.remove(id);
        else index.update(account, now);
      }
      if (kind === 'removed') loads.delete(id);
    },
    /** Milliseconds since the epoch; undefined when the account was not used since the start. */
    lastUsedAt: (accountId: string): number | undefined => loads.get(accountId)?.lastUsedAt,
  };
}

interface JudgeContext {
  readonly model: string;
  readonly now: number;
  readonly options: ModelIndexesOptions;
}

function judge(account: Account, { model, now, options }: JudgeContext): Judgement {
  const { upstreams, ownIdOf, isProtected, reservations } = options;
  if (upstreams.get(account.record.upstreamId) === undefined) {
    const verdict = `its upstream ${account.record.upstreamId} is not configured`;
    return { modelId: undefined, eligibility: { kind: 'unusable', verdict } };
  }
  const modelId = ownIdOf(account, model);
  const eligibility = checkEligibility({
    account,
    modelId,
    now,
    // A figure whose window is over protects nothing.
    isProtected:
      modelId !== undefined &&
      knownQuota(account, modelId, now) !== undefined &&
      isProtected(account, { modelId, routedModel: model }),
    isReserved: modelId !== undefined && !reservations.hasRoom(account, modelId, now),
  });
  return { modelId, eligibility };
}

/** The accounts that would send the same model id to the same upstream: an overload is theirs together. */
export interface CandidateGroup {
  readonly upstreamId: string;
  readonly modelId: string;
  /** One list of levels a tier, in the order of `TIERS_BY_ROOM`; highest priority first, none empty. */
  readonly tiers: readonly (readonly Rank[])[];
  readonly size: number;
}

/** Accounts of the same priority and tier. */
export interface Rank {
  readonly priority: number;
  readonly members: readonly Candidate[];
}

export interface CandidateGroups extends Iterable<CandidateGroup> {
  add(candidate: Candidate, modelId: string): void;
  remove(accountId: string): void;
  readonly size: number;
}

interface OpenRank {
  readonly priority: number;
  readonly members: Candidate[];
}

interface OpenGroup extends CandidateGroup {
  readonly tiers: readonly OpenRank[][];
  size: number;
}

interface Place {
  readonly lane: OpenGroup;
  readonly levels: OpenRank[];
  readonly level: OpenRank;
  index: number;
}

function createCandidateGroups(): CandidateGroups {
  const lanes = new Map<string, OpenGroup>();
  const places = new Map<string, Place>();
  const laneFor = ({ account }: Candidate, modelId: string): OpenGroup => {
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
      const level = rankOf(levels, priority);
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
function rankOf(levels: OpenRank[], priority: number): OpenRank {
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
