// Decides what a refusal of the upstream means: one failure kind for the retry table, one error for the client.

import {
  type ErrorKind,
  GatewayError,
  type UpstreamFailure,
  type UpstreamFailureKind,
} from '../../canonical/error.ts';
import type { JsonValue } from '../../lib/json.ts';
import { type Sentence, told } from '../../lib/localized-message.ts';
import { scrubText } from '../../lib/redact.ts';
import {
  blamesPlace,
  failureKind,
  headerOf,
  type LengthComplaint,
  type RefusalFacts,
  readErrorObject,
  readErrorText,
  readLengthComplaint,
  readRetryHeaders,
} from './failure.ts';
import { itemsOf, objectOf, textOf } from './read-values.ts';

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

export interface UpstreamRefusal {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body's text, as far as it was read. */
  readonly body: string;
  /** Milliseconds since the epoch, for waits given as dates. */
  readonly now: number;
  /** Secrets and ids of the account, never to be shown. */
  readonly secrets?: readonly string[] | undefined;
  /** Those of the refused body: functions are named where the upstream counts them. */
  readonly tools?: JsonValue | undefined;
}

interface Facts extends RefusalFacts {
  readonly secrets: readonly string[];
  readonly tools?: JsonValue | undefined;
  /** What the log gets. */
  readonly excerpt: string;
}

/** The error a non-2xx answer amounts to; `failure` is always set. Never throws. */
export function classifyFailure(refusal: UpstreamRefusal): GatewayError {
  const { status, headers, body, now, secrets = [], tools } = refusal;
  const error = readErrorText(body, now);
  const headerMs = readRetryHeaders(headers, now);
  return toGatewayError({
    ...error,
    // A header that says "at once" does not outweigh a body that knows better.
    retryAfterMs: headerMs || (error.retryAfterMs ?? headerMs),
    status,
    isPage: isPage(headerOf(headers, 'content-type') ?? '', body),
    secrets,
    tools,
    excerpt: scrubText(body, secrets),
  });
}

/** The error an `error` object inside a 200 answer amounts to, as if it had been the status. */
export function classifyErrorFrame(
  value: JsonValue,
  now: number,
  secrets: readonly string[] = [],
): GatewayError {
  const error = readErrorObject(value, now);
  return toGatewayError({
    ...error,
    status: error.code ?? 500,
    isPage: false,
    secrets,
    excerpt: scrubText(JSON.stringify(value), secrets),
  });
}

/** A fault between here and the upstream's answer: another account may do better. */
export function pathFault(message: Sentence, cause?: unknown): GatewayError {
  return unavailable({ kind: 'path' }, message, cause);
}

/** What the upstream says of an answer that helps nobody. */
export interface UnusableAnswer {
  readonly finishReason: string;
  readonly finishMessage: string | undefined;
  readonly secrets: readonly string[];
}

/**
 * The model gave an answer that helps nobody: asked again it may do better.
 * @param message safe for clients; what the upstream says follows it
 */
export function answerFault(message: string, said: UnusableAnswer): GatewayError {
  const { finishReason, finishMessage = '', secrets } = said;
  const words = scrubText(finishMessage, secrets).trim();
  // A plain stop says nothing of what is wrong.
  const ending = finishReason === 'STOP' ? {} : { finishReason };
  return unavailable(
    { kind: 'unusable-answer', ...ending },
    words === '' ? message : `${message.replace(/\.$/, ':')} ${words}`,
    new Error(`Finish reason ${finishReason}`),
  );
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
  message: string,
  cause: unknown,
): GatewayError {
  return new GatewayError({
    kind: 'upstream-unavailable',
    source: 'upstream',
    message,
    failure,
    cause,
  });
}

function toGatewayError(facts: Facts): GatewayError {
  const kind = failureKind(facts);
  const failure: UpstreamFailure = {
    kind,
    status: facts.status,
    ...(facts.reasons[0] === undefined ? {} : { reason: facts.reasons[0] }),
    retryAfterMs: facts.retryAfterMs,
    detail: detailOf(facts),
    ...(LIMITS.has(kind) && facts.quota !== undefined ? { quota: facts.quota } : {}),
  };
  if (kind === 'rejected') return rejection(facts, failure);
  const forClient = CLIENT_ERRORS[kind];
  return new GatewayError({
    kind: facts.status === 504 ? 'timeout' : forClient.kind,
    source: 'upstream',
    message: messageFor(kind, facts),
    failure,
    retryAfterMs: facts.retryAfterMs,
    cause: causeOf(facts),
    ...(kind === 'model-not-found' ? { reason: 'model-not-found' } : {}),
  });
}

/** A refusal that may be the request's own is told in the upstream's words. */
function messageFor(kind: AccountOrPathFault, facts: Facts): string {
  if (blamesPlace(facts)) return WRONG_PLACE;
  const said = kind === 'model-forbidden' ? scrubText(facts.message, facts.secrets) : '';
  return said || CLIENT_ERRORS[kind].message;
}

/** The upstream's words for the operator; for a verification, first where it is done. */
function detailOf({ message, metadata, excerpt, secrets }: Facts): string | undefined {
  const link = metadata.get('validation_url') ?? '';
  const isLink = link.startsWith('https://') && URL.canParse(link);
  const said = message === '' ? excerpt : scrubText(message, secrets);
  return (isLink ? `${link} ${said}` : said).trim() || undefined;
}

const WRONG_PLACE = told`The upstream does not serve the place this gateway calls from.`;
const LIMITS: ReadonlySet<UpstreamFailureKind> = new Set(['rate-limited', 'quota-exhausted']);

type AccountOrPathFault = Exclude<UpstreamFailureKind, 'rejected'>;

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
    message: told`No credential for the upstream could be had just now.`,
  },
  'verification-required': {
    kind: 'upstream-auth',
    message: told`The upstream wants the account to be verified.`,
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
    message: told`The upstream misses the thought signature of an earlier tool call and takes nothing in its place. Send tool calls back with the signatures they came with, or begin a new conversation.`,
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
  path: { kind: 'upstream-unavailable', message: told`The upstream failed to answer.` },
};

/** The client's own mistake, in the upstream's words without what they may reveal. */
function rejection(facts: Facts, failure: UpstreamFailure): GatewayError {
  const complaint = readLengthComplaint(facts.message);
  const said = nameFunctions(scrubText(facts.message, facts.secrets), facts.tools);
  return new GatewayError({
    kind: facts.status === 413 ? 'too-large' : 'invalid-request',
    source: 'upstream',
    message:
      complaint === undefined
        ? said || told`The upstream refused the request with status ${facts.status}.`
        : lengthMessage(complaint),
    reason: complaint === undefined ? undefined : 'context-length',
    failure,
    cause: causeOf(facts),
  });
}

/** In the wording Messages clients look for (Messages API: Errors). */
function lengthMessage({ tokens, limit }: LengthComplaint): string {
  if (tokens !== undefined) return `prompt is too long: ${tokens} tokens > ${limit} maximum`;
  if (limit !== undefined) return `prompt is too long: the maximum is ${limit} tokens`;
  return 'prompt is too long: it exceeds what the model can read';
}

function causeOf({ status, excerpt }: Facts): Error {
  return new Error(`Upstream status ${status}: ${excerpt}`);
}

function isPage(contentType: string, body: string): boolean {
  return /\bx?html\b/i.test(contentType) || /^\s*<(?:!doctype|html|head|body|\?xml)/i.test(body);
}
