// Says what a failed connection means for the retry table and for the client.

import { GatewayError } from '../../canonical/error.ts';
import { type Sentence, told } from '../../lib/told.ts';
import { pathFault } from './errors.ts';
import { ProxyError, unreachedThroughProxy } from './proxy-agents.ts';

const LOST_CODES = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
const TIMEOUT_CODES = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);
const CLOSED_CODES = new Set(['UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);
const TLS_CODE = /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_|EPROTO)/;

/**
 * The error an exchange that broke off amounts to. Never names addresses. A connection reset while
 * it was idle also fails requests that were only waiting for it, so that whether the request had
 * been sent makes no difference.
 */
export function readNetworkError(
  error: unknown,
  { hasAnswer }: { readonly hasAnswer: boolean },
): GatewayError {
  const code = codeOf(error);
  if (CLOSED_CODES.has(code))
    return gatewayFault('overloaded', told`The gateway is closing.`, error);
  if (code === 'UND_ERR_INVALID_ARG') {
    // undici's word for a proxy that wants another password, too.
    if (error instanceof ProxyError) return unreachedThroughProxy(error);
    return gatewayFault('internal', told`The gateway could not write the upstream request.`, error);
  }
  if (TIMEOUT_CODES.has(code))
    return timeoutFault(told`The upstream did not answer in time.`, error);
  if (hasAnswer) return pathFault(told`The upstream cut its answer off.`, error);
  if (LOST_CODES.has(code)) return lostConnection(error);
  if (error instanceof ProxyError) return unreachedThroughProxy(error);
  if (TLS_CODE.test(code)) {
    return pathFault(told`No secure connection to the upstream could be made.`, error);
  }
  return pathFault(told`The upstream could not be reached.`, error);
}

/** A fault of the path that is a matter of time. */
export function timeoutFault(message: Sentence, cause?: unknown): GatewayError {
  return new GatewayError({
    kind: 'timeout',
    source: 'upstream',
    message,
    failure: { kind: 'path' },
    cause,
  });
}

/** Nobody's attempt failed: there is no `failure`, so no account and no path is blamed. */
export function gatewayFault(
  kind: 'overloaded' | 'internal',
  message: Sentence,
  cause?: unknown,
): GatewayError {
  return new GatewayError({ kind, source: 'gateway', message, cause });
}

function lostConnection(cause: unknown): GatewayError {
  return new GatewayError({
    kind: 'upstream-unavailable',
    source: 'upstream',
    message: told`The upstream closed the connection without an answer.`,
    failure: { kind: 'connection-lost' },
    cause,
  });
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}
