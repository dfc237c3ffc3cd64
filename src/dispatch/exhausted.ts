// The error a client gets when no account is left: never the pool's own credential trouble as 401/403.

import { changed, GatewayError, gatewayError } from '../canonical/error.ts';
import { told } from '../lib/localized-message.ts';
import type { LeaseResult } from '../pool/pool.ts';
import type { RouteChoice } from './call-setup.ts';
import { isAccountTrouble, isLimit, mayBeOfRequest } from './retry.ts';

export type NothingLeft = Extract<LeaseResult, { kind: 'none' }>;

/** For a client whose next request may find an account at once. */
export const NEXT_REQUEST_MS = 1_000;
/** For one that waited for a call to become free. */
const BUSY_RETRY_MS = 5_000;

/**
 * @param choice what the accounts were asked for
 * @param lastError how the last attempt of this request failed, when there was one
 */
export function exhaustedError(
  nothing: NothingLeft,
  choice: Pick<RouteChoice, 'route' | 'asked'>,
  lastError: GatewayError | undefined,
): GatewayError {
  const error = nothingLeftError(nothing, choice, lastError);
  const isKnown = nothing.reason === 'limited' || error.reason === 'model-not-found';
  if (choice.route.isPassedOn !== true || isKnown) return error;
  const { asked = choice.route.target } = choice;
  return changed(error, {
    message: told`${error.sentence} No account is known to offer the model ${JSON.stringify(asked)}. GET /v1/models lists the names that work.`,
  });
}

function nothingLeftError(
  nothing: NothingLeft,
  choice: Pick<RouteChoice, 'route' | 'asked'>,
  lastError: GatewayError | undefined,
): GatewayError {
  const { retryAfterMs } = nothing;
  const failure = lastError?.failure;
  const ending = { retryAfterMs, failure, cause: lastError };
  switch (nothing.reason) {
    case 'limited':
      return new GatewayError({
        kind: failure?.kind === 'quota-exhausted' ? 'quota-exhausted' : 'rate-limited',
        source: 'upstream',
        message: told`All accounts for this model have reached their limit. Try again when one has recovered.`,
        ...ending,
      });
    case 'overloaded':
      return new GatewayError({
        kind: 'overloaded',
        source: 'upstream',
        message: told`The upstream is overloaded. Try again shortly.`,
        ...ending,
      });
    case 'busy':
      return busy();
    case 'not-offered':
      return lastError ?? notOffered(choice);
    case 'all-tried':
      return lastError === undefined
        ? noUsableAccount(retryAfterMs)
        : lastAttemptError(lastError, retryAfterMs);
    case 'no-accounts':
    case 'unusable':
      // Those that could be asked refused the request; whether the others had, nobody can say.
      return isClientsToKnow(lastError) ? lastError : noUsableAccount(retryAfterMs, lastError);
    default:
      return nothing.reason satisfies never;
  }
}

const BY_HOPE: readonly NothingLeft['reason'][] = [
  ...(['all-tried', 'busy', 'overloaded', 'limited', 'unusable'] as const),
  ...(['not-offered', 'no-accounts'] as const),
];

/** Of two routes without an account the one that may have one first. */
export function moreHopeful(known: NothingLeft | undefined, next: NothingLeft): NothingLeft {
  if (known === undefined) return next;
  const isKept = BY_HOPE.indexOf(known.reason) <= BY_HOPE.indexOf(next.reason);
  const waits = [known.retryAfterMs, next.retryAfterMs].filter((wait) => wait !== undefined);
  const retryAfterMs = waits.length === 0 ? undefined : Math.min(...waits);
  return { ...(isKept ? known : next), retryAfterMs, selectionLog: next.selectionLog };
}

/** True for a refusal of the request itself; what is said of whole accounts is the pool's business. */
function isClientsToKnow(error: GatewayError | undefined): error is GatewayError {
  const kind = error?.failure?.kind;
  return kind !== undefined && mayBeOfRequest(kind) && !isAccountTrouble(kind);
}

/** Every account was tried: the client learns what the last one ran into, unless that is the pool's business. */
function lastAttemptError(
  lastError: GatewayError,
  // They are not out of use: the next request may find one of them well again.
  retryAfterMs = NEXT_REQUEST_MS,
): GatewayError {
  const kind = lastError.failure?.kind;
  const isOurs = kind !== undefined && isAccountTrouble(kind) && !isLimit(kind);
  return isOurs ? noUsableAccount(retryAfterMs, lastError) : lastError;
}

function busy(): GatewayError {
  return gatewayError(
    'overloaded',
    told`This upstream is at its concurrency limit. Try again shortly.`,
    { retryAfterMs: BUSY_RETRY_MS },
  );
}

function notOffered({
  route: { target },
  asked = target,
}: Pick<RouteChoice, 'route' | 'asked'>): GatewayError {
  const name = JSON.stringify(asked);
  const model = asked === target ? name : `${name} (${target})`;
  return new GatewayError({
    kind: 'not-found',
    source: 'gateway',
    reason: 'model-not-found',
    field: 'model',
    message: told`No account offers the model ${model}. GET /v1/models lists the names that work.`,
  });
}

function noUsableAccount(retryAfterMs: number | undefined, lastError?: GatewayError): GatewayError {
  return new GatewayError({
    kind: 'upstream-auth',
    source: 'gateway',
    message: told`No upstream account can be used right now. The log of the gateway says why.`,
    retryAfterMs,
    failure: lastError?.failure,
    cause: lastError,
  });
}
