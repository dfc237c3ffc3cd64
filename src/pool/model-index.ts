// The accounts as one routed model sees them, kept current by changes and by time, so that a choice scans none.

import type { Account } from '../accounts/account.ts';
import type { BookChange } from '../accounts/account-book.ts';
import { isDisabledOnPurpose } from '../accounts/health.ts';
import { touchLru } from '../lib/collections.ts';
import { compareCodePoints } from '../lib/names.ts';
import { checkEligibility, type Eligibility, knownQuota, type OwnId } from './eligibility.ts';
import {
  type AccountLoad,
  type Candidate,
  type CandidateGroup,
  type LeaseRequest,
  type PoolOptions,
  placeOf,
  type Rank,
  TIERS_BY_ROOM,
} from './pool.ts';
import type { QuotaReservations } from './quota-reservations.ts';

/** The accounts that share one reason not to be used. */
interface UnusableGroup {
  readonly eligibility: Exclude<Eligibility, { kind: 'eligible' }>;
  readonly accountIds: Set<string>;
}

/** So many recoveries are looked at in one choice, while others can be chosen meanwhile. */
const MAX_EXPIRIES = 64;

export class ModelIndex {
  /** In the order of the accounts, each as it was last looked at. */
  readonly candidates = new Map<string, Candidate>();
  readonly groups: CandidateGroup[] = [];
  /** By their verdict, those that are tried all the same apart. */
  readonly unusable = new Map<string, UnusableGroup>();
  eligibleCount = 0;
  readonly #look: (account: Account, now: number) => Candidate;
  expiries = new ExpiryHeap();
  #soonest: { readonly value: number | undefined } | undefined;

  constructor(look: (account: Account, now: number) => Candidate) {
    this.#look = look;
  }

  /** The account as it is at that moment. */
  find(accountId: string, now: number): Candidate | undefined {
    const known = this.candidates.get(accountId);
    if (known === undefined || (endOf(known) ?? now + 1) > now) return known;
    return this.update(known.account, now);
  }

  update(account: Account, now: number): Candidate {
    const { id } = account.record;
    this.#leaveGroup(id);
    const candidate = this.#look(account, now);
    const { modelId, eligibility } = candidate;
    this.candidates.set(id, candidate);
    if (eligibility.kind === 'eligible') {
      if (modelId !== undefined) this.#rank(candidate, modelId);
      return candidate;
    }
    const name = groupOf(eligibility);
    const group = this.unusable.get(name);
    if (group !== undefined) group.accountIds.add(id);
    else this.unusable.set(name, { eligibility, accountIds: new Set([id]) });
    this.#expire(candidate);
    return candidate;
  }

  remove(accountId: string): void {
    this.#leaveGroup(accountId);
    this.candidates.delete(accountId);
  }

  /** Looks at the accounts whose wait is over. */
  wake(now: number): void {
    for (let woken = 0; woken < MAX_EXPIRIES || this.eligibleCount === 0; woken += 1) {
      const accountId = this.expiries.takeDue(now);
      if (accountId === undefined) return;
      this.find(accountId, now);
    }
  }

  /** The soonest end of a wait, in milliseconds since the epoch; undefined when none is known. */
  soonestEnd(): number | undefined {
    if (this.#soonest === undefined) {
      let value = Number.POSITIVE_INFINITY;
      for (const { eligibility } of this.candidates.values()) {
        if (eligibility.kind !== 'waiting' || eligibility.isEndUnknown === true) continue;
        value = Math.min(value, eligibility.until ?? value);
      }
      this.#soonest = { value: Number.isFinite(value) ? value : undefined };
    }
    return this.#soonest.value;
  }

  #leaveGroup(accountId: string): void {
    this.#soonest = undefined;
    const known = this.candidates.get(accountId);
    if (known === undefined) return;
    const { eligibility, place } = known;
    if (eligibility.kind !== 'eligible') {
      const name = groupOf(eligibility);
      const group = this.unusable.get(name);
      group?.accountIds.delete(accountId);
      if (group?.accountIds.size === 0) this.unusable.delete(name);
      return;
    }
    if (place === undefined) return;
    const { group, ranks, rank, index } = place;
    const last = rank.members.pop();
    if (last !== undefined && last !== known) {
      rank.members[index] = last;
      if (last.place !== undefined) last.place.index = index;
    }
    if (rank.members.length === 0) ranks.splice(ranks.indexOf(rank), 1);
    group.size -= 1;
    if (known.account.models !== undefined) group.listed -= 1;
    this.eligibleCount -= 1;
  }

  #rank(candidate: Candidate, modelId: string): void {
    const { upstreamId, tier, priority } = candidate.account.record;
    let group = this.groups.find((one) => one.upstreamId === upstreamId && one.modelId === modelId);
    if (group === undefined) {
      group = { upstreamId, modelId, tiers: TIERS_BY_ROOM.map(() => []), size: 0, listed: 0 };
      this.groups.push(group);
    }
    const ranks = group.tiers[TIERS_BY_ROOM.indexOf(tier)];
    if (ranks === undefined) return;
    const rank = rankOf(ranks, priority);
    candidate.place = { group, ranks, rank, index: rank.members.length };
    rank.members.push(candidate);
    group.size += 1;
    if (candidate.account.models !== undefined) group.listed += 1;
    this.eligibleCount += 1;
  }

  /** Moments that no longer hold stay in the heap until they come; too many of them are left out. */
  #expire(candidate: Candidate): void {
    this.expiries.add(candidate.account.record.id, endOf(candidate));
    if (this.expiries.size <= 4 * this.candidates.size + MAX_EXPIRIES) return;
    this.expiries = new ExpiryHeap();
    for (const [id, known] of this.candidates) this.expiries.add(id, endOf(known));
  }
}

