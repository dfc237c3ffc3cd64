// The errors an attempt at an upstream ends with: one failure kind for the retry table, one text for the client.

import { ATTEMPTS_HEADER } from '../canonical/call-record.ts';
import {
  type ErrorKind,
  GatewayError,
  upstreamError,
  type WireDetails,
} from '../canonical/error.ts';
import type { UpstreamFailure, UpstreamFailureKind } from '../canonical/failure.ts';
import type { QuotaLesson } from '../canonical/quota.ts';
import { type JsonObject, type JsonValue, parseObject } from '../lib/json.ts';
import { type Sentence, textOf, told } from '../lib/localized-message.ts';
import { type Headers, headerOf, objectOf } from '../lib/read-values.ts';
import { scrubText } from '../lib/redact.ts';
import type { DecodeContext } from './upstream.ts';

export interface UpstreamRefusal {
  readonly status: number;
  readonly headers: Headers;
  /** The body's text, as far as it was read. */
  readonly body: string;
  /** Milliseconds since the epoch, for waits given as dates. */
  readonly now: number;
  /** Secrets and ids of the account, never to be shown. */
  readonly secrets?: readonly string[] | undefined;
  /** The tools of the refused body, for wires whose complaints count them. */
  readonly tools?: JsonValue | undefined;
}

/** What a refusal says on every wire beside the words of its body. */
export interface RefusalFacts {
  readonly status: number;
  /**
   * True for an HTML page: something between here and the upstream wrote it, of its own trouble. What it says of the
   * size of a body (413) is as true of the next attempt.
   */
  readonly isPage: boolean;
  /** As `UpstreamFailure` has it. */
  readonly isTriedOut?: true | undefined;
  /** What the log gets: the body without secrets. */
  readonly excerpt: string;
  readonly secrets: readonly string[];
}

export function factsOf({ status, headers, body, secrets = [] }: UpstreamRefusal): RefusalFacts {
  const isHtml =
    /\bx?html\b/i.test(headerOf(headers, 'content-type') ?? '') ||
    /^\s*<(?:!doctype|html|head|body|\?xml)/i.test(body);
  const isPage = isHtml && status !== 413;
  const isTriedOut = headerOf(headers, ATTEMPTS_HEADER) === undefined ? undefined : true;
  return { status, isPage, isTriedOut, excerpt: scrubText(body, secrets), secrets };
}

/** The same of an error inside a 200 answer, as if it had been the status. */
export function factsOfFrame(
  value: JsonValue,
  status: number,
  secrets: readonly string[] = [],
): RefusalFacts {
  return { status, isPage: false, excerpt: scrubText(JSON.stringify(value), secrets), secrets };
}

/**
 * What an object says in place of an answer: `{error}` in any shape, or one that is the error itself, as older vLLM has
 * it.
 */
export function errorIn(value: JsonObject): JsonValue | undefined {
  const { error, object, type, choices } = value;
  if (error !== undefined && error !== null) return error;
  const isError = object === 'error' || type === 'error';
  return isError && choices === undefined ? value : undefined;
}

/**
 * What an object says that stands where an answer should, and is no part of one: `{code, msg}` (Z.ai), `{code, message}`
 * (SiliconFlow, DashScope), `{detail}`, and MiniMax's `base_resp`; its words are the `message`. Undefined where it has none.
 */
export function complaintIn(value: JsonObject): JsonObject | undefined {
  const said = objectOf(value.base_resp) ?? value;
  const { message, msg, status_msg: status, detail } = said;
  const words = [message, msg, status, detail].find((one) => typeof one === 'string' && one);
  return words === undefined || said.status_code === 0 ? undefined : { ...said, message: words };
}

/** What a wire read from a refusal. */
interface ReadRefusal extends Omit<RefusalFacts, 'isPage'> {
  readonly kind: UpstreamFailureKind;
  /** The upstream's own words; '' when it said nothing. */
  readonly message: string;
  /** The upstream's machine-readable reason. */
  readonly reason?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly quota?: QuotaLesson | undefined;
  /** As `UpstreamFailure` has it. */
  readonly isOversized?: true | undefined;
  /** What the refusal of a request says beside its words. */
  readonly wireDetails?: WireDetails | undefined;
  /** What a client is told instead of the upstream's words, or of ours. */
  readonly clientMessage?: string | Sentence | undefined;
  /** Stands before the upstream's words in what the operator is shown, such as an address to go to. */
  readonly lead?: string | undefined;
}

