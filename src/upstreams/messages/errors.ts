// Decides what a refusal of a Messages upstream means: one failure kind for the retry table, one error for the client;
// which fields it refuses, of which a request may do without, and the rate limits in its headers.

import { changed, type GatewayError, type GatewayErrorOptions } from '../../canonical/error.ts';
import type { UpstreamFailureKind } from '../../canonical/failure.ts';
import type { QuotaLesson, RateLimit } from '../../canonical/quota.ts';
import { type JsonObject, type JsonValue, tryParse } from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import {
  countOf,
  type Headers,
  headerOf,
  itemsOf,
  objectOf,
  textOf,
} from '../../lib/read-values.ts';
import { scrubText } from '../../lib/redact.ts';
import { ERROR_TYPE_STATUS, MESSAGES_WIRE } from '../../wire/messages.ts';
import {
  blamesModel,
  factsOf,
  factsOfFrame,
  isLongQuota,
  kindOfOther,
  LONG_MS,
  litellmFailure,
  type RefusalFacts,
  refusalError,
  saysUsedUp,
  type UpstreamRefusal,
  WRONG_PLACE,
  withServiceHeaders,
} from '../errors.ts';
import {
  readDelayFromMessage,
  readRetryWait,
  readScarcestLimit,
  readTimestamp,
} from '../refusals.ts';
import type { Conflict, FieldRules } from '../refused-fields.ts';
import {
  FORCED_CALL,
  MISSES_THOUGHTS,
  REFUSES_FORCED_CALL,
  THOUGHTS_MISSED,
} from '../wire-parts.ts';
import { isForcedCall } from './encode-config.ts';

// Error prose is only interpreted in this file, for faults that share a type with others.

