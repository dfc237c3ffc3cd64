// Decides what a refusal of the upstream means: one failure kind for the retry table, one error for the client.

import {
  type ErrorKind,
  GatewayError,
  type UpstreamFailure,
  type UpstreamFailureKind,
} from '../../canonical/error.ts';
import type { JsonValue } from '../../lib/json.ts';
import {
  type ErrorBody,
  headerOf,
  readErrorObject,
  readErrorText,
  readRetryHeaders,
} from './error-body.ts';
import { blamesSignature, readLengthComplaint } from './error-words.ts';
import { scrubText } from './scrub.ts';

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
}

interface Facts extends ErrorBody {
  readonly status: number;
  readonly isPage: boolean;
  readonly secrets: readonly string[];
  /** What the log gets. */
  readonly excerpt: string;
}

/** The error a non-2xx answer amounts to; `failure` is always set. Never throws. */
export function classifyFailure(refusal: UpstreamRefusal): GatewayError {
  const { status, headers, body, now, secrets = [] } = refusal;
  const error = readErrorText(body, now);
  return toGatewayError({
    ...error,
    retryAfterMs: readRetryHeaders(headers, now) ?? error.retryAfterMs,
    status,
    isPage: isPage(headerOf(headers, 'content-type') ?? '', body),
    secrets,
    excerpt: scrubText(body, secrets),
  });
}

/** The error an `error` object inside a 200 answer amounts to, as if it had been the status. */
export function classifyErrorFrame(value: JsonValue, now: number): GatewayError {
  const error = readErrorObject(value, now);
  return toGatewayError({
    ...error,
    status: error.code ?? 500,
    isPage: false,
    secrets: [],
    excerpt: scrubText(JSON.stringify(value)),
  });
}

/** A fault between here and the upstream's answer: another account may do better. */
export function pathFault(message: string, cause?: unknown): GatewayError {
  return new GatewayError({
    kind: 'upstream-unavailable',
    source: 'upstream',
    message,
    failure: { kind: 'path' },
    cause,
  });
}

function toGatewayError(facts: Facts): GatewayError {
  const failure: UpstreamFailure = {
    kind: failureKind(facts),
    status: facts.status,
    retryAfterMs: facts.retryAfterMs,
  };
  if (failure.kind === 'rejected') return rejection(facts, failure);
  const { kind, message } = CLIENT_ERRORS[failure.kind];
  return new GatewayError({
    kind: facts.status === 504 ? 'timeout' : kind,
    source: 'upstream',
    message,
    failure,
    retryAfterMs: facts.retryAfterMs,
    cause: causeOf(facts),
    ...(failure.kind === 'model-not-found' ? { reason: 'model-not-found' } : {}),
  });
}

function failureKind(facts: Facts): UpstreamFailureKind {
  const { status } = facts;
  if (status === 429) return isQuota(facts) ? 'quota-exhausted' : 'rate-limited';
  if (status === 503 || status === 529) return 'overloaded';
  if (facts.isPage || status < 400 || status >= 500) return 'path';
  if (facts.reasons.includes('API_KEY_INVALID')) return 'unauthenticated';
  switch (status) {
    case 401:
      return 'unauthenticated';
    case 403:
      return forbiddenKind(facts);
    case 404:
      return 'model-not-found';
    case 407:
    case 408:
    case 409:
    case 425:
    case 499:
      return 'path';
    default:
      return status === 400 && blamesSignature(facts.message) ? 'bad-signature' : 'rejected';
  }
}

/** A quota of a day is gone; one of a minute, or an unnamed one, only limits the rate. */
function isQuota({ reasons, quotaIds }: ErrorBody): boolean {
  return reasons.includes('QUOTA_EXHAUSTED') || quotaIds.some((id) => /per_?day/i.test(id));
}

function forbiddenKind({ reasons, metadata, message }: ErrorBody): UpstreamFailureKind {
  if (reasons.includes('VALIDATION_REQUIRED') || metadata.has('validation_url')) {
    return 'verification-required';
  }
  const named = [message, ...metadata.values()].some((text) => /\bmodels\/[\w.-]/.test(text));
  return named || metadata.has('model') ? 'model-forbidden' : 'forbidden';
}

type AccountOrPathFault = Exclude<UpstreamFailureKind, 'rejected'>;

const CLIENT_ERRORS: Readonly<
  Record<AccountOrPathFault, { readonly kind: ErrorKind; readonly message: string }>
> = {
  'rate-limited': { kind: 'rate-limited', message: 'The upstream limits the rate of requests.' },
  'quota-exhausted': { kind: 'quota-exhausted', message: 'The upstream quota is used up.' },
  unauthenticated: { kind: 'upstream-auth', message: 'The upstream refused the credential.' },
  'credential-revoked': { kind: 'upstream-auth', message: 'The upstream credential was revoked.' },
  'verification-required': {
    kind: 'upstream-auth',
    message: 'The upstream wants the account to be verified.',
  },
  forbidden: { kind: 'upstream-auth', message: 'The upstream refused the account.' },
  'model-forbidden': {
    kind: 'upstream-auth',
    message: 'The upstream does not let the account use this model.',
  },
  'model-not-found': { kind: 'not-found', message: 'The upstream does not offer this model.' },
  'bad-signature': {
    kind: 'invalid-request',
    message:
      'The upstream refused a thought signature of the conversation. ' +
      'Leave thinking blocks and signatures exactly as they came, or leave them out.',
  },
  overloaded: { kind: 'overloaded', message: 'The upstream is overloaded. Try again later.' },
  'connection-lost': {
    kind: 'upstream-unavailable',
    message: 'The upstream closed the connection without an answer.',
  },
  path: { kind: 'upstream-unavailable', message: 'The upstream failed to answer.' },
};

/** The client's own mistake, in the upstream's words without what they may reveal. */
function rejection(facts: Facts, failure: UpstreamFailure): GatewayError {
  const complaint = readLengthComplaint(facts.message);
  const said = scrubText(facts.message, facts.secrets);
  return new GatewayError({
    kind: facts.status === 413 ? 'too-large' : 'invalid-request',
    source: 'upstream',
    message:
      complaint === undefined
        ? said || `The upstream refused the request with status ${facts.status}.`
        : lengthMessage(complaint),
    reason: complaint === undefined ? undefined : 'context-length',
    failure,
    cause: causeOf(facts),
  });
}

/** In the wording Messages clients look for (Messages API: Errors). */
function lengthMessage({
  tokens,
  limit,
}: {
  tokens: number | undefined;
  limit: number | undefined;
}): string {
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
