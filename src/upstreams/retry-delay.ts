// Reads how long an upstream asks to wait (durations, dates, headers, sentences), and what its headers say of limits.

import { isJsonObject, type JsonValue, readNumber } from '../lib/json.ts';
import type { RateLimit } from './upstream.ts';

/** No hint keeps an account away for longer; also far below what timers can hold. */
export const MAX_RETRY_DELAY_MS = 24 * 60 * 60 * 1000;

export const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
  ['us', 0.001],
  ['ns', 0.000_001],
]);

const DURATION = new RegExp(
  `^${Array.from(UNIT_MS.keys(), (unit) => `(?:(\\d+(?:\\.\\d+)?)${unit})?`).join('')}$`,
);

/**
 * Milliseconds of a duration such as `1.5s`, `510.79ms`, `1h16m0.667s`; undefined for anything else.
 * Sources: google.protobuf.Duration as JSON; Go's duration notation.
 */
export function readDuration(text: string): number | undefined {
  const plain = text
    .trim()
    .toLowerCase()
    .replace(/[µμ]s$/, 'us');
  const [whole = '', ...amounts] = DURATION.exec(plain) ?? [];
  if (whole === '') return undefined;
  const sizes = [...UNIT_MS.values()];
  return capDelay(
    amounts.reduce((sum, amount = '0', at) => sum + Number(amount) * (sizes[at] ?? 0), 0),
  );
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
/** "You will regain access on 2026-12-01 at 00:00 UTC." (Messages API, spend limits) */
const DAY = /\bregain access on (\d{4}-\d{2}-\d{2}) at (\d{2}:\d{2}) UTC/i;
const UNITS = 'ms|milliseconds?|seconds?|sec|s|minutes?|min|m|hours?|h|days?|d';
const AMOUNT = new RegExp(`[\\s,]{0,2}(?:and )?(\\d+(?:\\.\\d+)?) ?(${UNITS})(?![a-z])`, 'iy');

/** The wait named in a message, such as "Please retry in 45.8s." or "try again in 5 minutes". */
export function readDelayFromMessage(message: string, now: number): number | undefined {
  const moment = MOMENT.exec(message)?.[1]?.replace(/[.]+$/, '');
  if (moment !== undefined) return readTimestamp(moment, now);
  const [, day, time] = DAY.exec(message) ?? [];
  if (day !== undefined) return readTimestamp(`${day}T${time}:00Z`, now);
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

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The names of the headers of one limit; lower-case. */
interface LimitHeaders {
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

/** For a limit that does not say when it is whole again. */
const USUAL_WINDOW_MS = 60_000;

/** Of several limits the one of which the smallest share is left, as it is met first; undefined where no header names one. */
export function readScarcestLimit(
  headers: Headers,
  limits: readonly LimitHeaders[],
  { now, readWait }: { readonly now: number; readWait(text: string): number | undefined },
): RateLimit | undefined {
  let scarcest: RateLimit | undefined;
  for (const names of limits) {
    const limit = readCount(headers, names.limit);
    const remaining = readCount(headers, names.remaining);
    if (limit === undefined || limit === 0 || remaining === undefined) continue;
    const remainingFraction = Math.min(1, remaining / limit);
    if (scarcest !== undefined && scarcest.remainingFraction <= remainingFraction) continue;
    const waitMs = readWait(headerOf(headers, names.reset) ?? '') ?? USUAL_WINDOW_MS;
    scarcest = { remainingFraction, resetsAt: now + Math.min(waitMs, MAX_RETRY_DELAY_MS) };
  }
  return scarcest;
}

function readCount(headers: Headers, name: string): number | undefined {
  const text = headerOf(headers, name)?.trim();
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