/** "messages.1.content.0: Invalid `signature` in `thinking` block", and the like of redacted ones. */
const BLAMES_SIGNATURE =
  /\binvalid [`'"]?(?:signature|data)[`'"]? in [`'"]?(?:redacted_)?thinking|\bthinking[`'"]? (?:or [`'"]?redacted_thinking[`'"]? )?blocks?\b[^.]{0,80}\bcannot be modified/i;

/** "Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, …" */
const MISSES_THOUGHT =
  /\bexpected [`'"]?thinking[`'"]?(?: or [`'"]?redacted_thinking[`'"]?)?, but found/i;

/** "Your credit balance is too low to access the API." */
const BLAMES_BALANCE = /\bcredit balance\b|\bbilling\b[^.]{0,60}\b(?:inactive|disabled|limit)/i;

/** "This organization has been disabled.", "Your API key has been revoked." */
const BLAMES_ACCOUNT =
  /\b(?:organization|account|workspace|api key)\b[^.]{0,60}\b(?:disabled|suspended|deactivated|terminated|revoked|banned|archived)\b/i;

/** "Access to Anthropic models is not allowed from unsupported countries, regions, or territories." */
const BLAMES_LOCATION =
  /\b(?:country|countries|region|regions|territory|location)\b[^.]{0,60}\b(?:not|un)\s?(?:supported|available|allowed)|\bunsupported (?:country|countries|region|location)/i;

/** "thread: Extra inputs are not permitted" */
const REFUSES_THREAD = /^thread\b[^:]{0,40}:/;

interface Facts extends RefusalFacts {
  /** The word of the wire for it; undefined where the answer holds no error of this wire. */
  readonly type: string | undefined;
  readonly message: string;
  /** What exactly is wrong, where the answer has words for it: `{error_code, …}`. */
  readonly details?: JsonObject | undefined;
  readonly retryAfterMs: number | undefined;
  readonly quota?: QuotaLesson | undefined;
  /** As they went up. */
  readonly tools?: JsonValue | undefined;
}

/** The error a non-2xx answer amounts to; `failure` is always set. Never throws. */
export function classifyFailure(refusal: UpstreamRefusal): GatewayError {
  const { body, now } = refusal;
  const headers = withServiceHeaders(refusal.headers);
  const error = readErrorText(body);
  const quota = readQuotaLesson(headers, now);
  return toGatewayError({
    ...error,
    ...factsOf({ ...refusal, headers }),
    retryAfterMs: readRetryWait(headers, now, {
      bodyMs: readDelayFromMessage(error.message, now),
      resetMs: quota && quota.resetsAt - now,
    }),
    quota,
    tools: refusal.tools,
  });
}

/** The error an `error` event inside an answer amounts to, as if its type had been the status. */
export function classifyErrorFrame(
  value: JsonValue | undefined,
  now: number,
  secrets?: readonly string[],
): GatewayError {
  const error = readError(value);
  const { type = 'api_error', message } = error;
  return toGatewayError({
    ...error,
    ...factsOfFrame(value ?? null, ERROR_TYPE_STATUS.get(type) ?? 500, secrets),
    type,
    retryAfterMs: readDelayFromMessage(message, now),
  });
}

function toGatewayError(facts: Facts): GatewayError {
  const { type, details } = facts;
  const kind = failureKind(facts);
  const error = refusalError({
    ...facts,
    kind,
    reason: type,
    wireDetails: details && { wire: MESSAGES_WIRE, members: { details } },
    clientMessage: clientMessageOf(kind, facts),
  });
  const ofThread = threadFault(facts);
  return ofThread === undefined ? error : changed(error, ofThread);
}

function clientMessageOf(kind: UpstreamFailureKind, facts: Facts): string | Sentence | undefined {
  if (blamesPlace(facts)) return WRONG_PLACE;
  return kind === 'rejected' ? nameTool(facts) : undefined;
}

/** "tools.3.custom.input_schema: JSON schema is invalid.": counted as they went up, which clients do not see. */
const TOOL_PLACE = /^tools\.(\d+)\b/;

/** The complaint about a tool, with its name behind it: there are clients that act on how a complaint begins. */
function nameTool({ message, secrets, tools }: Facts): string | undefined {
  const [place, at] = TOOL_PLACE.exec(message) ?? [];
  const name = textOf(objectOf(itemsOf(tools)[Number(at)])?.name);
  return name && `${scrubText(message, secrets)} (${place} is "${name}".)`;
}

/**
 * Clients that let the service keep the conversation go on by these codes: whole, or without a thread.
 * Source: TypeScript SDK `resources/messages/messages.d.ts`, Thread…ErrorDetails.
 */
function threadFault(facts: Facts): Partial<GatewayErrorOptions> | undefined {
  // An upstream without threads knows no such code: it refuses the field.
  const isRefused = facts.status === 400 && REFUSES_THREAD.test(facts.message);
  switch (isRefused ? 'thread_unsupported_request' : textOf(facts.details?.error_code)) {
    case 'thread_not_found':
      return { kind: 'not-found', reason: 'thread-not-found', field: 'thread' };
    case 'thread_unsupported_request':
      return { kind: 'invalid-request', reason: 'unsupported', field: 'thread' };
    default:
      return undefined;
  }
}

/**
 * An account is blamed only by an answer of this wire: a page, a text or nothing at all with a 403 or 404 is the
 * work of a firewall, a proxy or a wrong address. Source: Messages API, "Errors".
 */
function failureKind(facts: Facts): UpstreamFailureKind {
  const { status, type, message } = facts;
  const ofLitellm = litellmFailure(facts);
  if (ofLitellm !== undefined) return ofLitellm;
  if (threadFault(facts) !== undefined) return 'rejected';
  if (status === 402 || type === 'billing_error') return 'quota-exhausted';
  if (status === 429) return isLong(facts) ? 'quota-exhausted' : 'rate-limited';
  if (status === 503 || status === 529 || type === 'overloaded_error') return 'overloaded';
  // MiniMax has a 500 for it.
  if (status === 500 && saysUsedUp(facts.message)) return 'quota-exhausted';
  if (facts.isPage || status < 400 || status >= 500 || blamesPlace(facts)) return 'path';
  switch (status) {
    case 401:
      return 'unauthenticated';
    case 403:
      return type === undefined ? 'path' : forbiddenKind(message);
    case 404:
      return type === undefined ? 'path' : 'model-not-found';
    case 400:
      return rejectedKind(message);
    default:
      return kindOfOther(status);
  }
}

function forbiddenKind(message: string): UpstreamFailureKind {
  if (saysUsedUp(message)) return 'quota-exhausted';
  const isOfAccount = BLAMES_ACCOUNT.test(message) || BLAMES_BALANCE.test(message);
  return isOfAccount ? 'forbidden' : 'model-forbidden';
}

function rejectedKind(message: string): UpstreamFailureKind {
  if (BLAMES_BALANCE.test(message) || saysUsedUp(message)) return 'quota-exhausted';
  if (BLAMES_ACCOUNT.test(message)) return 'forbidden';
  if (blamesModel(message)) return 'model-not-found';
  if (MISSES_THOUGHT.test(message)) return 'missing-signature';
  return BLAMES_SIGNATURE.test(message) ? 'bad-signature' : 'rejected';
}

/** True when the upstream does not serve the place the request came from: another way out may do. */
function blamesPlace({ status, message }: Facts): boolean {
  return (status === 400 || status === 403) && BLAMES_LOCATION.test(message);
}

/** Money may be gone as well. */
function isLong({ message, retryAfterMs = 0, quota }: Facts): boolean {
  return retryAfterMs >= LONG_MS || isLongQuota(quota) || saysUsedUp(message);
}

/** What of the rate limits a header each says; `requests` are calls, the others tokens. */
const LIMITED = ['requests', 'tokens', 'input-tokens', 'output-tokens'] as const;
const LIMIT_HEADERS = ['anthropic-ratelimit', 'vendorb-ratelimit'].flatMap((prefix) =>
  LIMITED.map((of) => ({
    of,
    limit: `${prefix}-${of}-limit`,
    remaining: `${prefix}-${of}-remaining`,
    reset: `${prefix}-${of}-reset`,
  })),
);

type UsedUp = QuotaLesson & { readonly resetsAt: number };

/**
 * The limit that was used up and comes back last. Undefined where no header names one.
 * Source: Messages API, "Rate limits", response headers.
 */
function readQuotaLesson(headers: Headers, now: number): UsedUp | undefined {
  const used = LIMIT_HEADERS.flatMap((names) => readUsedUp(headers, names, now) ?? []);
  return used.reduce<UsedUp | undefined>(
    (latest, lesson) => (lesson.resetsAt > (latest?.resetsAt ?? 0) ? lesson : latest),
    undefined,
  );
}

/** Undefined for a limit of which something is left. */
function readUsedUp(
  headers: Headers,
  names: (typeof LIMIT_HEADERS)[number],
  now: number,
): UsedUp | undefined {
  const waitMs = readTimestamp(headerOf(headers, names.reset) ?? '', now);
  const remaining = countOf(headerOf(headers, names.remaining));
  if (remaining !== 0 || waitMs === undefined) return undefined;
  const limit = names.of === 'requests' ? countOf(headerOf(headers, names.limit)) : undefined;
  return {
    resetsAt: now + waitMs,
    // Limits are of a minute; one that comes back later is of a longer window.
    ...(waitMs >= LONG_MS ? { windowMs: waitMs } : {}),
    ...(limit === undefined ? {} : { limit }),
  };
}

/** What any answer says of the limits. */
export function readRateLimit(headers: Headers, now: number): RateLimit | undefined {
  return readScarcestLimit(headers, LIMIT_HEADERS, { now, readWait: readTimestamp });
}

interface ErrorBody {
  readonly type: string | undefined;
  readonly message: string;
  readonly details?: JsonObject | undefined;
}

/** The error in an answer's text: `{type: "error", error: {type, message}}`, or what others make of it. */
function readErrorText(text: string): ErrorBody {
  const value = objectOf(tryParse(text));
  return readError(value?.error ?? value);
}

/** Compatible upstreams write other types, or just a text. */
function readError(value: JsonValue | undefined): ErrorBody {
  if (typeof value === 'string') return { type: 'api_error', message: value };
  const error: JsonObject = objectOf(value) ?? {};
  const message = textOf(error.message) ?? '';
  const isError = message !== '' || error.type !== undefined || error.code !== undefined;
  const type = textOf(error.type) ?? (isError ? 'api_error' : undefined);
  return { type, message, details: objectOf(error.details) };
}

/**
 * "`temperature` is deprecated for this model.", "messages.65.content.1.tool_use.text: Extra inputs are not permitted",
 * "Thinking may not be enabled when tool_choice forces tool use.", "\"thinking.type.disabled\" is not supported for this model.",
 * "thinking.enabled.display: Input should be 'summarized' or 'omitted'".
 */
const REFUSALS = [
  /^(?<path>thinking) may not be enabled when tool_choice\b/i,
  /[`'"](?<path>thinking)\.type\.\w+[`'"]? is not supported\b/,
  /(?<![\w.])(?<path>[\w.]+): Extra inputs are not permitted/,
  /\b(?<path>\w+)[`'"]? is (?:deprecated|not supported) (?:for|by|with) this model\b/,
  /[`'"](?<path>top_p)[`'"]? cannot both be specified\b/,
  /\b(?<path>thinking\.(?:\w+\.)?display): Input should be\b/,
];

const NEEDED: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'system', 'max_tokens', 'stream', 'tools', 'tool_choice', 'thread'],
  ...['output_format', 'mcp_servers', 'container', 'inference_geo', 'role', 'content', 'type'],
  ...['id', 'name', 'input', 'input_schema', 'tool_use_id', 'is_error', 'source', 'signature'],
  ...['data', 'title', 'context', 'url', 'description', 'citations', 'budget_tokens'],
  // Where a tool of the service may look, and how often.
  ...['allowed_domains', 'blocked_domains', 'max_uses'],
]);

