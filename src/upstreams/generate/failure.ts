// Which row of the retry table a refusal is: the account's fault, the path's, or the request's.

import type { QuotaLesson, UpstreamFailureKind } from '../../canonical/error.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  readNumber,
} from '../../lib/json.ts';
import { objectsOf } from './read-values.ts';

/**
 * Error prose is only interpreted in this file, for faults without a code. True for the documented complaints
 * about missing, corrupted or foreign thought signatures.
 */
function blamesSignature(message: string): boolean {
  return /thought[_ ]?signature/i.test(message);
}

/** True for "Function call `x` in the `2.` content block is missing a `thought_signature`." and its variants. */
function missesSignature(message: string): boolean {
  return /\bmissing (?:an? |the |its )?["'`]?thought[_ ]?signature/i.test(message);
}

/** True for "User location is not supported for the API use." and its variants. */
function blamesLocation(message: string): boolean {
  return /\b(?:location|country|region|territory)\b[^.]{0,40}\bnot (?:supported|available|allowed)/i.test(
    message,
  );
}

/**
 * True for complaints about a file or a cache that the request names, such as "You do not have
 * permission to access the File abc or it may not exist.", "CachedContent not found" and those about
 * a bucket (`gs://`, `storage.objects.get`).
 */
function blamesNamedResource(message: string): boolean {
  return /\bfiles?[ /:]["'`]?[\w-]|\bcached ?contents?\b|\bgs:\/\/|\bstorage\.objects\b/i.test(
    message,
  );
}

/**
 * True for a refusal of the whole account: "Consumer … has been suspended.", "Your API key was reported as
 * leaked.", "This API method requires billing to be enabled.", terms that nobody agreed to.
 */
function blamesAccount(message: string): boolean {
  return (
    /\b(?:account|project|consumer|key)\b[^.]{0,80}\b(?:suspended|deactivated|deleted|terminated|revoked|leaked|expired|banned)\b/i.test(
      message,
    ) ||
    /\bbilling\b[^.]{0,60}\b(?:disabled|enabled|enable|inactive|closed|active)\b/i.test(message) ||
    /\bterms of (?:service|use)\b/i.test(message)
  );
}

export interface LengthComplaint {
  readonly tokens: number | undefined;
  readonly limit: number | undefined;
}

/**
 * The figures of "The input token count (1200000) exceeds the maximum number of tokens allowed
 * (1048576)." and its variants; undefined when the message is about something else.
 */
export function readLengthComplaint(message: string): LengthComplaint | undefined {
  if (!/token count|context (?:length|window)|prompt is too long|too many tokens/i.test(message)) {
    return undefined;
  }
  if (!/exceed|too long|too many|more than|maximum|larger/i.test(message)) return undefined;
  const figures = (message.match(/\d[\d,]*/g) ?? [])
    .map((figure) => Number(figure.replaceAll(',', '')))
    .filter((figure) => figure >= 100);
  const [tokens, limit] = figures;
  return limit === undefined
    ? { tokens: undefined, limit: tokens }
    : { tokens: Math.max(tokens ?? 0, limit), limit: Math.min(tokens ?? 0, limit) };
}

export interface RefusalFacts extends ErrorBody {
  readonly status: number;
  /** True for an HTML page: something between here and the upstream wrote it. */
  readonly isPage: boolean;
}

const HOUR_MS = 3_600_000;

/**
 * An account is blamed only by an answer of this wire: a page, a text or nothing at all with a 403
 * or 404 is the work of a firewall, a proxy or a wrong address, and would be the same for every account.
 */
export function failureKind(facts: RefusalFacts): UpstreamFailureKind {
  const { status } = facts;
  if (status === 402) return 'quota-exhausted';
  if (status === 429) return isQuota(facts) ? 'quota-exhausted' : 'rate-limited';
  if (status === 503 || status === 529) return 'overloaded';
  if (facts.isPage || status < 400 || status >= 500 || blamesPlace(facts)) return 'path';
  if (facts.reasons.some((reason) => BAD_CREDENTIAL.has(reason))) return 'unauthenticated';
  switch (status) {
    case 401:
      return 'unauthenticated';
    case 403:
      return facts.isStructured ? forbiddenKind(facts) : 'path';
    case 404:
      return facts.isStructured ? missingKind(facts) : 'path';
    case 405:
    case 407:
    case 408:
    case 409:
    case 425:
    case 451:
    case 499:
      return 'path';
    default:
      return status === 400 ? badRequestKind(facts) : 'rejected';
  }
}

/** Reasons of the public API's ErrorInfo that come with status 400 as well (google.api `ErrorReason`). */
const BAD_CREDENTIAL: ReadonlySet<string> = new Set(['API_KEY_INVALID', 'API_KEY_EXPIRED']);

/** True when the upstream does not serve the place the request came from: another way out may do. */
export function blamesPlace({ status, message }: RefusalFacts): boolean {
  return (status === 400 || status === 403) && blamesLocation(message);
}

/** A quota of hours or a day is gone; one of a minute, or an unnamed one, only limits the rate. */
function isQuota({ reasons, quota }: ErrorBody): boolean {
  return reasons.includes('QUOTA_EXHAUSTED') || (quota?.windowMs ?? 0) >= HOUR_MS;
}

function forbiddenKind(facts: ErrorBody): UpstreamFailureKind {
  const { reasons, metadata, message } = facts;
  if (reasons.includes('VALIDATION_REQUIRED') || metadata.has('validation_url')) {
    return 'verification-required';
  }
  // The client named it, so that every account would be refused, one after the other.
  if (blamesNamedResource(message)) return 'rejected';
  const isOfAccount = reasons.some((reason) => REFUSED_ACCOUNT.has(reason));
  return isOfAccount || blamesAccount(message) ? 'forbidden' : 'model-forbidden';
}

/** Reasons that hold for whatever the account asks (google.api `ErrorReason`). */
const REFUSED_ACCOUNT: ReadonlySet<string> = new Set([
  'BILLING_DISABLED',
  'SERVICE_DISABLED',
  'CONSUMER_INVALID',
  'CONSUMER_SUSPENDED',
  'ACCOUNT_STATE_INVALID',
  'API_KEY_SERVICE_BLOCKED',
  'API_KEY_IP_ADDRESS_BLOCKED',
  'API_KEY_HTTP_REFERRER_BLOCKED',
]);

function badRequestKind({ message }: ErrorBody): UpstreamFailureKind {
  if (missesSignature(message)) return 'missing-signature';
  return blamesSignature(message) ? 'bad-signature' : 'rejected';
}

function missingKind({ message }: ErrorBody): UpstreamFailureKind {
  return blamesNamedResource(message) ? 'rejected' : 'model-not-found';
}

/** No hint keeps an account away for longer; also far below what timers can hold. */
export const MAX_RETRY_DELAY_MS = 24 * 60 * 60 * 1000;

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
  ['us', 0.001],
  ['ns', 0.000_001],
]);

