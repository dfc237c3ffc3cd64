// Cuts a time into hours, days or weeks as a person's calendar has them.

import { ACCOUNT_FAILURES, invalidRequest } from '../canonical/error.ts';
import { addTimings, type Timings, timingsOf } from './latency.ts';
import { type RequestRecord, usageModel } from './record.ts';
import { type AttemptSum, type TimeSpan, USAGE_FIGURES, type UsageSum } from './request-store.ts';

type UsageStep = 'hour' | 'day' | 'week';

interface SpanRequest extends TimeSpan {
  readonly step: UsageStep;
  /** IANA name, such as `Europe/Zurich`. */
  readonly timeZone: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const MAX_SPANS = 1000;
/** 1 January 1970 was a Thursday; weeks begin on Monday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

/**
 * Whole hours, days or weeks of the time zone that hold any of the time asked for, oldest first.
 * @throws GatewayError invalid-request for an unknown time zone or too many of them
 */
export function cutSpans({ from, to, step, timeZone }: SpanRequest): readonly TimeSpan[] {
  if (to <= from) throw invalidRequest('to', 'to: must be later than from.');
  const zone = createZone(timeZone);
  const spans: TimeSpan[] = [];
  let start = startOf(from, step, zone);
  while (start < to) {
    if (spans.length === MAX_SPANS) {
      throw invalidRequest(
        'step',
        `step: that would be more than ${MAX_SPANS} pieces. Take a longer step or less time.`,
      );
    }
    const end = endOf(start, step, zone);
    spans.push({ from: start, to: end });
    start = end;
  }
  return spans;
}

type Zone = ReturnType<typeof createZone>;

function createZone(timeZone: string) {
  const format = createFormat(timeZone);
  const toLocal = (at: number): number => {
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const part = (name: 'year' | 'month' | 'day' | 'hour' | 'minute'): number =>
      parts.get(name) ?? 0;
    return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'));
  };
  const offsetAt = (at: number): number => toLocal(at) - Math.floor(at / 60_000) * 60_000;
  return {
    /** What clocks show, as if it were UTC, in milliseconds. */
    toLocal,
    /** The first moment at which clocks show so much, or more where they leave it out. */
    toUtc(local: number): number {
      const before = local - offsetAt(local - DAY_MS);
      const after = local - offsetAt(local + DAY_MS);
      // Clocks that change at midnight show it twice, or not at all.
      const [first, second] = before < after ? [before, after] : [after, before];
      return first === second || toLocal(first) >= local ? first : second;
    },
  };
}

function createFormat(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    });
  } catch {
    throw invalidRequest(
      'timeZone',
      'timeZone: must be the name of a time zone, such as Europe/Zurich or UTC.',
    );
  }
}

function startOf(at: number, step: UsageStep, zone: Zone): number {
  const local = zone.toLocal(at);
  switch (step) {
    case 'hour':
      // Hours are as long as each other, also when clocks change.
      return Math.floor((at - (local % HOUR_MS)) / QUARTER_MS + 1e-9) * QUARTER_MS;
    case 'day':
      return onQuarter(zone.toUtc(local - (local % DAY_MS)));
    case 'week':
      return onQuarter(zone.toUtc(startOfWeek(local)));
    default:
      return step satisfies never;
  }
}

function endOf(start: number, step: UsageStep, zone: Zone): number {
  if (step === 'hour') return start + HOUR_MS;
  // Noon of a day is on that day whatever the clocks do in the night.
  const days = step === 'day' ? 1 : 7;
  const noon = zone.toLocal(start) + days * DAY_MS + DAY_MS / 2;
  return onQuarter(zone.toUtc(noon - (noon % DAY_MS)));
}

function startOfWeek(local: number): number {
  const week = 7 * DAY_MS;
  return Math.floor((local - FIRST_MONDAY_MS) / week) * week + FIRST_MONDAY_MS;
}

/** Zones of long ago differ from UTC by odd minutes. */
function onQuarter(at: number): number {
  return Math.round(at / QUARTER_MS) * QUARTER_MS;
}

/** Time zones differ from UTC by whole quarters of an hour. */
const QUARTER_MS = 900_000;

export interface QuarterSum extends UsageSum {
  /** Beginning of the quarter. */
  readonly at: number;
  readonly model: string;
  readonly account: string;
  readonly keyId: string;
  /** As the key was called last. */
  readonly keyName: string | undefined;
  readonly protocol: string;
  readonly timings: Timings;
}

/** One row for each quarter, model, account, key and protocol. */
export function sumByQuarter(records: readonly RequestRecord[]): readonly QuarterSum[] {
  const sums = new Map<string, QuarterSum>();
  for (const { row } of records) {
    const sum: QuarterSum = {
      at: Math.floor(row.at / QUARTER_MS) * QUARTER_MS,
      model: usageModel(row),
      account: row.account ?? '',
      keyId: row.keyId,
      keyName: row.keyName,
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
    const { at, model, account, keyId, protocol } = sum;
    const key = JSON.stringify([at, model, account, keyId, protocol]);
    const known = sums.get(key);
    sums.set(key, known === undefined ? sum : addQuarters(known, sum));
  }
  return [...sums.values()];
}

/** Of the same quarter, model, account, key and protocol; `right` is the later one. */
function addQuarters(left: QuarterSum, right: QuarterSum): QuarterSum {
  return {
    ...left,
    ...addUsage(left, right),
    keyName: right.keyName ?? left.keyName,
    timings: addTimings(left.timings, right.timings),
  };
}

function addUsage(left: UsageSum, right: UsageSum): UsageSum {
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
