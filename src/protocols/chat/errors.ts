// Renders errors as this protocol has them: one table from error kind to type and code.

import {
  detailsOn,
  type ErrorKind,
  type ErrorReason,
  errorStatus,
  type GatewayError,
  inStream,
} from '../../canonical/error.ts';
import { dataFrame } from '../../stream/sse.ts';

import {
  CHAT_WIRE,
  type ChatErrorBody,
  type ChatErrorType,
  type ImageQuotaErrorBody,
} from '../../wire/chat.ts';
import type { ErrorContext, ErrorReply } from '../protocol.ts';

const ROWS: Readonly<Record<ErrorKind, { type: ChatErrorType; code: string | null }>> = {
  'invalid-request': { type: 'invalid_request_error', code: 'invalid_value' },
  unauthenticated: { type: 'invalid_request_error', code: 'invalid_api_key' },
  forbidden: { type: 'permission_error', code: 'permission_denied' },
  'not-found': { type: 'invalid_request_error', code: 'not_found' },
  'method-not-allowed': { type: 'invalid_request_error', code: 'method_not_supported' },
  'too-large': { type: 'invalid_request_error', code: 'request_too_large' },
  'headers-too-large': { type: 'invalid_request_error', code: 'headers_too_large' },
  'unsupported-media-type': { type: 'invalid_request_error', code: 'unsupported_content_type' },
  'upgrade-refused': { type: 'invalid_request_error', code: 'upgrade_refused' },
  'not-implemented': { type: 'invalid_request_error', code: 'not_implemented' },
  'rate-limited': { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  'quota-exhausted': { type: 'insufficient_quota', code: 'insufficient_quota' },
  'upstream-auth': { type: 'service_unavailable_error', code: 'upstream_account_unavailable' },
  'upstream-unavailable': { type: 'server_error', code: 'upstream_unavailable' },
  'upstream-rejected': { type: 'invalid_request_error', code: 'invalid_value' },
  overloaded: { type: 'service_unavailable_error', code: 'server_is_overloaded' },
  timeout: { type: 'server_error', code: 'timeout' },
  'client-gone': { type: 'invalid_request_error', code: 'client_closed_request' },
  internal: { type: 'server_error', code: null },
};

const REASON_CODES: Readonly<Record<ErrorReason, string>> = {
  'missing-field': 'missing_required_parameter',
  'invalid-value': 'invalid_value',
  'invalid-type': 'invalid_type',
  'invalid-json': 'invalid_json',
  unsupported: 'unsupported_value',
  'model-not-found': 'model_not_found',
  'context-length': 'context_length_exceeded',
  'content-policy': 'content_policy_violation',
  'thread-not-found': 'previous_response_not_found',
  'key-rejected': 'token_rejected',
  'key-refused': 'invalid_value',
  'address-blocked': 'address_blocked',
  stopped: 'request_stopped',
};

/** Kinds whose code a reason makes more precise. */
const REASONED: ReadonlySet<ErrorKind> = new Set([
  'forbidden',
  'invalid-request',
  'not-found',
  'upstream-rejected',
]);

const IMAGE_PATH = /\/images\//;

/** Where images are made, what ends at the limits of the accounts has a form of its own. */
export function writeError(
  error: GatewayError,
  { path = '' }: Partial<ErrorContext> = {},
): ErrorReply {
  const body = IMAGE_PATH.test(path) ? writeImageErrorBody(error) : writeErrorBody(error);
  return { status: errorStatus(error), body };
}

/** The body where images are made, also used in-band in their streams. Source: the product's error table, "Image quota". */
export function writeImageErrorBody(error: GatewayError): ChatErrorBody | ImageQuotaErrorBody {
  if (!isUpstreamLimit(error)) return writeErrorBody(error);
  const { retryAfterMs } = error;
  const wait = retryAfterMs === undefined ? 'later' : `in ${describeWait(retryAfterMs)}`;
  const message = `No accounts are available with quota for the requested model. Try again ${wait}.`;
  return { error: { message, type: 'quota_exceeded' } };
}

/** The in-band error that ends a stream. */
export function writeStreamError(error: GatewayError): string {
  return dataFrame(JSON.stringify(writeErrorBody(inStream(error))));
}

/**
 * The body, also used in-band in streams. `param` and `code` are always present; those of the upstream come first, but for
 * the codes of reasons, which clients act on.
 */
export function writeErrorBody(error: GatewayError): ChatErrorBody {
  const { type, code } = ROWS[error.kind];
  const reason = REASONED.has(error.kind) ? error.reason : undefined;
  return {
    error: {
      message: error.message,
      type,
      ...{ param: error.field ?? null, code },
      ...detailsOn(error, CHAT_WIRE),
      ...(reason === undefined ? {} : { code: REASON_CODES[reason] }),
    },
  };
}

function isUpstreamLimit({ kind, source }: GatewayError): boolean {
  // The budget of the client's own key is no matter of the accounts.
  if (source === 'client') return false;
  return kind === 'quota-exhausted' || (kind === 'rate-limited' && source === 'upstream');
}

function describeWait(waitMs: number): string {
  const seconds = Math.ceil(waitMs / 1000);
  if (seconds < 120) return `${seconds} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}
