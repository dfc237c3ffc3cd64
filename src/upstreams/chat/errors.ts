// What a refusal of this wire means: one failure kind for the retry table, one error for the client;
// and which fields it refuses, of which a request may do without.

import type { GatewayError } from '../../canonical/error.ts';
import type { UpstreamFailureKind } from '../../canonical/failure.ts';
import type { QuotaLesson, RateLimit } from '../../canonical/quota.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  readNumber,
  tryParse,
} from '../../lib/json.ts';
import { told } from '../../lib/localized-message.ts';
import {
  countOf,
  type Headers,
  headerOf,
  objectOf,
  objectsOf,
  textOf,
} from '../../lib/read-values.ts';
import { CHAT_WIRE } from '../../wire/chat.ts';
import {
  blamesModel,
  factsOf,
  factsOfFrame,
  isLongQuota,
  kindOfOther,
  litellmFailure,
  type RefusalFacts,
  refusalError,
  saysTooLong,
  saysUsedUp,
  type UpstreamRefusal,
  WRONG_PLACE,
  withServiceHeaders,
} from '../errors.ts';
import {
  readDelayFromMessage,
  readReset,
  readRetryWait,
  readScarcestLimit,
  UNIT_MS,
} from '../refusals.ts';
import type { FieldRules } from '../refused-fields.ts';
import { effortsAmong, nearestWord, whyNearest } from './reasoning.ts';

/** The error a non-2xx answer amounts to; `failure` is always set. Never throws. */
export function classifyFailure(refusal: UpstreamRefusal): GatewayError {
  const { body, now } = refusal;
  const headers = withServiceHeaders(refusal.headers);
  const error = readErrorText(body);
  const resetMs = readUsedUp(headers, error, now);
  return toGatewayError({
    ...error,
    ...factsOf({ ...refusal, headers }),
    retryAfterMs: readRetryWait(headers, now, {
      bodyMs: readDelayFromMessage(error.message, now),
      resetMs,
    }),
    quota: readQuotaLesson(error.message, resetMs === undefined ? undefined : now + resetMs),
  });
}

/** The error an `error` inside a 200 answer amounts to, as if it had been the status. */
export function classifyErrorFrame(
  value: JsonValue,
  now: number,
  secrets?: readonly string[],
): GatewayError {
  const error = readError(value);
  const resetMs = readUsedUp({}, error, now);
  return toGatewayError({
    ...error,
    ...factsOfFrame(value, error.status ?? statusOf(error), secrets),
    retryAfterMs: readDelayFromMessage(error.message, now) ?? resetMs,
    quota: readQuotaLesson(error.message, resetMs === undefined ? undefined : now + resetMs),
  });
}

/** What an answer says of an error, in any of the shapes in use. */
interface ErrorBody {
  /** The upstream's own words; '' when it said nothing. */
  readonly message: string;
  /** False when nobody of this wire wrote it. */
  readonly isStructured: boolean;
  /** Its machine-readable words in small letters, the most exact first. */
  readonly words: readonly string[];
  /** HTTP status the object itself names. */
  readonly status: number | undefined;
  readonly error: JsonObject;
}

const NOTHING: ErrorBody = {
  message: '',
  isStructured: false,
  words: [],
  status: undefined,
  error: {},
};

function readErrorText(text: string): ErrorBody {
  const value = tryParse(text);
  const first = Array.isArray(value) ? value[0] : value;
  return isJsonObject(first) ? readError(first.error ?? first) : NOTHING;
}

/**
 * `{message, type, code, param}` of the public API, llama.cpp and vLLM, a bare text (Ollama, LM Studio), `{detail}` of
 * FastAPI with a text, an object or a list of `{loc, msg}`.
 */
