// Reads how long an upstream asks to be left alone, in the many forms it says so.

/** No hint keeps an account away for longer; also far below what timers can hold. */
export const MAX_RETRY_DELAY_MS = 24 * 60 * 60 * 1000;

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
]);

const DURATION =
  /^(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/;
const DURATION_UNITS = ['d', 'h', 'm', 's', 'ms'] as const;

/**
 * Milliseconds of a duration such as `1.5s`, `510.79ms`, `1h16m0.667s`; undefined for anything else.
 * Sources: google.protobuf.Duration as JSON; Go's duration notation.
 */
export function readDuration(text: string): number | undefined {
  const match = DURATION.exec(text.trim());
  if (match === null || match[0] === '') return undefined;
  let milliseconds = 0;
  DURATION_UNITS.forEach((unit, at) => {
    milliseconds += Number(match[at + 1] ?? 0) * (UNIT_MS.get(unit) ?? 0);
  });
  return capDelay(milliseconds);
}

/** Milliseconds of a `Retry-After` value: whole or decimal seconds, or an HTTP date (RFC 9110, 10.2.3). */
export function readRetryAfter(value: string, now: number): number | undefined {
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return capDelay(Number(text) * 1000);
  return readDuration(text) ?? (/[a-z]{3}/i.test(text) ? readTimestamp(text, now) : undefined);
}

/** Milliseconds from `now` until a date; 0 when it has passed; undefined when it is none. */
export function readTimestamp(text: string, now: number): number | undefined {
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : capDelay(Math.max(0, at - now));
}

const INTRODUCTION = /(?:retry|try again|resets?) (?:in|after) /i;
const UNITS = 'ms|milliseconds?|seconds?|sec|s|minutes?|min|m|hours?|h|days?|d';
const AMOUNT = new RegExp(`[\\s,]{0,2}(?:and )?(\\d+(?:\\.\\d+)?) ?(${UNITS})(?![a-z])`, 'iy');

/** The wait named in a message, such as "Please retry in 45.8s." or "try again in 5 minutes". */
export function readDelayFromMessage(message: string): number | undefined {
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
