// The error a client gets when no account is left: never the pool's own credential trouble as 401/403.

import { GatewayError } from '../canonical/error.ts';
import { told } from '../lib/told.ts';
import type { LeaseResult } from '../pool/pool.ts';
import { isAccountTrouble, isLimit } from './retry.ts';

type NothingLeft = Extract<LeaseResult, { kind: 'none' }>;

/** `lastError` is how the last attempt of this request failed, when there was one. */
export function exhaustedError(
  nothing: NothingLeft,
  lastError: GatewayError | undefined,
): GatewayError {
  switch (nothing.reason) {
    case 'limited':
      return limitError(nothing.retryAfterMs, lastError);
    case 'overloaded':
      return waitError('overloaded', nothing.retryAfterMs, lastError);
    case 'faulty':
      return lastError ?? waitError('upstream-unavailable', nothing.retryAfterMs, undefined);
    case 'not-offered':
      return lastError ?? notOffered();
    case 'all-tried':
      return lastError === undefined
        ? noUsableAccount(nothing)
        : lastAttemptError(lastError, nothing);
    case 'no-accounts':
    case 'unusable':
      // Those that could be asked do not know the model; whether the others did, nobody can say.
      return lastError?.failure?.kind === 'model-not-found'
        ? lastError
        : noUsableAccount(nothing, lastError);
    default:
      return nothing.reason satisfies never;
  }
}

/** Every account was tried: the client learns what the last one ran into, unless that is the pool's business. */
function lastAttemptError(lastError: GatewayError, nothing: NothingLeft): GatewayError {
  const kind = lastError.failure?.kind;
  const isOurs = kind !== undefined && isAccountTrouble(kind) && !isLimit(kind);
  return isOurs ? noUsableAccount(nothing, lastError) : lastError;
}

function limitError(
  retryAfterMs: number | undefined,
  lastError: GatewayError | undefined,
): GatewayError {
  return new GatewayError({
    kind: lastError?.failure?.kind === 'quota-exhausted' ? 'quota-exhausted' : 'rate-limited',
    source: 'upstream',
    message: told`All accounts for this model have reached their limit. Try again when one has recovered.`,
    retryAfterMs,
    failure: lastError?.failure,
    cause: lastError,
  });
}

function waitError(
  kind: 'overloaded' | 'upstream-unavailable',
  retryAfterMs: number | undefined,
  lastError: GatewayError | undefined,
): GatewayError {
  return new GatewayError({
    kind,
    source: 'upstream',
    message:
      kind === 'overloaded'
        ? told`The upstream is overloaded. Try again shortly.`
        : told`The upstream failed several times in a row. Try again shortly.`,
    retryAfterMs,
    failure: lastError?.failure,
    cause: lastError,
  });
}

function notOffered(): GatewayError {
  return new GatewayError({
    kind: 'not-found',
    source: 'gateway',
    reason: 'model-not-found',
    field: 'model',
    message: told`No account offers this model. GET /v1/models lists the names that work.`,
  });
}

function noUsableAccount({ retryAfterMs }: NothingLeft, lastError?: GatewayError): GatewayError {
  return new GatewayError({
    kind: 'upstream-auth',
    source: 'gateway',
    message: told`No upstream account can be used right now. The log of the gateway says why.`,
    retryAfterMs,
    failure: lastError?.failure,
    cause: lastError,
  });
}
