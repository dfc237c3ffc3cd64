// How long requests take: counts in fixed buckets of a logarithmic scale, which add up over time, groups and processes.

import type { RequestRow } from './record.ts';

const FINEST_MS = 64;
const MAX_MS = 370_728;

/**
 * Upper ends of the buckets: powers of two, and from 64 ms on of the square root of two, so that a percentile read from
 * them is at most two fifths beside the true one, and mostly far less. Never change them: the counts are stored by place.
 */
export const BOUNDS_MS: readonly number[] = (() => {
  const bounds = [];
  for (let bound = 1; bound < FINEST_MS; bound *= 2) bounds.push(bound);
  for (let step = 0; FINEST_MS * 2 ** (step / 2) <= MAX_MS; step += 1) {
    bounds.push(Math.round(FINEST_MS * 2 ** (step / 2)));
  }
  return bounds;
})();

/** One more than there are bounds: what is longer than all of them. */
export const BUCKETS = BOUNDS_MS.length + 1;

export function bucketOf(ms: number): number {
  if (ms <= FINEST_MS) return ms <= 1 ? 0 : Math.ceil(Math.log2(ms));
  const near = Math.floor(Math.log2(ms / FINEST_MS) * 2) + Math.log2(FINEST_MS);
  for (let index = near; index < BOUNDS_MS.length; index += 1) {
    if (ms <= (BOUNDS_MS[index] ?? 0)) return index;
  }
  return BOUNDS_MS.length;
}

/** By bucket; places without a count may be missing. */
type BucketCounts = readonly (number | undefined)[];

/** Of answers that came whole: how long they took, how long until their first token, and how fast tokens came. */
export interface Timings {
  readonly durations: BucketCounts;
  /** Of streams alone: an answer in one piece begins when it ends. */
  readonly firstTokens: BucketCounts;
  /** Output tokens of answers that tell them, and the milliseconds in which they came. */
  readonly timedTokens: number;
  readonly timedMs: number;
}

export const NO_TIMINGS: Timings = { durations: [], firstTokens: [], timedTokens: 0, timedMs: 0 };

/** Failures and abandoned answers say nothing about how long an answer takes. */
export function timingsOf(row: RequestRow): Timings {
  const { outcome, stream, totalMs, firstEventMs, outputTokens = 0 } = row;
  if (outcome !== 'ok') return NO_TIMINGS;
  const isStreamed = stream && firstEventMs !== undefined;
  return {
    durations: countOf(totalMs),
    firstTokens: isStreamed ? countOf(firstEventMs) : [],
    timedTokens: outputTokens,
    timedMs: outputTokens === 0 ? 0 : Math.max(1, totalMs - (isStreamed ? firstEventMs : 0)),
  };
}

function countOf(ms: number): BucketCounts {
  const counts: number[] = [];
  counts[bucketOf(ms)] = 1;
  return counts;
}

export function addTimings(left: Timings, right: Timings): Timings {
  return {
    durations: addCounts(left.durations, right.durations),
    firstTokens: addCounts(left.firstTokens, right.firstTokens),
    timedTokens: left.timedTokens + right.timedTokens,
    timedMs: left.timedMs + right.timedMs,
  };
}

export function sumTimings(all: readonly Timings[]): Timings {
  return all.reduce(addTimings, NO_TIMINGS);
}

function addCounts(left: BucketCounts, right: BucketCounts): BucketCounts {
  if (right.length === 0) return left;
  if (left.length === 0) return right;
  return Array.from(
    { length: Math.max(left.length, right.length) },
    (_, index) => (left[index] ?? 0) + (right[index] ?? 0),
  );
}

interface Percentiles {
  readonly count: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

interface LatencyFigures {
  readonly duration?: Percentiles | undefined;
  readonly firstToken?: Percentiles | undefined;
  readonly tokensPerSecond?: number | undefined;
}

export function readTimings(timings: Timings): LatencyFigures {
  const { durations, firstTokens, timedTokens, timedMs } = timings;
  return {
    duration: percentilesOf(durations),
    firstToken: percentilesOf(firstTokens),
    tokensPerSecond: timedMs === 0 ? undefined : Math.round((timedTokens / timedMs) * 10_000) / 10,
  };
}

function percentilesOf(counts: BucketCounts): Percentiles | undefined {
  const count = counts.reduce<number>((sum, one = 0) => sum + one, 0);
  if (count === 0) return undefined;
  const at = (share: number): number => Math.round(quantile(counts, share * count));
  return { count, p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** As if the requests of a bucket were spread evenly on its scale; of what is longer than all bounds the last one. */
function quantile(counts: BucketCounts, rank: number): number {
  let below = 0;
  for (const [index, bound] of BOUNDS_MS.entries()) {
    const inside = counts[index] ?? 0;
    if (below + inside >= rank && inside > 0) {
      const share = (rank - below) / inside;
      const lower = BOUNDS_MS[index - 1];
      return lower === undefined ? bound * share : lower * (bound / lower) ** share;
    }
    below += inside;
  }
  return BOUNDS_MS.at(-1) ?? 0;
}