/** The error a refusal amounts to; `failure` is always set. */
export function refusalError(refusal: ReadRefusal): GatewayError {
  const { kind, status, reason, retryAfterMs, quota } = refusal;
  const failure: UpstreamFailure = {
    kind,
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(refusal.isTriedOut && { isTriedOut: true }),
    ...(refusal.isOversized && { isOversized: true }),
    retryAfterMs,
    detail: detailOf(refusal),
    ...(LIMITS.has(kind) && quota !== undefined ? { quota } : {}),
  };
  const isOfRequest = kind === 'rejected' || kind === 'lacking' || refusal.isOversized === true;
  if (isOfRequest) return rejection(refusal, failure);
  const forClient = CLIENT_ERRORS[kind];
  return upstreamError(status === 504 ? 'timeout' : forClient.kind, messageFor(kind, refusal), {
    failure,
    retryAfterMs,
    cause: causeOf(refusal),
    ...(kind === 'model-not-found' ? { reason: 'model-not-found' } : {}),
  });
}

/** A fault between here and the upstream's answer: another account may do better. */
export function pathFault(message: Sentence, cause?: unknown): GatewayError {
  return unavailable({ kind: 'path' }, message, cause);
}

/** What came is not of the shape that the wire has. */
export function unreadableAnswer(cause?: unknown): GatewayError {
  return pathFault(told`The upstream sent an answer that could not be read.`, cause);
}

/** Nobody is to blame, and asked again it would be as large. */
export function oversizedAnswer(cause?: unknown): GatewayError {
  const message = told`The upstream sent an answer that is too long.`;
  return upstreamError('upstream-unavailable', message, { cause });
}

/** The stream ended before anything was said. */
export function noAnswer(): GatewayError {
  return pathFault(told`The upstream closed without an answer.`);
}

/** The answer had begun and has no end. */
export function cutAnswer(cause?: unknown): GatewayError {
  return pathFault(told`The upstream cut its answer off.`, cause);
}

/** What the upstream says of an answer that helps nobody. */
interface UnusableAnswer {
  /** The upstream's own word; undefined for a plain stop, which says nothing of what is wrong. */
  readonly finishReason?: string | undefined;
  readonly finishMessage?: string | undefined;
  readonly secrets: readonly string[];
}

/**
 * The model gave an answer that helps nobody: asked again it may do better.
 * @param message safe for clients; what the upstream says follows it
 */
export function answerFault(message: string | Sentence, said: UnusableAnswer): GatewayError {
  const { finishReason, finishMessage = '', secrets } = said;
  const words = scrubText(finishMessage, secrets).trim();
  const ending = finishReason === undefined ? {} : { finishReason };
  return unavailable(
    { kind: 'unusable-answer', ...ending },
    words === '' ? message : `${textOf(message).replace(/\.$/, ':')} ${words}`,
    new Error(`Finish reason ${finishReason ?? 'of a plain stop'}`),
  );
}

/** What an answer's own words may not say: the credential that it was asked for with. */
export function secretsIn({ access }: Pick<DecodeContext, 'access'>): readonly string[] {
  return access === undefined ? [] : [access.credential];
}

/** Of the faults of two choices that of the answer: cut off in one it is cut off, whatever the other says of itself. */
export function graverFault(known: GatewayError | undefined, other: GatewayError): GatewayError {
  const isGraver = other.failure?.kind === 'path' && known?.failure?.kind !== 'path';
  return known === undefined || isGraver ? other : known;
}

/** What the upstream says by the way an answer ends, where others refuse the request with a status. */
export function endedRefusal(
  kind: AccountOrPathFault,
  { finishReason, finishMessage = '', secrets }: UnusableAnswer,
): GatewayError {
  const detail = scrubText(finishMessage, secrets).trim() || undefined;
  return new GatewayError({
    ...CLIENT_ERRORS[kind],
    source: 'upstream',
    failure: { kind, finishReason, detail },
    cause: new Error(`Finish reason ${finishReason}`),
  });
}