const DURATION_UNITS = ['d', 'h', 'm', 's', 'ms', 'us', 'ns'] as const;
const DURATION = new RegExp(
  `^${DURATION_UNITS.map((unit) => `(?:(\\d+(?:\\.\\d+)?)${unit})?`).join('')}$`,
);

/**
 * Milliseconds of a duration such as `1.5s`, `510.79ms`, `1h16m0.667s`; undefined for anything else.
 * Sources: google.protobuf.Duration as JSON; Go's duration notation.
 */
export function readDuration(text: string): number | undefined {
  const match = DURATION.exec(
    text
      .trim()
      .toLowerCase()
      .replace(/[µμ]s$/, 'us'),
  );
  if (match === null || match[0] === '') return undefined;
  let milliseconds = 0;
  DURATION_UNITS.forEach((unit, at) => {
    milliseconds += Number(match[at + 1] ?? 0) * (UNIT_MS.get(unit) ?? 0);
  });
  return capDelay(milliseconds);
}

/** A google.protobuf.Duration: as text, as its two fields, or as bare seconds. */
export function readDelay(value: JsonValue | undefined): number | undefined {
  if (typeof value === 'string') return readDuration(value);
  if (!isJsonObject(value)) return secondsOf(value);
  const milliseconds = secondsOf(value.seconds ?? 0);
  const nanos = readNumber(value.nanos) ?? 0;
  return milliseconds === undefined || nanos < 0
    ? undefined
    : capDelay(milliseconds + nanos / 1_000_000);
}