function readError(value: JsonValue): ErrorBody {
  if (typeof value === 'string') return { ...NOTHING, message: value, isStructured: true };
  if (!isJsonObject(value)) return NOTHING;
  const { code, type } = value;
  // Mistral's stand in the message: `{detail}`, or the list alone.
  const inner = Array.isArray(value.message) ? value.message : objectOf(value.message)?.detail;
  const detail = value.detail ?? inner;
  if (isJsonObject(detail)) return readError(detail.error ?? detail);
  const said = withProviders(textOf(value.message) ?? detailText(detail) ?? '', value.metadata);
  const message = SAYS_INVALID.test(said) ? (said.split('\n\n  File ')[0] ?? '') : said;
  const words = [code, type, objectOf(value.innererror)?.code]
    .flatMap((word) => textOf(word) ?? [])
    .filter((word) => !IS_NUMBER.test(word));
  const named = readNumber(code) ?? numberIn(textOf(code));
  return {
    message,
    // What a web framework says of a path it does not know is no word of this wire.
    isStructured:
      message !== '' &&
      !(detail !== undefined && /^not found$/i.test(message)) &&
      !SAYS_UNKNOWN_PATH.test(message),
    words: words.map((word) => word.toLowerCase()),
    status: named !== undefined && named >= 400 && named < 600 ? named : undefined,
    error: value,
  };
}

/** OpenRouter says "Provider returned error", and in `metadata.raw` what that was (openrouter.ai/docs, "Errors"). */
function withProviders(said: string, metadata: JsonValue | undefined): string {
  const raw = textOf(objectOf(metadata)?.raw);
  if (raw === undefined) return said;
  const words = readErrorText(raw).message || raw;
  return said.includes(words) ? said : [said, words].filter((one) => one !== '').join(': ');
}

const IS_NUMBER = /^\d+$/;

/** LiteLLM's `code` is the status as a text. */
function numberIn(text = ''): number | undefined {
  return IS_NUMBER.test(text) ? Number(text) : undefined;
}

function detailText(detail: JsonValue | undefined): string | undefined {
  const said = textOf(detail);
  if (said !== undefined) return said;
  const lines = objectsOf(detail).map(({ loc, msg }) => {
    const place = Array.isArray(loc) ? loc.filter((step) => step !== 'body').join('.') : '';
    return [place, textOf(msg) ?? ''].filter((part) => part !== '').join(': ');
  });
  return lines.join('; ') || undefined;
}

interface Facts extends Omit<ErrorBody, 'status'>, RefusalFacts {
  readonly retryAfterMs: number | undefined;
  readonly quota: QuotaLesson | undefined;
}

function toGatewayError(facts: Facts): GatewayError {
  const kind = failureKind(facts);
  const isTooLong =
    kind === 'rejected' && (says(facts, TOO_LONG) || SAYS_TOO_LONG.test(facts.message));
  const isLengthNamed = /context (?:length|window)/i.test(facts.message);
  const isLarger = kind === 'rate-limited' && isOversized(facts.message);
  // Whose account it is is nobody's business.
  const anonymous = isLarger ? facts.message.replace(/ in organization \S+/, '') : undefined;
  return refusalError({
    ...facts,
    kind,
    isOversized: isLarger ? true : undefined,
    message:
      isTooLong && !isLengthNamed
        ? `The context length is exceeded: ${facts.message}`
        : facts.message,
    reason: facts.words[0],
    clientMessage: blamesPlace(facts) ? WRONG_PLACE : anonymous,
    wireDetails: { wire: CHAT_WIRE, members: namedIn(facts.error) },
  });
}

/**
 * What clients act on beside the words: which field is wrong and how, in the words of the wire, where others write
 * numbers or nothing; what Azure's filter found (learn.microsoft.com, "Content filtering"), the call that Groq refused
 * (console.groq.com/docs/tool-use), and what a provider of OpenRouter said (openrouter.ai/docs, "Errors").
 */
function namedIn({ param, code, ...error }: JsonObject): JsonObject {
  const word = textOf(code) ?? '';
  const members: JsonObject = {
    ...(typeof param === 'string' ? { param } : {}),
    ...(word === '' || IS_NUMBER.test(word) ? {} : { code: word }),
  };
  for (const name of ['innererror', 'failed_generation', 'metadata']) {
    if (error[name] !== undefined) members[name] = error[name];
  }
  return members;
}

