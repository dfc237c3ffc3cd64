// What services tell when they refuse a request: limits of answers, which no model list has, remembered by model for a
// while; how long to wait; and what their headers say of limits.

import { GatewayError } from '../canonical/error.ts';
import type { UpstreamFailureKind } from '../canonical/failure.ts';
import type { RateLimit } from '../canonical/quota.ts';
import type { Clock } from '../lib/clock.ts';
import { isJsonObject, type JsonValue, readNumber } from '../lib/json.ts';
import { type Sentence, textOf, told } from '../lib/localized-message.ts';
import { countOf, type Headers, headerOf } from '../lib/read-values.ts';
import type { Upstream, UpstreamCall } from './upstream.ts';

interface ReportedLimit {
  readonly tokens: number;
  /** What has it: the model, what the length of this prompt leaves, or the account, by what it can pay for. */
  readonly of: 'model' | 'prompt' | 'account';
}

/** Less room for an answer than this is a prompt that is too long. */
const MIN_ROOM = 1024;

/**
 * "max_tokens is too large: 32000. This model supports at most 16384 completion tokens" (OpenAI, Azure), "the valid
 * range of max_tokens is [1, 8192]" (DeepSeek), "Range of max_tokens should be [1, 8192]" (Qwen), "`max_tokens` must be
 * less than or equal to `32768`" (Groq), "max_tokens: 32000 > 4096, which is the maximum allowed number of output
 * tokens" (Anthropic).
 */