export function unavailable(
  failure: UpstreamFailure,
  message: string | Sentence,
  cause: unknown,
): GatewayError {
  return upstreamError('upstream-unavailable', message, { failure, cause });
}

/** True where the upstream has no such call. */
export function isMissingCall(error: unknown): boolean {
  return [404, 405, 501].includes(statusOf(error));
}

/** True where it has no such list, or not for this account. */
export function isMissingList(error: unknown): boolean {
  return isMissingCall(error) || statusOf(error) === 403;
}

function statusOf(error: unknown): number {
  return (error instanceof GatewayError && error.failure?.status) || 0;
}

/** A refusal that may be the request's own is told in the upstream's words. */
function messageFor(kind: AccountOrPathFault, refusal: ReadRefusal): string | Sentence {
  if (refusal.clientMessage !== undefined) return refusal.clientMessage;
  if (kind === 'path' && refusal.status === 404) return NOTHING_THERE;
  const said = kind === 'model-forbidden' ? scrubText(refusal.message, refusal.secrets) : '';
  return said || CLIENT_ERRORS[kind].message;
}

/** Mostly the address of an own upstream, without or with too much of its path. */
const NOTHING_THERE = told`The upstream has nothing at the address that it is asked at. Whoever runs this gateway should check its base_url, which often ends with /v1.`;

/** The upstream's words for the operator. */
function detailOf({ message, lead, excerpt, secrets }: ReadRefusal): string | undefined {
  const said = message === '' ? excerpt : scrubText(message, secrets);
  return (lead === undefined ? said : `${lead} ${said}`).trim() || undefined;
}

export const WRONG_PLACE = told`The upstream does not serve the region this gateway calls from.`;

const LIMITS: ReadonlySet<UpstreamFailureKind> = new Set(['rate-limited', 'quota-exhausted']);

type AccountOrPathFault = Exclude<UpstreamFailureKind, 'rejected' | 'lacking'>;

const CLIENT_ERRORS: Readonly<
  Record<AccountOrPathFault, { readonly kind: ErrorKind; readonly message: Sentence }>
> = {
  'rate-limited': {
    kind: 'rate-limited',
    message: told`The upstream limits the rate of requests.`,
  },
  'quota-exhausted': { kind: 'quota-exhausted', message: told`The upstream quota is used up.` },
  unauthenticated: { kind: 'upstream-auth', message: told`The upstream refused the credential.` },
  'credential-revoked': {
    kind: 'upstream-auth',
    message: told`The upstream credential was revoked.`,
  },
  'credential-unavailable': {
    kind: 'upstream-unavailable',
    message: told`No credential for the upstream is available right now.`,
  },
  'verification-required': {
    kind: 'upstream-auth',
    message: told`The upstream requires verification of the account.`,
  },
  forbidden: { kind: 'upstream-auth', message: told`The upstream refused the account.` },
  'model-forbidden': {
    kind: 'upstream-rejected',
    message: told`The upstream does not permit this request.`,
  },
  'model-not-found': { kind: 'not-found', message: told`The upstream does not offer this model.` },
  'bad-signature': {
    kind: 'invalid-request',
    message: told`The upstream refused a thought signature of the conversation. Leave thinking blocks and signatures exactly as they came, or leave them out.`,
  },
  'missing-signature': {
    kind: 'invalid-request',
    message: told`The upstream requires the thought signature of an earlier tool call and accepts nothing in its place. Send tool calls back with the signatures they came with, or begin a new conversation.`,
  },
  overloaded: { kind: 'overloaded', message: told`The upstream is overloaded. Try again later.` },
  'connection-lost': {
    kind: 'upstream-unavailable',
    message: told`The upstream closed the connection without an answer.`,
  },
  'unusable-answer': {
    kind: 'upstream-unavailable',
    message: told`The model gave an answer that cannot be used.`,
  },
  'gateway-proxy': {
    kind: 'upstream-unavailable',
    message: told`The upstream could not be reached through the proxy of the gateway.`,
  },
  path: { kind: 'upstream-unavailable', message: told`The upstream failed to answer.` },
};

/** A body that is a sentence, as servers built on axum say what they cannot read; fewer words are those of the status. */
const PLAIN_WORDS = /^\w\S*(?: +\S+){2,}(?=\s*$)/;

