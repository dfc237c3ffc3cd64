// The accounts as one routed model sees them, kept current by changes and by time, so that a choice scans none.

import type { Account } from '../accounts/account.ts';
import type { AccountLoad, Candidate } from './candidate.ts';
import type { Eligibility, Waiting } from './eligibility.ts';
import { createLanes, type Lane } from './lanes.ts';
import { createWakeTimes } from './wake-times.ts';

export interface Judgement {
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
export interface Group {
  readonly eligibility: Exclude<Eligibility, { kind: 'eligible' }>;
  readonly accountIds: ReadonlySet<string>;
}

/** So many recoveries are looked at in one choice, while others can be chosen meanwhile. */
const MOST_WAKES = 64;

export class ModelIndex {
  readonly #options: ModelIndexOptions;
  /** In the order of the accounts. */
  readonly #candidates = new Map<string, Candidate>();
  readonly #lanes = createLanes();
  readonly #groups = new Map<string, Group & { readonly accountIds: Set<string> }>();
  #wakes = createWakeTimes();
  #soonest: { readonly value: number | undefined } | undefined;

  constructor(options: ModelIndexOptions) {
    this.#options = options;
    for (const account of options.accounts) this.update(account, options.now);
  }

  get size(): number {
    return this.#candidates.size;
  }

  get eligibleCount(): number {
    return this.#lanes.size;
  }

  lanes(): Iterable<Lane> {
    return this.#lanes;
  }

  groups(): Iterable<Group> {
    return this.#groups.values();
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
      if (modelId !== undefined) this.#lanes.add(candidate, modelId);
      return;
    }
    this.#joinGroup(id, eligibility);
    const until = endOf(eligibility);
    if (until !== undefined) this.#wakeAt(until, id);
  }

  remove(accountId: string): void {
    this.#leaveGroup(accountId);
    this.#candidates.delete(accountId);
  }

  /** Looks at the accounts whose wait is over. */
  wake(now: number): void {
    for (let woken = 0; woken < MOST_WAKES || this.#lanes.size === 0; woken += 1) {
      const accountId = this.#wakes.takeDue(now);
      if (accountId === undefined) return;
      this.find(accountId, now);
    }
  }

  /** The soonest end of a wait, in milliseconds since the epoch; undefined when none is known. */
  soonestEnd(): number | undefined {
    this.#soonest ??= { value: soonestOf(this.#candidates.values()) };
    return this.#soonest.value;
  }

  #joinGroup(accountId: string, eligibility: Group['eligibility']): void {
    const { verdict } = eligibility;
    const group = this.#groups.get(verdict);
    if (group !== undefined) group.accountIds.add(accountId);
    else this.#groups.set(verdict, { eligibility, accountIds: new Set([accountId]) });
  }

  #leaveGroup(accountId: string): void {
    this.#soonest = undefined;
    const known = this.#candidates.get(accountId)?.eligibility;
    if (known === undefined) return;
    if (known.kind === 'eligible') {
      this.#lanes.remove(accountId);
      return;
    }
    const group = this.#groups.get(known.verdict);
    group?.accountIds.delete(accountId);
    if (group?.accountIds.size === 0) this.#groups.delete(known.verdict);
  }

  /** Moments that no longer hold stay in the heap until they come; too many of them are left out. */
  #wakeAt(until: number, accountId: string): void {
    this.#wakes.add(until, accountId);
    if (this.#wakes.size <= 4 * this.#candidates.size + MOST_WAKES) return;
    this.#wakes = createWakeTimes();
    for (const [id, { eligibility }] of this.#candidates) {
      const end = endOf(eligibility);
      if (end !== undefined) this.#wakes.add(end, id);
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
