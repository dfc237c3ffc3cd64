// Renders errors as the Messages protocol does: a table kind → type, details where it has words.

import {
  detailsOn,
  type ErrorKind,
  errorStatus,
  type GatewayError,
  inStream,
} from '../../canonical/error.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { eventFrame } from '../../stream/sse.ts';
import { MESSAGES_WIRE } from '../../wire/messages.ts';
import type { ErrorContext, ErrorReply } from '../protocol.ts';

/** Source: Messages API, "Errors". */
const ERROR_TYPES: Readonly<Record<ErrorKind, string>> = {
  'invalid-request': 'invalid_request_error',
  unauthenticated: 'authentication_error',
  forbidden: 'permission_error',
  'not-found': 'not_found_error',
  'method-not-allowed': 'invalid_request_error',
  'too-large': 'request_too_large',
  'headers-too-large': 'request_too_large',
  'unsupported-media-type': 'invalid_request_error',
  'upgrade-refused': 'invalid_request_error',
  'not-implemented': 'invalid_request_error',
  'rate-limited': 'rate_limit_error',
  'quota-exhausted': 'rate_limit_error',
  'upstream-auth': 'api_error',
  'upstream-unavailable': 'api_error',
  'upstream-rejected': 'invalid_request_error',
  overloaded: 'overloaded_error',
  timeout: 'timeout_error',
  'client-gone': 'api_error',
  internal: 'api_error',
};

/** This protocol's own status for a service that has too much to do. */
const OVERLOADED_STATUS = 529;

const TOO_LONG = 'prompt is too long:';

/** The error answer before the stream began, or instead of a unary answer. */
export function writeError(error: GatewayError, { requestId }: ErrorContext): ErrorReply {
  const body = { ...writeBody(error), request_id: requestId };
  const status = error.kind === 'overloaded' ? OVERLOADED_STATUS : errorStatus(error);
  return { status, body };
}

/** The in-band error that ends a stream. */
export function writeStreamError(error: GatewayError): string {
  return eventFrame('error', JSON.stringify(writeBody(inStream(error))));
}

function writeBody(error: GatewayError): JsonObject {
  const details = detailsOf(error);
  return {
    type: 'error',
    error: {
      type: ERROR_TYPES[error.kind],
      message: error.reason === 'context-length' ? tooLong(error.message) : withDots(error),
      ...(details === undefined ? {} : { details }),
    },
  };
}

/**
 * Clients act on the code, and on what stands beside it. Source: TypeScript SDK `resources/messages/messages.d.ts`,
 * …ErrorDetails; the codes of keys and addresses are the gateway's own.
 */
function detailsOf(error: GatewayError): JsonObject | undefined {
  const { details } = detailsOn(error, MESSAGES_WIRE);
  if (isJsonObject(details)) return details;
  if (error.reason === 'thread-not-found') return { error_code: 'thread_not_found' };
  if (error.reason === 'key-rejected') return { error_code: 'token_rejected' };
  if (error.reason === 'address-blocked') return { error_code: 'address_blocked' };
  if (error.reason === 'unsupported' && error.field === 'thread') {
    return { error_code: 'thread_unsupported_request', unsupported: ['thread'] };
  }
  return undefined;
}

/** Fields are named `messages.0.content` here, and in brackets where a fault is found once the request is read. */
function withDots({ field, message }: GatewayError): string {
  if (field === undefined || !message.startsWith(field)) return message;
  return field.replace(/\[(\d+)\]/g, '.$1') + message.slice(field.length);
}

/** Coding CLIs compact the conversation when a message begins this way and names both numbers. */
function tooLong(message: string): string {
  if (message.startsWith(TOO_LONG)) return message;
  const [asked, limit] = (message.match(/\d{4,}/g) ?? []).map(Number).sort((a, b) => b - a);
  if (asked === undefined || limit === undefined) return `${TOO_LONG} ${message}`;
  return `${TOO_LONG} ${asked} tokens > ${limit} maximum`;
}