/** The client's own mistake, in the upstream's words without what they may reveal. */
function rejection(refusal: ReadRefusal, failure: UpstreamFailure): GatewayError {
  const { status, excerpt, secrets, clientMessage } = refusal;
  const message = refusal.message || (PLAIN_WORDS.exec(excerpt)?.[0] ?? '');
  const complaint = readLengthComplaint(message);
  const said = clientMessage ?? scrubText(message, secrets);
  return upstreamError(
    status === 413 || refusal.isOversized === true ? 'too-large' : 'invalid-request',
    complaint === undefined
      ? said || told`The upstream refused the request with status ${status}.`
      : lengthMessage(complaint),
    {
      reason: complaint === undefined ? undefined : 'context-length',
      failure,
      wireDetails: withoutSecrets(refusal.wireDetails, secrets),
      cause: causeOf(refusal),
    },
  );
}

function withoutSecrets(
  details: WireDetails | undefined,
  secrets: readonly string[],
): WireDetails | undefined {
  if (details === undefined) return undefined;
  const members = parseObject(scrubText(JSON.stringify(details.members), secrets));
  return { ...details, members };
}

interface LengthComplaint {
  readonly tokens: number | undefined;
  readonly limit: number | undefined;
}

/** What the services of all wires call a prompt and the room a model has for it, and what is wrong with them. */
const NAMES_LENGTH =
  /\btoken count|\bmax_seq_len\b|\bcontext (?:length|window|size|limit)|\b(?:prompt|input|maximum model) length|\bmodel token limit|\binput tokens exceed|`inputs` tokens|\b(?:prompt|input) (?:is |was )?too long|\bprompt exceeds max|\btoo many tokens/i;
const COMPLAINS_OF_LENGTH =
  /exceed|too (?:long|many|large)|more than|maximum|larger|longer|greater|supports up to|should be|must be (?:<=|less than)|not enough/i;

/** Neither a status, as in "<400> …" (DashScope) and "Error code: 400 - …" (LiteLLM), nor a part of a model's name. */
const FIGURE = /(?<![\w<-]|\bcode: )\d[\d,]*(?!\w)/g;
/** "invalid params, context window exceeds limit (2013)" (MiniMax) */
const CODE_BEHIND = /(?<=^invalid params\b.*)\(\d{4}\)$/;
/**
 * "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000" (Anthropic), "(500 > 4096 - 3996)" (vLLM),
 * "must be <= 4097. Given: 3900 `inputs` tokens and 500 `max_new_tokens`" (Hugging Face)
 */
const SUMS = [
  /(?<!\d)(?<prompt>\d+) \+ (?<answer>\d+) > (?<limit>\d+)/,
  /\((?<answer>\d+) > (?<limit>\d+) - (?<prompt>\d+)\)/,
  /must be <= (?<limit>\d+)\. Given: (?<prompt>\d+) `inputs` tokens and (?<answer>\d+)/,
];

/**
 * The figures of "The input token count (1200000) exceeds the maximum number of tokens allowed
 * (1048576)." and its variants; undefined when the message is about something else.
 */
function readLengthComplaint(message: string): LengthComplaint | undefined {
  if (!NAMES_LENGTH.test(message) || !COMPLAINS_OF_LENGTH.test(message)) return undefined;
  const sum = SUMS.map((pattern) => pattern.exec(message)?.groups).find((one) => one !== undefined);
  if (sum !== undefined) {
    const [prompt, answer, limit] = [Number(sum.prompt), Number(sum.answer), Number(sum.limit)];
    return { tokens: prompt > limit ? prompt : prompt + answer, limit };
  }
  const figures = (message.replace(CODE_BEHIND, '').match(FIGURE) ?? [])
    .map((figure) => Number(figure.replaceAll(',', '')))
    .filter((figure) => figure >= 100);
  const [tokens, limit] = figures;
  return limit === undefined
    ? { tokens: undefined, limit: tokens }
    : { tokens: Math.max(tokens ?? 0, limit), limit: Math.min(tokens ?? 0, limit) };
}

/** True of a complaint that the prompt, or all of the request, is longer than the model can read. */
export function saysTooLong(message: string): boolean {
  return readLengthComplaint(message) !== undefined;
}

