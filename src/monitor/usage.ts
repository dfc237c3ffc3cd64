// Cuts a time into hours, days, weeks or months as a person's calendar has them, and sums usage by quarter hour.

import { invalidRequest } from '../canonical/error.ts';
import { ACCOUNT_FAILURES } from '../canonical/failure.ts';
import { type CalendarStep, createCalendar, QUARTER_MS } from '../lib/calendar.ts';
import { parseJson } from '../lib/json.ts';
import { addTimings, NO_TIMINGS, type Timings, timingsOf } from './latency.ts';
import { type RequestRecord, usageModel } from './record.ts';
import {
  type AttemptSum,
  NO_USAGE,
  RECORDED_FIGURES,
  type TimeSpan,
  type UsageBreakdown,
} from './request-store.ts';

interface SpanRequest extends TimeSpan {
  readonly step: CalendarStep;
  /** IANA name, such as `Europe/Zurich`. */
  readonly timeZone: string;
  /** What the client calls the time zone; `timeZone` when absent. */
  readonly zoneField?: string;
}

const MAX_SPANS = 1000;

/** Whole hours, days, weeks or months that touch the time, oldest first. @throws GatewayError invalid-request */
export function cutSpans(request: SpanRequest): readonly TimeSpan[] {
  const { from, to, step, timeZone, zoneField = 'timeZone' } = request;
  if (to <= from) throw invalidRequest('to', 'to: must be later than from.');
  const calendar = createCalendar(timeZone);
  if (calendar === undefined) {
    throw invalidRequest(
      zoneField,
      `${zoneField}: must be the name of a time zone, such as Europe/Zurich or UTC.`,
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

export interface QuarterSum extends Omit<UsageBreakdown, 'tags'> {
  /** As `writeTags` has them. */
  readonly tags: string;
  readonly timings: Timings;
}

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

/** A sum that is still added to. */
export type Mutable<Sum> = { -readonly [Field in keyof Sum]: Sum[Field] };

/** One row for each of what usage is summed for. */
export function sumByQuarter(records: readonly RequestRecord[]): readonly QuarterSum[] {
  const sums = new Map<string, Mutable<QuarterSum>>();
  for (const { row } of records) {
    const at = Math.floor(row.at / QUARTER_MS) * QUARTER_MS;
    const model = usageModel(row);
    const { account = '', keyId, owner = '', team = '', protocol } = row;
    const tags = writeTags(row.tags);
    const key = JSON.stringify([at, model, account, keyId, owner, team, tags, protocol]);
    const kind = { at, model, account, keyId, owner, team, tags, protocol };
    const sum = sums.get(key) ?? { ...kind, ...NO_USAGE, keyName: undefined, timings: NO_TIMINGS };
    sums.set(key, sum);
    sum.requests += 1;
    if (row.outcome === 'error') sum.errors += 1;
    if (row.costBasis !== undefined) sum.pricedRequests += 1;
    for (const figure of RECORDED_FIGURES) sum[figure] += row[figure] ?? 0;
    sum.keyName = row.keyName ?? sum.keyName;
    sum.timings = addTimings(sum.timings, timingsOf(row));
  }
  return [...sums.values()];
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