// Words of the public API (platform.openai.com, "Error codes") and of compatible ones.
const BAD_KEY = [
  'invalid_api_key',
  'invalid_authentication',
  'authentication_error',
  'unauthorized',
];
const NO_QUOTA = [
  ...['insufficient_quota', 'quota_exceeded', 'billing_hard_limit_reached'],
  ...['insufficient_balance', 'insufficient_credits', 'exceeded_current_quota_error', 'arrearage'],
];
const BAD_ACCOUNT = [
  ...['account_deactivated', 'billing_not_active', 'access_terminated', 'organization_deactivated'],
  ...['organization_restricted', 'account_suspended'],
];
const NO_MODEL = [
  ...['model_not_found', 'model_not_available', 'deploymentnotfound', 'invalid_model'],
  ...['model_decommissioned', 'model_not_supported', 'unknown_model', 'unavailable_model'],
];
const OVERLOADED = [
  ...['server_is_overloaded', 'overloaded_error', 'engine_overloaded', 'engine_overloaded_error'],
  ...[
    'slow_down',
    'model_overloaded',
    'service_unavailable_error',
    'capacity_exceeded',
    'unavailable_error',
  ],
];
const LIMITED = [
  'rate_limit_exceeded',
  'rate_limit_error',
  'too_many_requests',
  'throttling_error',
  'requests',
  'tokens',
];
const TOO_LONG = [
  'context_length_exceeded',
  'exceed_context_size_error',
  'string_above_max_length',
];
const BLOCKED = [
  'content_policy_violation',
  'content_filter',
  'moderation',
  // OpenAI's models that draw (Wei-Shaw/sub2api#2399).
  'moderation_blocked',
  'invalid_prompt',
];
/** What the request itself is to blame for; the second in streams of pictures. */
const INVALID = ['invalid_request_error', 'image_generation_user_error'];
const WRONG_COUNTRY = ['unsupported_country_region_territory'];

function says({ words }: Pick<ErrorBody, 'words'>, known: readonly string[]): boolean {
  return words.some((word) => known.includes(word));
}

/**
 * "Invalid `signature` in `reasoning_details`" and its variants; "property 'messages.2.assistant.reasoning_content' is
 * unsupported" and the like, of thoughts that the service takes under no such name.
 */