/** In the wording Messages clients look for (Messages API: Errors). */
function lengthMessage({ tokens, limit }: LengthComplaint): string {
  if (tokens !== undefined) return `prompt is too long: ${tokens} tokens > ${limit} maximum`;
  if (limit !== undefined) return `prompt is too long: the maximum is ${limit} tokens`;
  return 'prompt is too long: it exceeds what the model can read';
}

const NAMES_MONEY =
  /^(?:[^"'`:{]|\b'\b){0,120}\b(?:balance|credits?|spending (?:limit|cap)|usage limits?|key limit|free tier)\b/i;
const IS_GONE =
  /\b(?:insufficient|too low|exhausted|depleted|used all|exceeded|reach(?:ed|ing)|overdue|(?:not|\w+n't) have any)\b/i;

/**
 * True where a refusal begins with money or an allowance that is gone: services have all of 400, 403, 412 and 429 for it,
 * and codes of their own or none. What stands behind a quotation mark or a colon may be the client's words.
 */
export function saysUsedUp(message: string): boolean {
  return NAMES_MONEY.test(message) && IS_GONE.test(message.slice(0, 160));
}

/** What comes back later than this is a quota that is gone; what comes back before it only limits the rate. */
export const LONG_MS = 3_600_000;

/** True for a quota of hours or a day; one of a minute, or an unnamed one, only limits the rate. */
export function isLongQuota(quota: QuotaLesson | undefined): boolean {
  return (quota?.windowMs ?? 0) >= LONG_MS;
}

/** A model that is gone, in the words of services that refuse it with a 400 and no code of its own. */
const BLAMES_MODEL =
  /\bmodel\b(?:[^.]|\.\S){0,80}\b(?:not exist|not found|decommissioned|retired|end of life|no longer (?:supported|available|served))|\brequested model is not supported|\b(?:unknown|invalid) model\b|\bnot a valid model\b|\bno such model\b/i;

/** True of a complaint that there is no such model, or no more. */
export function blamesModel(message: string): boolean {
  return BLAMES_MODEL.test(message);
}

function causeOf({ status, excerpt }: ReadRefusal): Error {
  return new Error(`Upstream status ${status}: ${excerpt}`);
}

/** Statuses that proxies, firewalls and broken connections have; all others below 500 are about the request. */
const PATH_STATUSES: readonly number[] = [405, 407, 408, 409, 425, 451, 499];

/** What a status below 500 means that no wire has a meaning of its own for. */
export function kindOfOther(status: number): 'path' | 'rejected' {
  return PATH_STATUSES.includes(status) ? 'path' : 'rejected';
}

// What LiteLLM's proxy says in its own way, on every wire it serves: of itself, and of the services behind it.

interface Said {
  readonly status: number;
  readonly message: string;
  /** The word of the wire for it. */
  readonly type: string | undefined;
}

/** "litellm.AuthenticationError: AnthropicException - …": a service behind it said no. */
const OF_SERVICE = /^litellm\.\w+(?:Error|Exception)\b/;
/** "litellm.BadRequestError: AnthropicException - {…"Your credit balance is too low to access the Anthropic API. …"}" */
const SPENT_AT_SERVICE = /^[^{]*\{.{0,200}"Your credit balance is too low\b/;

/** Undefined where the words are not LiteLLM's, or mean what they mean elsewhere. */
export function litellmFailure({ status, message, type }: Said): UpstreamFailureKind | undefined {
  // Without a database every key but the master key gets this.
  if (type === 'no_db_connection') return 'unauthenticated';
  if (!OF_SERVICE.test(message)) return undefined;
  // The key it has for that model is refused, not the one it was asked with.
  if (status === 401 || status === 403) return 'model-forbidden';
  if (SPENT_AT_SERVICE.test(message)) return 'quota-exhausted';
  return status >= 500 && /overloaded_error/.test(message) ? 'overloaded' : undefined;
}

const PREFIX = 'llm_provider-';

/** The headers with those of the service behind it, which stand there under longer names. */
export function withServiceHeaders(headers: Headers): Headers {
  const passed = Object.entries(headers).filter(([name]) => name.startsWith(PREFIX));
  if (passed.length === 0) return headers;
  const plain = passed.map(([name, value]) => [name.slice(PREFIX.length), value]);
  return { ...Object.fromEntries(plain), ...headers };
}
