// The protocol's error body: `{error: {code, message, status, details?}}` (google.rpc.Status).

import {
  detailsOn,
  type ErrorKind,
  type ErrorReason,
  errorStatus,
  type GatewayError,
} from '../../canonical/error.ts';
import type { JsonObject } from '../../lib/json.ts';
import { objectsOf } from '../../lib/read-values.ts';
import { GENERATE_WIRE } from '../../wire/generate.ts';
import type { ErrorReply } from '../protocol.ts';

/** Source: the public list of API error codes and google.rpc.Code's HTTP mapping. */
const RPC_STATUSES: Readonly<Record<ErrorKind, string>> = {
  'invalid-request': 'INVALID_ARGUMENT',
  unauthenticated: 'UNAUTHENTICATED',
  forbidden: 'PERMISSION_DENIED',
  'not-found': 'NOT_FOUND',
  'method-not-allowed': 'UNIMPLEMENTED',
  'too-large': 'INVALID_ARGUMENT',
  'headers-too-large': 'INVALID_ARGUMENT',
  'unsupported-media-type': 'INVALID_ARGUMENT',
  'upgrade-refused': 'FAILED_PRECONDITION',
  'not-implemented': 'UNIMPLEMENTED',
  'rate-limited': 'RESOURCE_EXHAUSTED',
  'quota-exhausted': 'RESOURCE_EXHAUSTED',
  'upstream-auth': 'UNAVAILABLE',
  'upstream-unavailable': 'INTERNAL',
  'upstream-rejected': 'INVALID_ARGUMENT',
  overloaded: 'UNAVAILABLE',
  timeout: 'DEADLINE_EXCEEDED',
  'client-gone': 'CANCELLED',
  internal: 'INTERNAL',
};

/** Why the gateway itself lets a client not in: `reason` of ErrorInfo, in its domain. */
const REFUSALS: ReadonlyMap<ErrorReason, string> = new Map([
  ['key-rejected', 'TOKEN_REJECTED'],
  ['address-blocked', 'ADDRESS_BLOCKED'],
]);
const OWN_DOMAIN = 'isthmus';

/** Status and body of an error answer; the same body stands in streams. */
export function writeError(error: GatewayError): ErrorReply {
  const code = errorStatus(error);
  // Not the request is wrong, but who makes it, or from where.
  const isForbidden = error.failure?.kind === 'model-forbidden';
  const status = isForbidden ? 'FAILED_PRECONDITION' : RPC_STATUSES[error.kind];
  const details = writeDetails(error);
  const body: JsonObject = { code, message: error.message, status };
  if (details.length > 0) body.details = details;
  return { status: code, body: { error: body } };
}

function writeDetails(error: GatewayError): JsonObject[] {
  const details = [...objectsOf(detailsOn(error, GENERATE_WIRE).details)];
  if (error.kind === 'unauthenticated') {
    details.push(writeDetail('ErrorInfo', { reason: 'API_KEY_INVALID', domain: 'googleapis.com' }));
  }
  const refused = error.reason === undefined ? undefined : REFUSALS.get(error.reason);
  if (refused !== undefined) {
    details.push(writeDetail('ErrorInfo', { reason: refused, domain: OWN_DOMAIN }));
  }
  if (error.kind === 'invalid-request' && error.field !== undefined) {
    const fieldViolations = [{ field: error.field, description: error.message }];
    details.push(writeDetail('BadRequest', { fieldViolations }));
  }
  if (error.retryAfterMs !== undefined) {
    details.push(writeDetail('RetryInfo', { retryDelay: writeDuration(error.retryAfterMs) }));
  }
  return details;
}

function writeDetail(type: string, members: JsonObject): JsonObject {
  return { '@type': `type.googleapis.com/google.rpc.${type}`, ...members };
}

/** Seconds with at most three decimals and an `s`, as google.protobuf.Duration is written. */
function writeDuration(durationMs: number): string {
  return `${Math.max(0, Math.ceil(durationMs)) / 1000}s`;
}
