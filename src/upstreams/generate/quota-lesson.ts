// Reads what a refusal teaches of the quota behind it: which models, how many calls, for how long.

import type { QuotaLesson } from '../../canonical/error.ts';
import { isJsonObject, type JsonObject, type JsonValue, readNumber } from '../../lib/json.ts';

/** One quota that was exceeded, as a QuotaFailure or an ErrorInfo names it. */
interface ExceededQuota {
  readonly names: readonly string[];
  readonly limit: number | undefined;
  readonly modelId: string | undefined;
}

interface WindowedQuota extends ExceededQuota {
  readonly windowMs: number | undefined;
}

const WINDOWS_MS: ReadonlyMap<string, number> = new Map([
  ['second', 1000],
  ['min', 60_000],
  ['minute', 60_000],
  ['hour', 3_600_000],
  ['day', 86_400_000],
]);

const DAY_MS = 86_400_000;

/**
 * Undefined when nothing is named. Of several quotas the one with the longest window counts, since
 * the account is let in again only after it; a limit is told for quotas of calls only.
 * Sources: google.rpc `error_details.proto` (QuotaFailure, and ErrorInfo's example metadata);
 * ai.google.dev, "Rate limits" (`GenerateRequestsPerDayPerProjectPerModel-FreeTier`).
 * @param resetsAt milliseconds since the epoch, when the details say so
 */
export function readQuotaLesson(
  violations: readonly JsonObject[],
  metadata: ReadonlyMap<string, string>,
  resetsAt: number | undefined,
): QuotaLesson | undefined {
  const exceeded = [...violations.map(readViolation), readMetadata(metadata)];
  const named = exceeded.filter(isNamed).map(withWindow);
  const modelIds = [...new Set(named.flatMap(({ modelId }) => modelId ?? []))];
  if (named.length === 0 && resetsAt === undefined) return undefined;
  const windows = named.flatMap(({ windowMs }) => windowMs ?? []);
  const longestMs = windows.length === 0 ? undefined : Math.max(...windows);
  const ofCalls = named.find((quota) => quota.windowMs === longestMs && countsCalls(quota));
  return {
    ...(modelIds.length === 0 ? {} : { modelIds }),
    ...(ofCalls?.limit === undefined ? {} : { limit: ofCalls.limit }),
    ...(longestMs === undefined ? {} : { windowMs: longestMs, isDaily: longestMs >= DAY_MS }),
    ...(resetsAt === undefined ? {} : { resetsAt }),
  };
}

function readViolation(violation: JsonObject): ExceededQuota {
  const { quotaDimensions: dimensions } = violation;
  return {
    names: [textOf(violation.quotaId), textOf(violation.quotaMetric)],
    limit: readLimit(violation.quotaValue),
    modelId: modelIdOf(isJsonObject(dimensions) ? textOf(dimensions.model) : ''),
  };
}

function readMetadata(metadata: ReadonlyMap<string, string>): ExceededQuota {
  const names = ['quota_limit', 'quota_unit', 'quota_metric'];
  return {
    names: names.map((name) => metadata.get(name) ?? ''),
    limit: readLimit(metadata.get('quota_limit_value')),
    modelId: modelIdOf(metadata.get('model') ?? ''),
  };
}

function isNamed({ names, modelId }: ExceededQuota): boolean {
  return modelId !== undefined || names.some((name) => name !== '');
}

/** From names such as `…RequestsPerMinutePerProject`, `requests_per_day`, or the unit `1/min/{project}`. */
function withWindow(quota: ExceededQuota): WindowedQuota {
  for (const name of quota.names) {
    const unit = /(?:per[_ ]?|\/)(second|minute|min|hour|day)/i.exec(name)?.[1]?.toLowerCase();
    if (unit !== undefined) return { ...quota, windowMs: WINDOWS_MS.get(unit) };
  }
  return { ...quota, windowMs: undefined };
}

function countsCalls({ names }: ExceededQuota): boolean {
  return !names.some((name) => /token/i.test(name)) && names.some((name) => /request/i.test(name));
}

/** 64-bit figures are texts in proto-JSON; what is no whole number says nothing. */
function readLimit(value: JsonValue | undefined): number | undefined {
  const limit = typeof value === 'string' && value !== '' ? Number(value) : readNumber(value);
  return limit !== undefined && Number.isSafeInteger(limit) && limit >= 0 ? limit : undefined;
}

function modelIdOf(text: string): string | undefined {
  return text.replace(/^.*models\//, '') || undefined;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