const OF_MODEL = [
  /supports at most (\d+) (?:completion|output) tokens/i,
  /range of max_(?:completion_)?tokens (?:is|should be) \[\d+, ?(\d+)\]/i,
  /max_(?:completion_)?tokens[`'"]? must be less than or equal to [`'"]?(\d+)/i,
  /max_tokens: \d+ > (\d+), which is the maximum allowed/i,
];
/**
 * "(32000 > 16384 - 12)" (vLLM), "maximum context length is 8192 tokens. However, you requested 9000 tokens (1000 in
 * the messages, 8000 in the completion)" (OpenAI), "exceed context limit: 188240 + 21333 > 200000" (Anthropic).
 */
const OF_PROMPT = [
  /\(\d+ > (?<whole>\d+) - (?<prompt>\d+)\)/,
  /maximum context length is (?<whole>\d+) tokens\b[^(]*\((?<prompt>\d+) in the messages, \d+ in the completion\)/i,
  /exceed context limit: (?<prompt>\d+) \+ \d+ > (?<whole>\d+)/i,
];

/** "You requested up to 32000 tokens, but can only afford 27342." (OpenRouter, with a 402) */
const OF_ACCOUNT = /\byou requested up to \d+ tokens, but can only afford (\d+)/i;

/** Undefined for a refusal of something else, and where too little is left for an answer. */
function readReportedLimit(error: unknown): ReportedLimit | undefined {
  const said = complaintOf(error) ?? '';
  for (const pattern of OF_MODEL) {
    const tokens = Number(pattern.exec(said)?.[1] ?? 0);
    if (tokens > 0) return { tokens, of: 'model' };
  }
  for (const pattern of OF_PROMPT) {
    const { whole, prompt } = pattern.exec(said)?.groups ?? {};
    const tokens = Number(whole ?? 0) - Number(prompt ?? 0);
    if (tokens >= MIN_ROOM) return { tokens, of: 'prompt' };
  }
  const tokens = Number(OF_ACCOUNT.exec(wordsOf(error, 'quota-exhausted') ?? '')?.[1] ?? 0);
  return tokens >= MIN_ROOM ? { tokens, of: 'account' } : undefined;
}

const MAX_MODELS = 1000;
/**
 * Services change what they take, and routers have several behind one name. To learn one again costs a refused call, which
 * its client does not see: it is neither stored nor told to other processes.
 */
const LIFETIME_MS = 3_600_000;

/** What the service of one upstream was found to be like, by model. Clients name models, so there are not many kept. */
export class ModelMemory<Fact> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #known = new Map<string, { readonly fact: Fact; readonly until: number }>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  find(modelId: string): Fact | undefined {
    const known = this.#known.get(modelId);
    return known !== undefined && this.#clock.monotonic() < known.until ? known.fact : undefined;
  }

  learn(modelId: string, fact: Fact): void {
    if (this.#known.size >= MAX_MODELS) this.#known.clear();
    this.#known.set(modelId, { fact, until: this.#clock.monotonic() + LIFETIME_MS });
  }
}

/** What a service says that refused a request for what it asked; undefined of any other error. */
export function complaintOf(error: unknown): string | undefined {
  return wordsOf(error, 'rejected');
}

function wordsOf(error: unknown, kind: UpstreamFailureKind): string | undefined {
  if (!(error instanceof GatewayError) || error.failure?.kind !== kind) return undefined;
  const { detail } = error.failure;
  return detail === undefined ? undefined : textOf(detail);
}

/** The limits that the service of one upstream stated. */
export class OutputLimits {
  readonly #wire: Pick<Upstream, 'outputLimit' | 'limitOutput'>;
  readonly #known: ModelMemory<ReportedLimit>;

  constructor(
    wire: Pick<Upstream, 'outputLimit' | 'limitOutput'>,
    clock: Pick<Clock, 'monotonic'>,
  ) {
    this.#wire = wire;
    this.#known = new ModelMemory(clock);
  }

  /**
   * Sends the call, and once more with a lower limit where the service states one; what one account cannot pay for another
   * of the same model may. A call without a receipt, in which the
   * client reads of that, is sent as it came.
   * @throws GatewayError as `send` does
   */
  async open<Opened>(
    call: UpstreamCall,
    send: (call: UpstreamCall) => Promise<Opened>,
  ): Promise<Opened> {
    const known = this.#known.find(call.modelId);
    const first = known === undefined ? call : this.#within(known, call);
    try {
      return await send(first);
    } catch (error) {
      const limit = readReportedLimit(error);
      const isLeft = limit?.of === 'account' && call.hasSibling?.() === true;
      const next = isLeft ? undefined : limit && this.#within(limit, first);
      if (next === undefined || next === first) throw error;
      if (limit?.of === 'model') this.#known.learn(call.modelId, limit);
      return await send(next);
    }
  }

  /** The same call where it asks for no more, or may not be changed. */
  #within({ tokens, of }: ReportedLimit, call: UpstreamCall): UpstreamCall {
    const { modelId, body, receipt } = call;
    // Of an account that cannot pay for all that the model may write the service asks for a limit where there was none.
    const asked = this.#wire.outputLimit(body) ?? (of === 'account' ? Infinity : 0);
    if (asked <= tokens || receipt === undefined) return call;
    receipt.add('capped', 'max_tokens', whyLimited(of, tokens));
    const limited = this.#wire.limitOutput(body, tokens, { modelId });
    if (limited.thinking !== body.thinking) {
      receipt.add('approximated', 'thinking', told`Lowered to leave room for the answer.`);
    }
    return { ...call, body: limited };
  }
}

function whyLimited(of: ReportedLimit['of'], tokens: number): Sentence {
  switch (of) {
    case 'model':
      return told`This model writes at most ${tokens} tokens.`;
    case 'prompt':
      return told`The prompt leaves ${tokens} tokens for the answer.`;
    case 'account':
      return told`The account can pay for ${tokens} tokens of the answer.`;
    default:
      return of satisfies never;
  }
}

// How long an upstream asks to wait (durations, dates, headers, sentences), and what its headers say of limits.

/** No hint keeps an account away for longer; also far below what timers can hold. */
const MAX_RETRY_DELAY_MS = 24 * 60 * 60 * 1000;

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

/** Seconds since the epoch, or milliseconds, are far more than any wait has. */
const EPOCH_SECONDS = 1e9;
const EPOCH_MS = 1e12;

/** Milliseconds until a limit is whole again: a wait as `Retry-After` has it, or the time since the epoch. */
export function readReset(value: string, now: number): number | undefined {
  const at = Number(value.trim());
  if (!(at >= EPOCH_SECONDS)) return readRetryAfter(value, now);
  return capDelay(Math.max(0, (at >= EPOCH_MS ? at : at * 1000) - now));
}