function groupOf(eligibility: UnusableGroup['eligibility']): string {
  const isTried = eligibility.kind === 'waiting' && eligibility.triedEveryMs !== undefined;
  return isTried ? `${eligibility.verdict}, tried` : eligibility.verdict;
}

function endOf({ eligibility }: Candidate): number | undefined {
  return 'until' in eligibility ? eligibility.until : undefined;
}

/** The rank of that priority, put in its place when it is new. */
function rankOf(ranks: Rank[], priority: number): Rank {
  let low = 0;
  let high = ranks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranks[middle]?.priority ?? Number.NEGATIVE_INFINITY) > priority) low = middle + 1;
    else high = middle;
  }
  const found = ranks[low];
  if (found?.priority === priority) return found;
  const rank: Rank = { priority, members: [] };
  ranks.splice(low, 0, rank);
  return rank;
}

type Asked = Pick<LeaseRequest, 'model' | 'upstreamId'>;

/** Clients may name any model; the indexes of those not asked for lately are dropped. */
const MAX_INDEXES = 32;
/** Limits of a minute are over before anybody could act. */
const LONG_WAIT_MS = 60_000;

/** The indexes of the models asked for lately: built on first use, kept current with the account book. */
export class ModelIndexes {
  readonly #options: PoolOptions;
  readonly #ownIdOf: OwnId;
  readonly #reservations: QuotaReservations;
  readonly #indexes = new Map<string, ModelIndex>();
  readonly #loads = new Map<string, AccountLoad>();
  #version: unknown;
  /** What was asked for last, which is mostly asked for again. */
  #newest: (Asked & { readonly index: ModelIndex }) | undefined;

  constructor(options: PoolOptions, ownIdOf: OwnId, reservations: QuotaReservations) {
    this.#options = options;
    this.#ownIdOf = ownIdOf;
    this.#reservations = reservations;
    this.#version = options.rulesVersion();
  }

