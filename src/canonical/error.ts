// The one error class: thrown anywhere, rendered once at the edge in the client's own protocol.

import type { JsonObject } from '../lib/json.ts';
import { codeOf, type Sentence, SpokenError, told } from '../lib/localized-message.ts';
import type { UpstreamFailure } from './failure.ts';

/** Each kind, and its HTTP status. Trouble with our own accounts is never 401 or 403: command-line clients would log their user out. */
const ERROR_STATUS = {
  'invalid-request': 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'too-large': 413,
  'headers-too-large': 431,
  'unsupported-media-type': 415,
  /** A WebSocket was asked for where only HTTP is spoken. */
  'upgrade-refused': 426,
  /** A part of HTTP that is not spoken here, such as a compressed transfer coding. */
  'not-implemented': 501,
  'rate-limited': 429,
  'quota-exhausted': 429,
  'upstream-auth': 503,
  'upstream-unavailable': 502,
  'upstream-rejected': 400,
  overloaded: 503,
  timeout: 504,
  'client-gone': 499,
  internal: 500,
} as const;

export type ErrorKind = keyof typeof ERROR_STATUS;

/** What exactly is wrong, where a protocol has a word of its own for it. */
export type ErrorReason =
  | 'missing-field'
  | 'invalid-value'
  | 'invalid-type'
  | 'invalid-json'
  | 'unsupported'
  | 'model-not-found'
  | 'context-length'
  | 'content-policy'
  | 'thread-not-found'
  /** A rule of the client's own key refused it. */
  | 'key-rejected'
  /** An upstream refused the key that should be stored. */
  | 'key-refused'
  /** An operator ended it while it was under way. */
  | 'stopped'
  /** The address it came from has to stay out. */
  | 'address-blocked';

/** What a refusal says beside its words, as its wire has it: for clients of the same wire, who act on it. */
export interface WireDetails {
  /** As in `RelayCall.wire`. */
  readonly wire: string;
  /** Members of the wire's error object, without secrets. */
  readonly members: JsonObject;
}

type ErrorSource = 'client' | 'gateway' | 'upstream';

export interface GatewayErrorOptions {
  readonly kind: ErrorKind;
  readonly source: ErrorSource;
  /** Safe for clients: no secrets, no internal names, and the way out where there is one. */
  readonly message: string | Sentence;
  readonly reason?: ErrorReason | undefined;
  /** Path of the offending request field, such as `messages[0].role`. */
  readonly field?: string | undefined;
  /** When the same request may succeed, in milliseconds from now. */
  readonly retryAfterMs?: number | undefined;
  /** Set on errors that ended an upstream attempt. */
  readonly failure?: UpstreamFailure | undefined;
  /** Set where the upstream refused the request itself. */
  readonly wireDetails?: WireDetails | undefined;
  /** Details for the log, never for clients. */
  readonly cause?: unknown;
}

export class GatewayError extends SpokenError {
  readonly kind: ErrorKind;
  readonly source: ErrorSource;
  readonly reason: ErrorReason | undefined;
  readonly field: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly failure: UpstreamFailure | undefined;
  readonly wireDetails: WireDetails | undefined;

  constructor(options: GatewayErrorOptions) {
    super(options.message, options.cause);
    this.name = 'GatewayError';
    this.kind = options.kind;
    this.source = options.source;
    this.reason = options.reason;
    this.field = options.field;
    this.retryAfterMs = options.retryAfterMs;
    this.failure = options.failure;
    this.wireDetails = options.wireDetails;
  }
}

/** What the refusal says to a client of this wire; empty for others. */
export function detailsOn(error: GatewayError, wire: string): JsonObject {
  return error.wireDetails?.wire === wire ? error.wireDetails.members : {};
}

/** The same error but for these. */
export function changed(error: GatewayError, change: Partial<GatewayErrorOptions>): GatewayError {
  return new GatewayError({ ...error, message: error.sentence, cause: error.cause, ...change });
}

const PASSING: ReadonlySet<ErrorKind> = new Set(['upstream-unavailable', 'timeout']);

/** As it is told within a stream, where no status says that another try may succeed: clients look for these words. */
export function inStream(error: GatewayError): GatewayError {
  if (!PASSING.has(error.kind)) return error;
  return changed(error, { message: `${error.message} Please retry your request.` });
}

type ErrorFacts = Omit<GatewayErrorOptions, 'kind' | 'source' | 'message'>;

function errorOf(source: ErrorSource) {
  return (kind: ErrorKind, message: string | Sentence, more: ErrorFacts = {}): GatewayError =>
    new GatewayError({ kind, source, message, ...more });
}

/** A mistake of a client, or what it may not have. */
export const clientError = errorOf('client');
/** What the gateway itself cannot do, or not now. */
export const gatewayError = errorOf('gateway');
/** What the upstream refused, or failed at. */
export const upstreamError = errorOf('upstream');

/** A client's mistake in one field: 400 in its own protocol. */
export function invalidRequest(
  field: string,
  message: string | Sentence,
  reason: ErrorReason = 'invalid-value',
): GatewayError {
  return clientError('invalid-request', message, { field, reason });
}

/** What the client of a request is told that an operator ended: it would only come again where it says to retry. */
export function stoppedError(): GatewayError {
  const message = told`An operator of this gateway stopped the request.`;
  return clientError('forbidden', message, { reason: 'stopped' });
}

/** How one ends that is made in the background by a process that is gone, or stood still for as long as if it were. */
export function cutOffError(): GatewayError {
  return gatewayError(
    'internal',
    'The gateway stopped while this response was being made. Send the request again.',
  );
}

/** The reason of every abort caused by the client's leaving. */
export function clientGone(): GatewayError {
  return clientError('client-gone', told`The client closed the connection.`);
}

/** Anything that is not yet a GatewayError becomes `internal` with a generic message. */
export function asGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  // What is loaded when it is first needed is gone once another version was installed over this one.
  const message =
    codeOf(error) === 'ERR_MODULE_NOT_FOUND'
      ? told`The files of this gateway were replaced or removed while it runs, perhaps by an upgrade. Restart it.`
      : 'The gateway failed on this request. The log entry with this request id says why.';
  return gatewayError('internal', message, { cause: error });
}

/** A client that is too slow is told so; every other time limit is the upstream's or ours. */
export function errorStatus({ kind, source }: Pick<GatewayError, 'kind' | 'source'>): number {
  return kind === 'timeout' && source === 'client' ? 408 : ERROR_STATUS[kind];
}
