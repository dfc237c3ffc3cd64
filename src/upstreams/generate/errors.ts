// Decides what a refusal of the upstream means: one failure kind for the retry table, one error for the client.

import type { GatewayError } from '../../canonical/error.ts';
import type { UpstreamFailureKind } from '../../canonical/failure.ts';
import type { QuotaLesson } from '../../canonical/quota.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  readNumber,
  tryParse,
} from '../../lib/json.ts';
import type { Sentence } from '../../lib/localized-message.ts';
import { countOf, itemsOf, objectOf, objectsOf, textOf } from '../../lib/read-values.ts';
import { scrubText } from '../../lib/redact.ts';
import { GENERATE_WIRE } from '../../wire/generate.ts';
import {
  factsOf,
  factsOfFrame,
  isLongQuota,
  kindOfOther,
  type RefusalFacts,
  refusalError,
  saysUsedUp,
  type UpstreamRefusal,
  WRONG_PLACE,
} from '../errors.ts';
import {
  readDelay,
  readDelayFromMessage,
  readDuration,
  readRetryWait,
  readTimestamp,
  UNIT_MS,
} from '../refusals.ts';

/** The error a non-2xx answer amounts to; `failure` is always set. Never throws. */
export function classifyFailure(refusal: UpstreamRefusal): GatewayError {
  const { headers, body, now, tools } = refusal;
  const error = readErrorText(body, now);
  return toGatewayError({
    ...error,
    ...factsOf(refusal),
    retryAfterMs: readRetryWait(headers, now, { bodyMs: error.retryAfterMs }),
    tools,
  });
}

/** The error an `error` object inside a 200 answer amounts to, as if it had been the status. */
export function classifyErrorFrame(
  value: JsonValue,
  now: number,
  secrets?: readonly string[],
): GatewayError {
  const error = readErrorObject(value, now);
  return toGatewayError({ ...error, ...factsOfFrame(value, error.code ?? 500, secrets) });
}

interface Facts extends ErrorBody, RefusalFacts {
  readonly tools?: JsonValue | undefined;
}

function toGatewayError(facts: Facts): GatewayError {
  const { metadata } = facts;
  const kind = failureKind(facts);
  const link = metadata.get('validation_url') ?? '';
  const isLink = link.startsWith('https://') && URL.canParse(link);
  return refusalError({
    ...facts,
    kind,
    reason: facts.reasons[0],
    clientMessage: clientMessageOf(kind, facts),
    lead: isLink ? link : undefined,
    wireDetails: { wire: GENERATE_WIRE, members: { details: facts.details } },
  });
}

function clientMessageOf(kind: UpstreamFailureKind, facts: Facts): string | Sentence | undefined {
  if (kind === 'rejected')
    return nameFunctions(scrubText(facts.message, facts.secrets), facts.tools);
  return blamesPlace(facts) ? WRONG_PLACE : undefined;
}

/** "GenerateContentRequest.tools[0].function_declarations[3].parameters…: should be non-empty", in either spelling. */
const PLACE = /\btools\[(\d+)\]\.function_?declarations\[(\d+)\]/gi;

/** The complaint with the name behind each place: clients know their tools by name, and may have sent others as well. */
function nameFunctions(complaint: string, tools: JsonValue | undefined): string {
  return complaint.replace(PLACE, (place, tool: string, declaration: string) => {
    const name = nameAt(tools, Number(tool), Number(declaration));
    return name === undefined ? place : `${place} ("${name}")`;
  });
}

function nameAt(tools: JsonValue | undefined, tool: number, at: number): string | undefined {
  const list = objectOf(itemsOf(tools)[tool])?.functionDeclarations;
  return textOf(objectOf(itemsOf(list)[at])?.name);
}

// Which row of the retry table a refusal is: the account's fault, the path's, or the request's. Error prose is
// only interpreted in this file, for faults without a code.

/** The documented complaints about missing, corrupted or foreign thought signatures. */
const BLAMES_SIGNATURE = /thought[_ ]?signature/i;

