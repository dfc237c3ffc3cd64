// Cuts a time into hours, days, weeks or months as a person's calendar has them, and sums usage by quarter hour.

import { ACCOUNT_FAILURES, invalidRequest } from '../canonical/error.ts';
import { type CalendarStep, createCalendar, QUARTER_MS } from '../lib/calendar.ts';
import { parseJson } from '../lib/json.ts';
import { addTimings, type Timings, timingsOf } from './latency.ts';
import { type RequestRecord, usageModel } from './record.ts';
import { type AttemptSum, type TimeSpan, USAGE_FIGURES, type UsageSum } from './request-store.ts';

interface SpanRequest extends TimeSpan {
  readonly step: CalendarStep;
  /** IANA name, such as `Europe/Zurich`. */
  readonly timeZone: string;
}

const MAX_SPANS = 1000;

/**
 * Whole hours, days, weeks or months of the time zone that hold any of the time asked for, oldest first.
 * @throws GatewayError invalid-request for an unknown time zone or too many of them
 */
export function cutSpans({ from, to, step, timeZone }: SpanRequest): readonly TimeSpan[] {
  if (to <= from) throw invalidRequest('to', 'to: must be later than from.');
  const calendar = createCalendar(timeZone);
  if (calendar === undefined) {
    throw invalidRequest(
      'timeZone',
      'timeZone: must be the name of a time zone, such as Europe/Zurich or UTC.',
    );
  }
  const spans: TimeSpan[] = [];
  let start = calendar.startOf(from, step);
  while (start < to) {
    if (spans.length === MAX_SPANS) {
      throw invalidRequest(
        'step',
        `step: that would be more than ${MAX_SPANS} pieces. Take a longer step or less time.`,
      );
    }
    const end = calendar.endOf(start, step);
    spans.push({ from: start, to: end });
    start = end;
  }
  return spans;
}

export interface QuarterSum extends UsageSum {
  /** Beginning of the quarter. */
  readonly at: number;
  readonly model: string;
  readonly account: string;
  readonly keyId: string;
  /** As the key was called last. */
  readonly keyName: string | undefined;
  /** As the key was then; '' where nobody said. */
  readonly owner: string;
  readonly team: string;
  /** As `writeTags` has them. */
  readonly tags: string;
  readonly protocol: string;
  readonly timings: Timings;
}

/** What usage is summed for. */
export const SUMMED_BY = [
  ...(['at', 'model', 'account', 'keyId', 'owner', 'team', 'tags', 'protocol'] as const),
] as const satisfies readonly (keyof QuarterSum)[];

/** The same text for the same tags, in which each stands as JSON: what is no list of any is ''. */
export function writeTags(tags: readonly string[] = []): string {
  return tags.length === 0 ? '' : JSON.stringify(tags.toSorted());
}

/** @param text of `writeTags` */
export function readTags(text: string): readonly string[] {
  const tags = text === '' ? [] : parseJson(text);
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [];
}

/** One row for each of what usage is summed for. */
export function sumByQuarter(records: readonly RequestRecord[]): readonly QuarterSum[] {
  const sums = new Map<string, QuarterSum>();
  for (const { row } of records) {
    const sum: QuarterSum = {
      at: Math.floor(row.at / QUARTER_MS) * QUARTER_MS,
      model: usageModel(row),
      account: row.account ?? '',
      keyId: row.keyId,
      keyName: row.keyName,
      owner: row.owner ?? '',
      team: row.team ?? '',
      tags: writeTags(row.tags),
      protocol: row.protocol,
      requests: 1,
      errors: row.outcome === 'error' ? 1 : 0,
      inputTokens: row.inputTokens ?? 0,
      outputTokens: row.outputTokens ?? 0,
      cachedTokens: row.cachedTokens ?? 0,
      cacheWriteTokens: row.cacheWriteTokens ?? 0,
      thoughtTokens: row.thoughtTokens ?? 0,
      images: row.images ?? 0,
      pricedRequests: row.costBasis === undefined ? 0 : 1,
      costNanos: row.costNanos ?? 0,
      flatRateNanos: row.flatRateNanos ?? 0,
      cacheSavingsNanos: row.cacheSavingsNanos ?? 0,
      timings: timingsOf(row),
    };
    const key = JSON.stringify(SUMMED_BY.map((name) => sum[name]));
    const known = sums.get(key);
    sums.set(key, known === undefined ? sum : addQuarters(known, sum));
  }
  return [...sums.values()];
}

/** Of the same kind of use; `right` is the later one. */
function addQuarters(left: QuarterSum, right: QuarterSum): QuarterSum {
  return {
    ...left,
    ...addUsage(left, right),
    keyName: right.keyName ?? left.keyName,
    timings: addTimings(left.timings, right.timings),
  };
}

export function addUsage(left: UsageSum, right: UsageSum): UsageSum {
  const sums: Record<keyof UsageSum, number> = { ...left };
  for (const figure of USAGE_FIGURES) sums[figure] = left[figure] + right[figure];
  return sums;
}

export const HALF_HOUR_MS = 1_800_000;

/** One row for each half hour and account; what says nothing of an account is left out. */
export function sumAttempts(records: readonly RequestRecord[]): readonly AttemptSum[] {
  const sums = new Map<string, AttemptSum>();
  for (const { row, details } of records) {
    const at = Math.floor(row.at / HALF_HOUR_MS) * HALF_HOUR_MS;
    for (const { account, outcome } of details.attemptsList) {
      const verdict = verdictOf(outcome);
      if (verdict === undefined) continue;
      const key = `${at} ${account}`;
      const known = sums.get(key) ?? { at, account, good: 0, failed: 0 };
      sums.set(key, { ...known, [verdict]: known[verdict] + 1 });
    }
  }
  return [...sums.values()];
}

function verdictOf(outcome: string): 'good' | 'failed' | undefined {
  if (outcome === 'ok') return 'good';
  return ACCOUNT_FAILURES.has(outcome) ? 'failed' : undefined;
}
