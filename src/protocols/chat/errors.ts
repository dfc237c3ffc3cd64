// Renders errors as this protocol has them: one table from error kind to type and code.

import type { ErrorKind, ErrorReason, GatewayError } from '../../canonical/error.ts';
import { errorStatus } from '../../canonical/error-status.ts';
import type { ChatErrorBody, ChatErrorType } from '../../wire/chat.ts';
import type { ErrorReply } from '../protocol.ts';

interface Row {
  readonly type: ChatErrorType;
  readonly code: string | null;
}

const ROWS: Readonly<Record<ErrorKind, Row>> = {
  'invalid-request': { type: 'invalid_request_error', code: 'invalid_value' },
  unauthenticated: { type: 'invalid_request_error', code: 'invalid_api_key' },
  forbidden: { type: 'permission_error', code: 'permission_denied' },
  'not-found': { type: 'invalid_request_error', code: 'not_found' },
  'method-not-allowed': { type: 'invalid_request_error', code: 'method_not_supported' },
  'too-large': { type: 'invalid_request_error', code: 'request_too_large' },
  'unsupported-media-type': { type: 'invalid_request_error', code: 'unsupported_content_type' },
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
};

/** Kinds whose code a reason makes more precise. */
const REASONED: ReadonlySet<ErrorKind> = new Set([
  'invalid-request',
  'not-found',
  'upstream-rejected',
]);

export function writeError(error: GatewayError): ErrorReply {
  return { status: errorStatus(error), body: writeErrorBody(error) };
}

/** The body, also used in-band in streams. `param` and `code` are always present. */
export function writeErrorBody(error: GatewayError): ChatErrorBody {
  const { type, code } = ROWS[error.kind];
  const isReasoned = error.reason !== undefined && REASONED.has(error.kind);
  return {
    error: {
      message: error.message,
      type,
      param: error.field ?? null,
      code: isReasoned && error.reason !== undefined ? REASON_CODES[error.reason] : code,
    },
  };
}