/** "Function call `x` in the `2.` content block is missing a `thought_signature`." and its variants. */
const MISSES_SIGNATURE = /\bmissing (?:an? |the |its )?["'`]?thought[_ ]?signature/i;

/** "User location is not supported for the API use." and its variants. */
const BLAMES_LOCATION =
  /\b(?:location|country|region|territory)\b[^.]{0,40}\bnot (?:supported|available|allowed)/i;

/**
 * Complaints about a file or a cache that the request names, such as "You do not have permission to
 * access the File abc or it may not exist.", "CachedContent not found" and those about a bucket
 * (`gs://`, `storage.objects.get`).
 */
const BLAMES_NAMED_RESOURCE =
  /\bfiles?[ /:]["'`]?[\w-]|\bcached ?contents?\b|\bgs:\/\/|\bstorage\.objects\b/i;

/**
 * A refusal of the whole account: "Consumer … has been suspended.", "Your API key was reported as
 * leaked.", "This API method requires billing to be enabled.", terms that nobody agreed to.
 */
const BLAMES_ACCOUNT = [
  /\b(?:account|project|consumer|key)\b[^.]{0,80}\b(?:suspended|deactivated|deleted|terminated|revoked|leaked|expired|banned)\b/i,
  /\bbilling\b[^.]{0,60}\b(?:disabled|enabled|enable|inactive|closed|active)\b/i,
  /\bterms of (?:service|use)\b/i,
];

/**
 * An account is blamed only by an answer of this wire: a page, a text or nothing at all with a 403
 * or 404 is the work of a firewall, a proxy or a wrong address, and would be the same for every account.
 */
function failureKind(facts: Facts): UpstreamFailureKind {
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
      if (!facts.isStructured) return 'path';
      return BLAMES_NAMED_RESOURCE.test(facts.message) ? 'rejected' : 'model-not-found';
    case 400:
      return rejectedKind(facts.message);
    default:
      return kindOfOther(status);
  }
}

function rejectedKind(message: string): UpstreamFailureKind {
  if (saysUsedUp(message)) return 'quota-exhausted';
  if (MISSES_SIGNATURE.test(message)) return 'missing-signature';
  return BLAMES_SIGNATURE.test(message) ? 'bad-signature' : 'rejected';
}

/** Reasons of the public API's ErrorInfo that come with status 400 as well (google.api `ErrorReason`). */
const BAD_CREDENTIAL: ReadonlySet<string> = new Set(['API_KEY_INVALID', 'API_KEY_EXPIRED']);

/** True when the upstream does not serve the place the request came from: another way out may do. */
function blamesPlace({ status, message }: Facts): boolean {
  return (status === 400 || status === 403) && BLAMES_LOCATION.test(message);
}

/** Money may be gone as well. */
function isQuota({ reasons, quota, message }: ErrorBody): boolean {
  return reasons.includes('QUOTA_EXHAUSTED') || saysUsedUp(message) || isLongQuota(quota);
}

function forbiddenKind(facts: ErrorBody): UpstreamFailureKind {
  const { reasons, metadata, message } = facts;
  if (reasons.includes('VALIDATION_REQUIRED') || metadata.has('validation_url')) {
    return 'verification-required';
  }
  // The client named it, so that every account would be refused, one after the other.
  if (BLAMES_NAMED_RESOURCE.test(message)) return 'rejected';
  const isOfAccount = reasons.some((reason) => REFUSED_ACCOUNT.has(reason));
  return isOfAccount || BLAMES_ACCOUNT.some((words) => words.test(message))
    ? 'forbidden'
    : 'model-forbidden';
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

/** One quota that was exceeded, as a QuotaFailure or an ErrorInfo names it. */
interface ExceededQuota {
  readonly limit: number | undefined;
  readonly windowMs: number | undefined;
  /** False for quotas of tokens. */
  readonly countsCalls: boolean;
}

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
  const named = [...violations.map(readViolation), readExceededQuota(metadata)].flat();
  if (named.length === 0 && resetsAt === undefined) return undefined;
  const windows = named.flatMap(({ windowMs }) => windowMs ?? []);
  const longestMs = windows.length === 0 ? undefined : Math.max(...windows);
  const ofCalls = named.find((quota) => quota.windowMs === longestMs && quota.countsCalls);
  return {
    ...(ofCalls?.limit === undefined ? {} : { limit: ofCalls.limit }),
    ...(longestMs === undefined ? {} : { windowMs: longestMs }),
    ...(resetsAt === undefined ? {} : { resetsAt }),
  };
}

function readViolation({ quotaId, quotaMetric, quotaValue }: JsonObject): readonly ExceededQuota[] {
  return quotaOf([textOf(quotaId) ?? '', textOf(quotaMetric) ?? ''], quotaValue);
}

function readExceededQuota(metadata: ReadonlyMap<string, string>): readonly ExceededQuota[] {
  const names = ['quota_limit', 'quota_unit', 'quota_metric'].map(
    (name) => metadata.get(name) ?? '',
  );
  return quotaOf(names, metadata.get('quota_limit_value'));
}

/**
 * None where nothing is named. The window is read from names such as `…RequestsPerMinutePerProject`,
 * `requests_per_day`, or the unit `1/min/{project}`.
 */
function quotaOf(names: readonly string[], limit: JsonValue | undefined): readonly ExceededQuota[] {
  if (names.every((name) => name === '')) return [];
  const windows = names.map((name) => /(?:per[_ ]?|\/)(second|minute|min|hour|day)/i.exec(name));
  const unit = windows.find((window) => window !== null)?.[1] ?? '';
  return [
    {
      limit: countOf(limit),
      windowMs: UNIT_MS.get(unit.slice(0, 1).toLowerCase()),
      countsCalls:
        !names.some((name) => /token/i.test(name)) && names.some((name) => /request/i.test(name)),
    },
  ];
}

/** Sources: ai.google.dev, "GenerateContent API errors"; google.rpc `Status`, `error_details.proto`. */
interface ErrorBody {
  /** The upstream's own words; '' when it said nothing. */
  readonly message: string;
  /** False when the answer holds no error object: nobody of this wire wrote it. */
  readonly isStructured: boolean;
  readonly details: JsonObject[];
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
function readErrorText(text: string, now: number): ErrorBody {
  const value = tryParse(text);
  const first = Array.isArray(value) ? value[0] : value;
  return readErrorObject(isJsonObject(first) ? (first.error ?? first) : undefined, now);
}

/** The value of an `error` key: an object, or in some upstreams just a text. */
function readErrorObject(value: JsonValue | undefined, now: number): ErrorBody {
  const error = isJsonObject(value) ? value : {};
  const message = typeof value === 'string' ? value : (textOf(error.message) ?? '');
  const details = [...objectsOf(error.details)];
  const infos = detailsOf(details, 'ErrorInfo', 'reason');
  const failures = detailsOf(details, 'QuotaFailure', 'violations');
  const delays = detailsOf(details, 'RetryInfo', 'retryDelay');
  const metadata = readMetadata(infos);
  const resetDelayMs = readDuration(metadata.get('quotaResetDelay') ?? '');
  const resetTimeMs = readTimestamp(metadata.get('quotaResetTimeStamp') ?? '', now);
  const resetMs = resetTimeMs ?? resetDelayMs;
  const resetsAt = resetMs === undefined ? undefined : now + resetMs;
  const waits = delays.map(({ retryDelay }) => readDelay(retryDelay));
  waits.push(resetDelayMs, resetTimeMs);
  const known = waits.filter((wait) => wait !== undefined);
  const violations = failures.flatMap((failure) => objectsOf(failure.violations));
  return {
    message,
    isStructured: typeof value === 'string' || isJsonObject(value),
    details,
    code: readNumber(error.code) ?? HTTP_STATUS.get(textOf(error.status) ?? ''),
    reasons: infos.map((info) => (textOf(info.reason) ?? '').toUpperCase()),
    metadata,
    quota: readQuotaLesson(violations, metadata, resetsAt),
    // An upstream that names several waits lets us in again only after the longest.
    retryAfterMs: known.length === 0 ? readDelayFromMessage(message, now) : Math.max(...known),
  };
}

function readMetadata(infos: readonly JsonObject[]): Map<string, string> {
  const fields = infos.flatMap(({ metadata }) => Object.entries(objectOf(metadata) ?? {}));
  return new Map(fields.map(([key, value]) => [key, textOf(value) ?? '']));
}

/** Those of a kind, known by their type or by the field that tells. */
function detailsOf(details: readonly JsonObject[], kind: string, field: string): JsonObject[] {
  return details.filter((each) => textOf(each['@type'])?.endsWith(kind) || field in each);
}