const BLAMES_SIGNATURE =
  /\bsignature\b[^.]{0,40}\b(?:reasoning|thinking|thought)|\b(?:reasoning|thinking|thought)\b[^.]{0,40}\bsignature\b|\b(?:property|parameter|field)\b.{0,40}\breasoning(?:_content|_details)?['"`]? is (?:unsupported|not)\b/i;
/** LiteLLM's word, before what the service behind it said. */
const SAYS_TOO_LONG = /\bContextWindowExceededError\b/;
/** llama-cpp-python says it of a body with a 500, and where in its own files. */
const SAYS_INVALID = /^\d+ validation errors?:\s/;
/** OpenAI and llama.cpp's server of a path they do not know, as a base URL without `/v1` gives. */
const SAYS_UNKNOWN_PATH = /^Invalid URL \((?:GET|POST) |^File Not Found$/;
/** xAI says it with a 400 (docs.x.ai, "Debugging errors"). */
const SAYS_BAD_KEY = /^Incorrect API key provided\b/;
/** xAI says it with a 403, and bills the request. */
const SAYS_BLOCKED = /^Content violates usage guidelines\b/;
/** OpenRouter says with a 404 what a request needs of a model that no provider has, and that the account allows none. */
const SAYS_UNSERVED = /^No endpoints found that support\b/;
const SAYS_NOT_ALLOWED = /^No endpoints \w+ matching your\b|^No allowed providers are available\b/;
/** What a 404 is for. */
const NAMES_MISSING =
  /\bmodel\b|\bnot (?:found|exist)|\b(?:no such|unknown)\b|\b(?:endpoint|route|path|url)\b/i;
/** For faults without a code. */
const SAYS_LIMITED =
  /^.{0,60}\brate limit (?:is |was )?(?:exceeded|reached)\b|\btoo many requests\b/i;
const SAYS_OVERLOADED = /\boverloaded\b|\bat capacity\b|\bno (?:available|free) (?:capacity|slot)/i;

/**
 * An account is blamed only by an answer of this wire: a page, a text or nothing at all with a 403 or 404 is the work
 * of a firewall, a proxy or a wrong address, and would be the same for every account.
 */
function failureKind(facts: Facts): UpstreamFailureKind {
  const { status, message, words } = facts;
  const ofLitellm = litellmFailure({ status, message, type: words[0] });
  if (ofLitellm !== undefined) return ofLitellm;
  if (status === 402 || says(facts, NO_QUOTA)) return 'quota-exhausted';
  // MiniMax has a 500 for it, and errors in a 200 are taken for one.
  if (status <= 500 && saysUsedUp(message)) return 'quota-exhausted';
  if (isOversized(message)) return 'rate-limited';
  // Kimi's `engine_overloaded_error` comes with a 429.
  if (status === 429 && !isOverload(facts)) {
    return isLongQuota(facts.quota) ? 'quota-exhausted' : 'rate-limited';
  }
  if (SAYS_INVALID.test(message)) return 'rejected';
  // llama.cpp says it with a 500 as its memory fills up.
  if (status === 500 && saysTooLong(message)) return 'rejected';
  if (isOverload(facts)) return 'overloaded';
  if (facts.isPage || status < 400 || status >= 500 || blamesPlace(facts)) return 'path';
  if (status === 401 || says(facts, BAD_KEY) || SAYS_BAD_KEY.test(message))
    return 'unauthenticated';
  if (says(facts, BAD_ACCOUNT)) return 'forbidden';
  return says(facts, NO_MODEL) ? 'model-not-found' : kindOfStatus(facts);
}

/**
 * "Request too large for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000, Requested 36055." (OpenAI
 * with a 429, as in agent0ai/agent-zero#711, Groq with a 413); of a limit that is used up they say "Used" in between.
 */
function isOversized(message: string): boolean {
  const { limit, requested } =
    /\bLimit (?<limit>\d+), Requested (?<requested>\d+)/.exec(message)?.groups ?? {};
  return Number(requested) > Number(limit);
}

/** 498 is Groq's "flex tier capacity exceeded" (console.groq.com/docs/errors), 529 the one of other APIs. */
const OVERLOAD_STATUS: readonly number[] = [498, 503, 529];

function isOverload(facts: Facts): boolean {
  const { status, message } = facts;
  if (OVERLOAD_STATUS.includes(status) || says(facts, OVERLOADED)) return true;
  return status >= 500 && SAYS_OVERLOADED.test(message);
}

function kindOfStatus(facts: Facts): UpstreamFailureKind {
  const { status, isStructured, message } = facts;
  switch (status) {
    case 403:
      if (!isStructured) return 'path';
      if (says(facts, BLOCKED) || SAYS_BLOCKED.test(message)) return 'rejected';
      return isModerated(facts) ? 'rejected' : 'model-forbidden';
    // NVIDIA says it of a model at the end of its life.
    case 410:
    case 404:
      if (SAYS_UNSERVED.test(message)) return 'rejected';
      if (SAYS_NOT_ALLOWED.test(message)) return 'model-forbidden';
      if (isOfAnything(facts)) return 'rejected';
      return isStructured ? 'model-not-found' : 'path';
    case 400:
      if (blamesModel(message)) return 'model-not-found';
      return BLAMES_SIGNATURE.test(message) ? 'bad-signature' : 'rejected';
    default:
      return kindOfOther(status);
  }
}

/** MLX's server has a 404 with `{error: "…"}` for whatever went wrong (`mlx_lm/server.py`, `do_POST`). */
function isOfAnything({ isStructured, message, error }: Facts): boolean {
  const isBare = isStructured && Object.keys(error).length === 0;
  return isBare && !NAMES_MISSING.test(message);
}

/** openrouter.ai/docs, "Errors": a 403 for flagged input names the reasons in its metadata. */
function isModerated({ error }: Facts): boolean {
  return objectOf(error.metadata)?.reasons !== undefined;
}

function blamesPlace(facts: Facts): boolean {
  return facts.status === 403 && says(facts, WRONG_COUNTRY);
}

/** The status that such words come with elsewhere. */
function statusOf(error: ErrorBody): number {
  if (says(error, LIMITED) || SAYS_LIMITED.test(error.message)) return 429;
  if (says(error, BAD_KEY)) return 401;
  if (says(error, NO_MODEL)) return 404;
  const isRejected = [TOO_LONG, BLOCKED, INVALID].some((words) => says(error, words));
  return isRejected ? 400 : 500;
}

/**
 * Milliseconds until a limit that is used up is whole again (platform.openai.com, "Rate limits": `x-ratelimit-remaining-
 * requests` with `x-ratelimit-reset-requests`, and the same of tokens; openrouter.ai/docs, "Limits": headers in the
 * error's metadata, with a time in milliseconds since the epoch; of subscriptions, openai/codex: `usage_limit_reached`).
 */
function readUsedUp(headers: Headers, { error }: ErrorBody, now: number): number | undefined {
  const waits = LIMIT_HEADERS.flatMap(({ remaining, reset }) =>
    countOf(headerOf(headers, remaining)) === 0
      ? (readReset(headerOf(headers, reset) ?? '', now) ?? [])
      : [],
  );
  const inMetadata = objectOf(objectOf(error.metadata)?.headers)?.['X-RateLimit-Reset'];
  for (const named of [inMetadata, error.resets_at, error.resets_in_seconds]) {
    const namedMs = readReset(textOf(named) ?? String(readNumber(named) ?? ''), now);
    if (namedMs !== undefined) waits.push(namedMs);
  }
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/**
 * OpenAI's names, which most have; Cerebras' (inference-docs.cerebras.ai, "Rate Limits"); Mistral's (mistralai/client-ts#169);
 * those of one limit alone (OpenRouter, Together AI), and the names that a standard wants for them (IETF, "RateLimit header
 * fields for HTTP").
 */
const COUNTED = ['requests', 'tokens', 'requests-day', 'tokens-minute', 'req-minute'];
const LIMIT_HEADERS = [
  ...COUNTED.map((what) => ['x-ratelimit-', `-${what}`]),
  ...['x-ratelimit-', 'ratelimit-'].map((prefix) => [prefix, '']),
].map(([prefix = '', what = '']) => ({
  limit: `${prefix}limit${what}`,
  remaining: `${prefix}remaining${what}`,
  reset: `${prefix}reset${what}`,
}));

/** What any answer says of the limits, by the same headers. */
export function readRateLimit(headers: Headers, now: number): RateLimit | undefined {
  return readScarcestLimit(headers, LIMIT_HEADERS, { now, readWait: readReset });
}

/** "… on requests per min (RPM): Limit 3, Used 3, Requested 1." names the quota; tokens count no calls. */
const NAMED_LIMIT =
  /\b(requests|tokens) per (second|min|hour|day)\w*(?: \(\w+\))?(?::? Limit:? (\d+))?/i;

function readQuotaLesson(message: string, resetsAt: number | undefined): QuotaLesson | undefined {
  const named = NAMED_LIMIT.exec(message);
  if (named === null) return resetsAt === undefined ? undefined : { resetsAt };
  const [, what = '', unit = '', limit] = named;
  const windowMs = UNIT_MS.get(unit.slice(0, 1).toLowerCase());
  const isOfCalls = what.toLowerCase() === 'requests';
  return {
    ...(isOfCalls && limit !== undefined ? { limit: Number(limit) } : {}),
    ...(windowMs === undefined ? {} : { windowMs }),
    ...(resetsAt === undefined ? {} : { resetsAt }),
  };
}

/**
 * "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
 * "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
 * "Unknown parameter: 'messages[1].tool_calls[0].index'.", "Unrecognized request argument supplied: reasoning_effort"
 * (OpenAI, Azure), "invalid temperature: only 1 is allowed for this model" (Moonshot), "'messages.2' : for
 * 'role:assistant' the following must be satisfied[('messages.2' : property 'status' is unsupported, did you mean
 * 'name'?)]", "`reasoning_effort` must be one of `none` or `default`" (Groq), "Argument not supported on this model:
 * presencePenalty" (xAI), "messages.0.user.name: Extra inputs are not permitted" and the same as a list of `loc` and
 * `msg` (Mistral, vLLM), "reasoning_effort: unknown variant `minimal`, expected one of `low`, `high`" (DeepSeek),
 * "Extra inputs are not permitted, field: 'stream_options'" (Fireworks), "Unknown name \"seed\": Cannot find field."
 * (Google), "openai does not support parameters: ['seed'], for model=…" (LiteLLM), "reasoning_effort: Input should be
 * 'low', 'medium' or 'high'" (Cerebras), "reasoning_effort: Invalid option: expected one of \"high\"|\"low\""
 * (OpenRouter), "non-reasoning model does not support reasoning_effort" (Fireworks), "This model does not support
 * enable_search." (Qwen).
 */
const REFUSALS = [
  /Unsupported (?:parameter|value): '(?<path>[\w.[\]]+)' (?:is not supported|does not support)/,
  /Unknown parameter: '(?<path>[\w.[\]]+)'/,
  /Unrecognized request arguments? supplied: (?<path>\w+)/,
  /^invalid (?<path>\w+): only [\d.]+ is allowed/,
  /'(?<path>messages\.\d[\w.]*' : property '\w+)' is unsupported/,
  /\bproperty '(?<path>[\w.]+)' is unsupported/,
  /(?<![\w.])(?<path>[\w.]+): Extra inputs are not permitted/,
  /\bExtra inputs are not permitted, field: '(?<path>[\w.[\]]+)'/,
  /\bUnknown name "(?<path>\w+)": Cannot find field\b/,
  /\bdoes not support parameters: \['(?<path>\w+)'/,
  /["']loc["']: ?[[(](?<path>[^()[\]]*)[)\]], ?["']msg["']: ?["']Extra inputs/,
  /\b(?<path>\w+)[`'"]? is not supported with this model\b/,
  /\b(?<path>reasoning[_.]effort)(?:[`'"]? must be one of|: (?:unknown variant|Input should be|Invalid option))\b/,
  /\b(?:Argument not supported on this model:|does not support(?: parameter)?) (?<path>\w+)/,
];

const NEEDED: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'tools', 'tool_choice', 'functions', 'function_call', 'n'],
  ...['response_format', 'modalities', 'audio', 'role', 'content', 'refusal', 'prefix'],
  ...['tool_calls', 'tool_call_id', 'id', 'type', 'url'],
  // Where a service looks things up, and who may see the request.
  ...['web_search_options', 'search_parameters', 'documents', 'plugins', 'provider'],
]);

const EFFORT = /^reasoning(?:_effort|\.effort)$/;

export const CHAT_FIELDS: FieldRules = {
  wire: CHAT_WIRE,
  codes: ['unsupported_parameter', 'unsupported_value', 'unknown_parameter'],
  refusals: REFUSALS,
  taken: {
    places: EFFORT,
    words: /(?:Supported values are|must be one of|expected(?: one of)?|Input should be):? (.+)/,
  },
  otherNames: new Map([
    ['max_tokens', 'max_completion_tokens'],
    ['max_completion_tokens', 'max_tokens'],
  ]),
  // "Your organization must be verified to stream this model." (OpenAI): an answer may come whole.
  besides: new Map([
    ['stream', ['stream_options', 'tool_stream']],
    ['logprobs', ['top_logprobs']],
  ]),
  neverKept: new Set(['stream']),
  places:
    /^(?:(?:messages\[\](?:\.(?:content\[\](?:\.image_url)?|tool_calls\[\]))?|tools\[\]|stream_options|reasoning)\.)?\w+$/,
  // A part and a tool hold what they are in the field that is called like their type.
  isNeeded: (field: string, holder: JsonObject) => NEEDED.has(field) || holder.type === field,
  nearest(value, words) {
    const [wanted] = effortsAmong([value]);
    // A word nobody knows is the client's mistake.
    if (wanted === undefined) return undefined;
    const word = nearestWord(wanted, effortsAmong(words));
    return word === undefined ? 'refused' : { word, reason: whyNearest(wanted, word) };
  },
  tellDropped(place, isRelayed) {
    if (place === 'stream') return WHOLE;
    // Translated answers are cut at stop sequences here.
    return place === 'stop' && !isRelayed ? STOPS_HERE : undefined;
  },
  ruleWord: (place) => (EFFORT.test(place) ? 'thinking' : undefined),
};

const STOPS_HERE = {
  action: 'approximated',
  reason: told`The upstream takes ${0} stop sequences; the gateway cuts the answer at the others.`,
} as const;

const WHOLE = {
  action: 'approximated',
  reason: told`The upstream does not stream this answer: it comes whole.`,
} as const;