function secondsOf(value: JsonValue | undefined): number | undefined {
  const seconds = typeof value === 'string' ? Number(value) : readNumber(value);
  return seconds !== undefined && seconds >= 0 ? capDelay(seconds * 1000) : undefined;
}

/** Milliseconds of a `Retry-After` value: whole or decimal seconds, or an HTTP date (RFC 9110, 10.2.3). */
export function readRetryAfter(value: string, now: number): number | undefined {
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return capDelay(Number(text) * 1000);
  return readDuration(text) ?? (/[a-z]{3}/i.test(text) ? readTimestamp(text, now) : undefined);
}

/** Milliseconds from `now` until a date; 0 when it has passed; undefined when it is none. */
export function readTimestamp(text: string, now: number): number | undefined {
  // A date without a four-digit year would be guessed at.
  const at = /\d{4}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : capDelay(Math.max(0, at - now));
}

const INTRODUCTION =
  /(?:\b(?:retry|try again|resets?|available)(?: [a-z]+){0,2}? (?:in|after)|\bwait(?: for)?(?: at least)?) /i;
const MOMENT = /\b(?:retry|try again|resets?|available)(?: [a-z]+){0,2}? at (\d{4}-[\dT:.Z+-]+)/i;
const UNITS = 'ms|milliseconds?|seconds?|sec|s|minutes?|min|m|hours?|h|days?|d';
const AMOUNT = new RegExp(`[\\s,]{0,2}(?:and )?(\\d+(?:\\.\\d+)?) ?(${UNITS})(?![a-z])`, 'iy');

/** The wait named in a message, such as "Please retry in 45.8s." or "try again in 5 minutes". */
export function readDelayFromMessage(message: string, now: number): number | undefined {
  const moment = MOMENT.exec(message)?.[1]?.replace(/[.]+$/, '');
  if (moment !== undefined) return readTimestamp(moment, now);
  const introduction = INTRODUCTION.exec(message);
  if (introduction === null) return undefined;
  const amount = new RegExp(AMOUNT);
  amount.lastIndex = introduction.index + introduction[0].length;
  let milliseconds: number | undefined;
  for (let match = amount.exec(message); match !== null; match = amount.exec(message)) {
    const [, value, unit = ''] = match;
    milliseconds = (milliseconds ?? 0) + Number(value) * (UNIT_MS.get(shortUnit(unit)) ?? 0);
  }
  return milliseconds === undefined ? undefined : capDelay(milliseconds);
}

function shortUnit(word: string): string {
  const unit = word.toLowerCase();
  return unit === 'ms' || unit.startsWith('milli') ? 'ms' : unit.slice(0, 1);
}

