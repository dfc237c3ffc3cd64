// Reads the error object of the generate-content wire, tolerantly, into the few facts that decide.

import type { QuotaLesson } from '../../canonical/error.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  readNumber,
} from '../../lib/json.ts';
import { readQuotaLesson } from './quota-lesson.ts';
import {
  readDelay,
  readDelayFromMessage,
  readDuration,
  readRetryAfter,
  readTimestamp,
} from './retry-delay.ts';

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

function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
