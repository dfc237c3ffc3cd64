// The accounts one request may use now: eligible, not tried by it, not throttled, and of the best health left.

import type { Candidate } from './candidate.ts';
import { knownQuota } from './known-quota.ts';
import type { Lane, Level } from './lanes.ts';
import type { ModelIndex } from './model-index.ts';
import type { Overloads } from './overload.ts';
import type { HealthBand, SuccessShares } from './success-shares.ts';

export interface UsableOptions {
  readonly index: ModelIndex;
  readonly overloads: Overloads;
  readonly shares: SuccessShares;
  readonly random: () => number;
  readonly isDryRun: boolean;
  /** The ids of the accounts with that label, in any case. */
  readonly idsOf: (label: string) => Iterable<string>;
  /** Accounts already tried for this request. */
  readonly tried: ReadonlySet<string>;
  readonly now: number;
}

export class UsableCandidates {
  readonly #options: UsableOptions;
  /** Accounts of lower bands than this are left aside. */
  lowestBand: HealthBand = 2;
  /** Whether a lane is throttled is decided once a request. */
  readonly #refusals = new Map<string, number>();

  constructor(options: UsableOptions) {
    this.#options = options;
  }

  byId(accountId: string): Candidate | undefined {
    const { index, now } = this.#options;
    const candidate = index.find(accountId, now);
    if (candidate?.eligibility.kind !== 'eligible' || !this.isLeft(candidate)) return undefined;
    return this.overloadMs(candidate) > 0 ? undefined : candidate;
  }

  /** Best priority first. */
  byLabel(label: string): readonly Candidate[] {
    const ids = [...this.#options.idsOf(label)];
    return ids
      .flatMap((id) => this.byId(id) ?? [])
      .toSorted((a, b) => b.account.record.priority - a.account.record.priority);
  }

  /** One that rests beside real accounts, and serves who asks for it by name. */
  onCall(label: string): Candidate | undefined {
    return [...this.#options.idsOf(label)]
      .map((id) => this.#options.index.peek(id))
      .find((candidate) => {
        const { eligibility } = candidate ?? {};
        const isOnCall = eligibility?.kind === 'unusable' && eligibility.isOnCall === true;
        return candidate !== undefined && isOnCall && !this.isTried(candidate);
      });
  }

  *lanes(): Iterable<Lane> {
    for (const lane of this.#options.index.lanes()) {
      if (lane.size > 0 && this.laneOverloadMs(lane) === 0) yield lane;
    }
  }

  hasLeft({ members }: Level): boolean {
    const { tried, shares } = this.#options;
    const most = tried.size + (this.lowestBand === 2 ? 0 : shares.loweredCount);
    return members.length > most || members.some((member) => this.isLeft(member));
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

  /** What is known to be left of the model's quota, 0 to 1. */
  remainingOf({ account, modelId }: Candidate): number | undefined {
    if (modelId === undefined) return undefined;
    return knownQuota(account, modelId, this.#options.now)?.remainingFraction;
  }

  overloadMs({ account, modelId }: Candidate): number {
    if (modelId === undefined) return 0;
    return this.laneOverloadMs({ upstreamId: account.record.upstreamId, modelId });
  }

  laneOverloadMs({ upstreamId, modelId }: Pick<Lane, 'upstreamId' | 'modelId'>): number {
    const { overloads, now, random, isDryRun } = this.#options;
    const key = `${upstreamId} ${modelId}`;
    const known = this.#refusals.get(key);
    if (known !== undefined) return known;
    const refusalMs = overloads.refusalMs(upstreamId, modelId, { now, random, isDryRun });
    this.#refusals.set(key, refusalMs);
    return refusalMs;
  }
}
