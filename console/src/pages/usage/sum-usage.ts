// Adds up usage: by step of time, by group, and in all.

import type { LeadingUsage } from '../../../../src/admin/contract.ts';

export interface UsageSum {
  readonly requests: number;
  readonly errors: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly thoughtTokens: number;
  readonly images: number;
  readonly pricedRequests: number;
  readonly costNanos: number;
  readonly flatRateNanos: number;
  readonly cacheSavingsNanos: number;
}

export const NO_USAGE: UsageSum = {
  requests: 0,
  errors: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  thoughtTokens: 0,
  images: 0,
  pricedRequests: 0,
  costNanos: 0,
  flatRateNanos: 0,
  cacheSavingsNanos: 0,
};

function addUsage(left: UsageSum, right: UsageSum): UsageSum {
  return {
    requests: left.requests + right.requests,
    errors: left.errors + right.errors,
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cachedTokens: left.cachedTokens + right.cachedTokens,
    cacheWriteTokens: left.cacheWriteTokens + right.cacheWriteTokens,
    thoughtTokens: left.thoughtTokens + right.thoughtTokens,
    images: left.images + right.images,
    pricedRequests: left.pricedRequests + right.pricedRequests,
    costNanos: left.costNanos + right.costNanos,
    flatRateNanos: left.flatRateNanos + right.flatRateNanos,
    cacheSavingsNanos: left.cacheSavingsNanos + right.cacheSavingsNanos,
  };
}

export const sumAll = (buckets: readonly UsageSum[]): UsageSum =>
  buckets.reduce(addUsage, NO_USAGE);

export const allTokens = ({ inputTokens, outputTokens }: UsageSum): number =>
  inputTokens + outputTokens;

/** What went in and neither came out of a cache nor was written to one. */
export const freshTokens = ({ inputTokens, cachedTokens, cacheWriteTokens }: UsageSum): number =>
  Math.max(0, inputTokens - cachedTokens - cacheWriteTokens);

/** Whether the cost is that of a part: there were good answers of models that nobody knows a price of. */
export function isPartlyPriced({ requests, errors, pricedRequests }: UsageSum): boolean {
  return pricedRequests > 0 && requests - errors > pricedRequests;
}

/** The part of what went in that came out of a cache, 0 to 1; undefined when nothing went in. */
export function cacheShare({ inputTokens, cachedTokens }: UsageSum): number | undefined {
  return inputTokens === 0 ? undefined : Math.min(1, cachedTokens / inputTokens);
}

export interface StepSum {
  /** Beginning of the step. */
  readonly at: number;
  readonly sum: UsageSum;
  readonly groups: ReadonlyMap<string, UsageSum>;
  /** What is of none of these groups. */
  readonly others: UsageSum;
}

/** One entry a step, also for steps in which nothing happened. */
export function sumBySteps({
  spans,
  totals,
  buckets,
  others,
}: Pick<LeadingUsage, 'spans' | 'totals' | 'buckets' | 'others'>): readonly StepSum[] {
  const totalAt = new Map(totals.map((row) => [row.at, row]));
  const othersAt = new Map(others.map((row) => [row.at, row]));
  return spans.map((at) => ({
    at,
    sum: totalAt.get(at) ?? NO_USAGE,
    groups: new Map(buckets.filter((row) => row.at === at).map((row) => [row.group, row])),
    others: othersAt.get(at) ?? NO_USAGE,
  }));
}
