// The accounts one request may use now: eligible, not tried by it, and not behind an overload.

import type { Candidate } from './candidate.ts';
import { knownQuota } from './known-quota.ts';
import type { Lane, Level } from './lanes.ts';
import type { ModelIndex } from './model-index.ts';
import type { Overloads } from './overload.ts';

export interface UsableOptions {
  readonly index: ModelIndex;
  readonly overloads: Overloads;
  /** The ids of the accounts with that label, in any case. */
  readonly idsOf: (label: string) => Iterable<string>;
  /** Accounts already tried for this request. */
  readonly tried: ReadonlySet<string>;
  readonly now: number;
}

export class UsableCandidates {
  readonly #options: UsableOptions;

  constructor(options: UsableOptions) {
    this.#options = options;
  }

  byId(accountId: string): Candidate | undefined {
    const { index, now } = this.#options;
    const candidate = index.find(accountId, now);
    if (candidate?.eligibility.kind !== 'eligible' || this.isTried(candidate)) return undefined;
    return this.overloadMs(candidate) > 0 ? undefined : candidate;
  }

  /** Best priority first. */
  byLabel(label: string): readonly Candidate[] {
    const ids = [...this.#options.idsOf(label)];
    return ids
      .flatMap((id) => this.byId(id) ?? [])
      .toSorted((a, b) => b.account.record.priority - a.account.record.priority);
  }

  *lanes(): Iterable<Lane> {
    for (const lane of this.#options.index.lanes()) {
      if (lane.size > 0 && this.laneOverloadMs(lane) === 0) yield lane;
    }
  }

  hasUntried({ members }: Level): boolean {
    return (
      members.length > this.#options.tried.size || members.some((member) => !this.isTried(member))
    );
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
    const { overloads, now } = this.#options;
    return overloads.remainingMs(upstreamId, modelId, now);
  }
}