function capDelay(milliseconds: number): number {
  return Math.min(Math.round(milliseconds), MAX_RETRY_DELAY_MS);
}

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
function readQuotaLesson(
  violations: readonly JsonObject[],
  metadata: ReadonlyMap<string, string>,
  resetsAt: number | undefined,
): QuotaLesson | undefined {
  const exceeded = [...violations.map(readViolation), readExceededQuota(metadata)];
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

function readExceededQuota(metadata: ReadonlyMap<string, string>): ExceededQuota {
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

/** Sources: ai.google.dev, "GenerateContent API errors"; google.rpc `Status`, `error_details.proto`. */
export interface ErrorBody {
  /** The upstream's own words; '' when it said nothing. */
  readonly message: string;
  /** False when the answer holds no error object: nobody of this wire wrote it. */
  readonly isStructured: boolean;
  /** HTTP status the object itself names, by number or by its canonical word. */
  readonly code: number | undefined;
  /** Reasons of its ErrorInfo details, upper case. */
  readonly reasons: readonly string[];
  /** Values of its ErrorInfo metadata: quota names, model names, resources. */
  readonly metadata: ReadonlyMap<string, string>;
  /** What its details tell of the quota that was exceeded. */
  readonly quota: QuotaLesson | undefined;
  /** The longest wait its details ask for, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

/** HTTP statuses of the canonical codes (google.rpc.Code). */
const HTTP_STATUS: ReadonlyMap<string, number> = new Map([
  ['INVALID_ARGUMENT', 400],
  ['FAILED_PRECONDITION', 400],
  ['OUT_OF_RANGE', 400],
  ['UNAUTHENTICATED', 401],
  ['PERMISSION_DENIED', 403],
  ['NOT_FOUND', 404],
  ['ABORTED', 409],
  ['ALREADY_EXISTS', 409],
  ['RESOURCE_EXHAUSTED', 429],
  ['CANCELLED', 499],
  ['INTERNAL', 500],
  ['UNKNOWN', 500],
  ['DATA_LOSS', 500],
  ['UNIMPLEMENTED', 501],
  ['UNAVAILABLE', 503],
  ['DEADLINE_EXCEEDED', 504],
]);

/** The error in an answer's text: `{error:{…}}`, `[{error:{…}}]`, or nothing that can be read. */
export function readErrorText(text: string, now: number): ErrorBody {
  try {
    const value = parseJson(text);
    const first = Array.isArray(value) ? value[0] : value;
    return readErrorObject(isJsonObject(first) ? (first.error ?? first) : undefined, now);
  } catch {
    return readErrorObject(undefined, now);
  }
}

/** The value of an `error` key: an object, or in some upstreams just a text. */
export function readErrorObject(value: JsonValue | undefined, now: number): ErrorBody {
  const error = isJsonObject(value) ? value : {};
  const message = typeof value === 'string' ? value : textOf(error.message);
  const details = objectsOf(error.details);
  const infos = details.filter((detail) => isKind(detail, 'ErrorInfo') || 'reason' in detail);
  const metadata = readMetadata(infos);
  return {
    message,
    isStructured: typeof value === 'string' || isJsonObject(value),
    code: readNumber(error.code) ?? HTTP_STATUS.get(textOf(error.status)),
    reasons: infos.map((info) => textOf(info.reason).toUpperCase()),
    metadata,
    quota: readQuotaLesson(violationsOf(details), metadata, readReset(metadata, now)),
    retryAfterMs: longestWait(details, metadata, now) ?? readDelayFromMessage(message, now),
  };
}

/** The wait the headers ask for, in milliseconds. */
export function readRetryHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  now: number,
): number | undefined {
  const inMs = headerOf(headers, 'retry-after-ms') ?? '';
  if (/^\d+(\.\d+)?$/.test(inMs.trim())) return readDuration(`${inMs.trim()}ms`);
  return readRetryAfter(headerOf(headers, 'retry-after') ?? '', now);
}

export function headerOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  name: string,
): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function readMetadata(infos: readonly JsonObject[]): Map<string, string> {
  const metadata = new Map<string, string>();
  for (const { metadata: fields } of infos) {
    if (!isJsonObject(fields)) continue;
    for (const [key, value] of Object.entries(fields)) metadata.set(key, textOf(value));
  }
  return metadata;
}

function violationsOf(details: readonly JsonObject[]): JsonObject[] {
  return details
    .filter((detail) => isKind(detail, 'QuotaFailure') || 'violations' in detail)
    .flatMap((failure) => objectsOf(failure.violations));
}

/** When the quota is whole again, in milliseconds since the epoch. */
function readReset(metadata: ReadonlyMap<string, string>, now: number): number | undefined {
  const waitMs =
    readTimestamp(metadata.get('quotaResetTimeStamp') ?? '', now) ??
    readDuration(metadata.get('quotaResetDelay') ?? '');
  return waitMs === undefined ? undefined : now + waitMs;
}

/** An upstream that names several waits lets us in again only after the longest. */
function longestWait(
  details: readonly JsonObject[],
  metadata: ReadonlyMap<string, string>,
  now: number,
): number | undefined {
  const waits = details
    .filter((detail) => isKind(detail, 'RetryInfo') || 'retryDelay' in detail)
    .map((info) => readDelay(info.retryDelay));
  waits.push(readDuration(metadata.get('quotaResetDelay') ?? ''));
  waits.push(readTimestamp(metadata.get('quotaResetTimeStamp') ?? '', now));
  const known = waits.filter((wait) => wait !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

function isKind(detail: JsonObject, kind: string): boolean {
  return textOf(detail['@type']).endsWith(kind);
}
