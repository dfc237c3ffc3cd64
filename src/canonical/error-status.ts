// The HTTP status of each kind of error: one table for all client protocols.

import type { ErrorKind, GatewayError } from './error.ts';

/**
 * Trouble with the gateway's own upstream accounts is never 401 or 403: command-line clients log
 * their user out on those. A protocol with a status of its own for a kind says so beside its types.
 */
export const ERROR_STATUS: Readonly<Record<ErrorKind, number>> = {
  'invalid-request': 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'too-large': 413,
  'headers-too-large': 431,
  'unsupported-media-type': 415,
  'upgrade-refused': 426,
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
};

/** A client that is too slow is told so; every other time limit is the upstream's or ours. */
export function errorStatus({ kind, source }: Pick<GatewayError, 'kind' | 'source'>): number {
  return kind === 'timeout' && source === 'client' ? 408 : ERROR_STATUS[kind];
}