  /** The accounts as a routed model sees them now. */
  of(request: Asked, now: number): ModelIndex {
    const latest = this.#options.rulesVersion();
    if (latest !== this.#version) {
      this.#indexes.clear();
      this.#newest = undefined;
    }
    this.#version = latest;
    const { model, upstreamId } = request;
    let newest = this.#newest;
    if (newest?.model !== model || newest.upstreamId !== upstreamId) {
      const place = placeOf(request);
      const found = this.#indexes.get(place) ?? this.#build(request, now);
      // The map is in the order of last use.
      touchLru(this.#indexes, [place, found], MAX_INDEXES);
      newest = { model, upstreamId, index: found };
      this.#newest = newest;
    }
    const { index } = newest;
    if (index.expiries.soonest <= now) index.wake(now);
    return index;
  }

  take({ kind, account }: BookChange): void {
    const { id } = account.record;
    const now = this.#options.clock.now();
    for (const index of this.#indexes.values()) {
      if (kind === 'removed') index.remove(id);
      else index.update(account, now);
    }
    if (kind === 'removed') this.#loads.delete(id);
  }

  /** Milliseconds since the epoch; undefined when the account was not used since the start. */
  lastUsedAt(accountId: string): number | undefined {
    return this.#loads.get(accountId)?.lastUsedAt;
  }

  /** The first models that accounts offer and none can serve for a while. Those disabled on purpose offer nothing. */
  unserved(most: number, now: number): readonly string[] {
    const accounts = this.#options.book.list();
    /** By the name that they are asked for by. */
    const offered = new Map<string, Asked>();
    const served = new Set<string>();
    for (const account of accounts) {
      if (isDisabledOnPurpose(account)) continue;
      for (const model of account.models?.keys() ?? []) {
        const [name, asked] = this.#askFor(account, model);
        if (!served.has(name) && this.#serves(account, asked, now)) served.add(name);
        offered.set(name, asked);
      }
    }
    const unserved: string[] = [];
    for (const [name, asked] of [...offered].sort(([a], [b]) => compareCodePoints(a, b))) {
      if (unserved.length === most) break;
      // Another version, or a list that is not known yet, may stand in.
      if (served.has(name) || accounts.some((one) => this.#serves(one, asked, now))) continue;
      unserved.push(name);
    }
    return unserved;
  }

  #askFor({ record: { upstreamId } }: Account, model: string): readonly [string, Asked] {
    const isNamed = this.#options.upstreams.get(upstreamId)?.servesByNameOnly === true;
    return isNamed ? [`${upstreamId}/${model}`, { model, upstreamId }] : [model, { model }];
  }

  #serves(account: Account, asked: Asked, now: number): boolean {
    const { eligibility } = this.#look(account, asked, now);
    if (eligibility.kind === 'eligible') return true;
    return 'until' in eligibility && (eligibility.until ?? Infinity) - now < LONG_WAIT_MS;
  }

  #build(request: Asked, now: number): ModelIndex {
    const { model, upstreamId } = request;
    // Not the request itself: what it was asked for with would stay as long as the index.
    const asked: Asked = { model, upstreamId };
    const index = new ModelIndex((account, at) => this.#look(account, asked, at));
    for (const account of this.#options.book.list()) index.update(account, now);
    this.#indexes.set(placeOf(request), index);
    return index;
  }

  #look(account: Account, asked: Asked, now: number): Candidate {
    const { upstreams, isProtected } = this.#options;
    const { id, upstreamId } = account.record;
    const load = this.#loads.get(id) ?? { inFlight: 0, lastUse: 0, lastUsedAt: undefined };
    this.#loads.set(id, load);
    const routedModel = asked.model;
    const upstream = upstreams.get(upstreamId);
    if (upstream === undefined) {
      const verdict = `its upstream ${upstreamId} is not configured`;
      // An account that is disabled, or of another upstream, is no reason why a model nobody offers cannot be had.
      const isOther = asked.upstreamId !== undefined && asked.upstreamId !== upstreamId;
      const isNoReason = isOther || account.health.status.kind === 'disabled';
      const eligibility: Eligibility = { kind: isNoReason ? 'not-offered' : 'unusable', verdict };
      return {
        ...{ account, upstreamId, modelId: undefined, draws: false },
        ...{ eligibility, load, place: undefined },
      };
    }
    const isAsked =
      asked.upstreamId === undefined
        ? upstream.servesByNameOnly !== true
        : asked.upstreamId === upstreamId;
    const modelId = isAsked ? this.#ownIdOf(account, routedModel) : undefined;
    const eligibility = checkEligibility({
      account,
      modelId,
      now,
      // A figure whose window is over protects nothing.
      isProtected:
        modelId !== undefined &&
        knownQuota(account, modelId, now) !== undefined &&
        isProtected(account, { modelId, routedModel }),
      isReserved: modelId !== undefined && !this.#reservations.hasRoom(account, modelId, now),
    });
    const draws = modelId !== undefined && upstream.capabilities(modelId, undefined).drawsImages;
    return { account, upstreamId, modelId, draws, eligibility, load, place: undefined };
  }
}

interface Wake {
  readonly at: number;
  readonly accountId: string;
}

class ExpiryHeap {
  /** The moment of the first one; infinity while it is empty. */
  soonest = Number.POSITIVE_INFINITY;
  readonly #heap: Wake[] = [];

  get size(): number {
    return this.#heap.length;
  }

  /** Nothing for a moment that never comes. */
  add(accountId: string, at: number | undefined): void {
    if (at === undefined) return;
    this.#heap.push({ at, accountId });
    this.soonest = Math.min(this.soonest, at);
    for (let index = this.#heap.length - 1; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (!this.#swapWhenLater(parent, index)) return;
      index = parent;
    }
  }

  /** Takes the soonest one out when its moment has come. */
  takeDue(now: number): string | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.at > now) return undefined;
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink();
    }
    this.soonest = this.#heap[0]?.at ?? Number.POSITIVE_INFINITY;
    return first.accountId;
  }

  #sink(): void {
    for (let index = 0; ; ) {
      const left = 2 * index + 1;
      const [one, other] = [this.#heap[left], this.#heap[left + 1]];
      const sooner = other !== undefined && one !== undefined && other.at < one.at ? 1 : 0;
      if (!this.#swapWhenLater(index, left + sooner)) return;
      index = left + sooner;
    }
  }

  #swapWhenLater(parent: number, child: number): boolean {
    const [one, other] = [this.#heap[parent], this.#heap[child]];
    if (one === undefined || other === undefined || one.at <= other.at) return false;
    this.#heap[parent] = other;
    this.#heap[child] = one;
    return true;
  }
}