/** Services whose models think unasked, and are told not to where a request cannot have that. */
const CONFLICTS: readonly Conflict[] = [
  {
    words: REFUSES_FORCED_CALL,
    resolve: (body) =>
      isForcedCall(body.tool_choice) ? withoutThinking(body, FORCED_CALL) : undefined,
  },
  {
    words: MISSES_THOUGHTS,
    resolve: (body) => withoutThinking(body, THOUGHTS_MISSED),
    isOfRequest: true,
  },
];

function withoutThinking(body: JsonObject, reason: Sentence): ReturnType<Conflict['resolve']> {
  const thinking = { type: 'disabled' };
  const isOff = objectOf(body.thinking)?.type === 'disabled';
  return isOff ? undefined : { body: { ...body, thinking }, place: 'thinking', reason };
}

/** Services know less than the newest clients say: hints on caching and editing of context, settings of sampling. */
export const MESSAGES_FIELDS: FieldRules = {
  wire: MESSAGES_WIRE,
  codes: [],
  refusals: REFUSALS,
  taken: { places: /^thinking\.display$/, words: /Input should be (.+)/ },
  otherNames: new Map(),
  places:
    /^(?:(?:messages\[\](?:\.content\[\]){0,2}|system\[\]|tools\[\])(?:\.cache_control)?\.|(?:context_management|output_config|metadata|cache_control|thinking)\.)?\w+$/,
  // A text and a thought are in the field that is called like their type.
  isNeeded: (field: string, holder: JsonObject) =>
    NEEDED.has(field) ||
    holder.type === field ||
    // The form of an answer.
    field === 'format' ||
    objectOf(holder[field])?.format !== undefined,
  // It depends on the rest of the request, or on the mode that was asked for.
  neverKept: new Set(['thinking']),
  tellDropped: (place) =>
    place === 'thinking'
      ? {
          action: 'approximated',
          reason: told`Left to the model: the service refuses what was asked for.`,
        }
      : undefined,
  nearest: (_display, taken) =>
    taken.includes('summarized')
      ? { word: 'summarized', reason: told`Thoughts are shown as summaries.` }
      : 'refused',
  ruleWord: (place) => (/^output_config\b/.test(place) ? 'thinking' : undefined),
  conflicts: CONFLICTS,
};