/** Milliseconds from `now` until a date; 0 when it has passed; undefined when it is none. */
export function readTimestamp(text: string, now: number): number | undefined {
  // A date without a four-digit year would be guessed at.
  const at = /\d{4}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : capDelay(Math.max(0, at - now));
}

const INTRODUCTION =
  /(?:\b(?:retry|try again|resets?|available)(?: [a-z]+){0,2}? (?:in|after)|\bwait(?: for)?(?: at least)?) /i;
const MOMENT =
  /\b(?:retry|try again|resets?|available)(?: [a-z]+){0,2}? at (\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}[\d:.]*)(Z| ?(?:UTC|GMT)\b|[+-]\d{2}:?\d{2})?/i;
/** "Your limit will reset at 2026-09-12 00:35:41" (Z.ai): only services in China were seen to leave the zone out. */
const USUAL_ZONE = '+08:00';
/** "You will regain access on 2026-12-01 at 00:00 UTC." (Messages API, spend limits) */
const DAY = /\bregain access on (\d{4}-\d{2}-\d{2}) at (\d{2}:\d{2}) UTC/i;
const UNITS = 'ms|milliseconds?|seconds?|sec|s|minutes?|min|m|hours?|h|days?|d';
const AMOUNT = new RegExp(`[\\s,]{0,2}(?:and )?(\\d+(?:\\.\\d+)?) ?(${UNITS})(?![a-z])`, 'iy');

/** The wait named in a message, such as "Please retry in 45.8s." or "try again in 5 minutes". */
export function readDelayFromMessage(message: string, now: number): number | undefined {
  const [, date, clock = '', zone = USUAL_ZONE] = MOMENT.exec(message) ?? [];
  if (date !== undefined) {
    const offset = zone.replace(/ ?(?:UTC|GMT)/i, 'Z');
    return readTimestamp(`${date}T${clock.replace(/(?<![.])[.]+$/, '')}${offset}`, now);
  }
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

/** What a refusal says of its wait beside the headers made for that. */
interface ReadWaits {
  /** Of its words, or of what its body has for it. */
  readonly bodyMs: number | undefined;
  /** Until a limit that is used up is whole again. */
  readonly resetMs?: number | undefined;
}

/**
 * The wait a refusal asks for, in milliseconds: that of its headers, else of its body, else of the limit that is used up. A
 * header that says "at once" does not outweigh what knows better.
 */
export function readRetryWait(
  headers: Headers,
  now: number,
  { bodyMs, resetMs }: ReadWaits,
): number | undefined {
  const headerMs = readRetryHeaders(headers, now);
  return headerMs || (bodyMs ?? resetMs ?? headerMs);
}

function readRetryHeaders(headers: Headers, now: number): number | undefined {
  const inMs = headerOf(headers, 'retry-after-ms') ?? '';
  if (/^\d+(\.\d+)?$/.test(inMs.trim())) return readDuration(`${inMs.trim()}ms`);
  return readRetryAfter(headerOf(headers, 'retry-after') ?? '', now);
}

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
  {
    now,
    readWait,
  }: { readonly now: number; readWait(text: string, now: number): number | undefined },
): RateLimit | undefined {
  let scarcest: RateLimit | undefined;
  for (const names of limits) {
    const limit = countOf(headerOf(headers, names.limit));
    const remaining = countOf(headerOf(headers, names.remaining));
    if (limit === undefined || limit === 0 || remaining === undefined) continue;
    const remainingFraction = Math.min(1, remaining / limit);
    if (scarcest !== undefined && scarcest.remainingFraction <= remainingFraction) continue;
    const waitMs = readWait(headerOf(headers, names.reset) ?? '', now) ?? USUAL_WINDOW_MS;
    scarcest = { remainingFraction, resetsAt: now + Math.min(waitMs, MAX_RETRY_DELAY_MS) };
  }
  return scarcest;
}
