// Finds the next account of one route for a request: waits for that of its session, for a free call, and for those
// that met a fault of the path. Where none is left it says what the client gets: never the pool's own credential trouble
// as 401/403.

import { changed, GatewayError, gatewayError } from '../canonical/error.ts';
import type { Clock } from '../lib/clock.ts';
import { told } from '../lib/localized-message.ts';
import type { Pool } from '../pool/create-pool.ts';
import type { Lease, LeaseRequest, LeaseResult } from '../pool/pool.ts';
import { peek, type RouteChoice } from './call-setup.ts';
import { isAccountTrouble, isLimit, mayBeOfRequest, REPEAT_WAITS_MS } from './retry.ts';

/** What a request has tried of one route, and for how long it has waited there. */
export interface AccountSearch {
  readonly choice: RouteChoice;
  /** Accounts that are not asked again, or only where no other is left, as they met a fault of the path or an overload. */
  tried: Map<string, 'spent' | 'faulted'> | undefined;
  /** How often those that met a fault were asked again. */
  repeats: number;
  /** For the account of its session. */
  waitedMs: number;
  /** When it began to wait for a slot. */
  queuedAt: number | undefined;
}

export interface SearchTools {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly random: () => number;
}

type Place = NonNullable<LeaseRequest['admitted']>;
type LeaseOrNothing = Exclude<LeaseResult, { kind: 'wait' | 'busy' }>;
export type NothingLeft = Extract<LeaseResult, { kind: 'none' }>;

/** For a client whose next request may find an account at once. */
const NEXT_REQUEST_MS = 1_000;
/** A person may end a rest, or take the account away, meanwhile. */
const LOOK_EVERY_MS = 1_000;
/** For one that waited for a call to become free. */
const BUSY_RETRY_MS = 5_000;

/** Of a route that nothing has been tried of. */
export const NOT_SEARCHED = { tried: undefined, repeats: 0, waitedMs: 0, queuedAt: undefined };

/** The pool itself bounds how long it waits in all. @throws the reason of the signal */
export async function leaseInTurn(
  search: AccountSearch,
  tools: SearchTools,
  signal: AbortSignal,
): Promise<LeaseOrNothing> {
  const { pool, clock } = tools;
  const { leaseRequest } = search.choice;
  let admitted: Place | undefined;
  let looked: LeaseResult | undefined;
  const isServed = (): boolean => {
    const { tried, waitedMs } = search;
    const found = pool.lease({ ...leaseRequest, waitedMs, exclude: new Set(tried?.keys()) });
    looked = found.kind === 'busy' ? undefined : found;
    return looked !== undefined;
  };
  for (;;) {
    const { tried, waitedMs } = search;
    const isFirst = tried === undefined && waitedMs === 0 && admitted === undefined;
    const result: LeaseResult =
      looked ??
      pool.lease(
        isFirst
          ? leaseRequest
          : { ...leaseRequest, waitedMs, admitted, exclude: new Set(tried?.keys()) },
      );
    looked = undefined;
    if (result.kind === 'wait') {
      admitted = undefined;
      const waitMs = Math.min(result.waitMs, LOOK_EVERY_MS);
      await clock.sleep(waitMs, signal);
      search.waitedMs += waitMs;
    } else if (result.kind === 'busy') {
      search.queuedAt ??= clock.monotonic();
      const { clientKeyId } = leaseRequest;
      const waiting = { clientKeyId, since: search.queuedAt, signal, isServed };
      admitted = await pool.slots.wait(result.places, waiting);
      if (admitted === undefined && looked === undefined) {
        return { kind: 'none', reason: 'busy', selectionLog: result.selectionLog };
      }
    } else return result;
  }
}

/** Most faults of the path pass at once: where no other account is left, those that met one are asked again. */
export async function leaseAgain(
  search: AccountSearch,
  nothing: NothingLeft,
  tools: SearchTools,
  signal: AbortSignal,
): Promise<LeaseOrNothing> {
  const wait = REPEAT_WAITS_MS[search.repeats];
  const { tried = new Map() } = search;
  const faulted = [...tried].filter(([, how]) => how === 'faulted');
  if (faulted.length === 0 || wait === undefined) return nothing;
  search.repeats += 1;
  await sleepBetween(wait, tools, signal);
  for (const [id] of faulted) tried.delete(id);
  const result = await leaseInTurn(search, tools, signal);
  return result.kind === 'none' && result.reason === 'all-tried' ? nothing : result;
}

/** Of more accounts than this some are asked in vain. */
const MAX_PASSED_OVER = 64;

/** Passes over all who have the same model at the same upstream. True where another is left. */
export function leaveUpstream(
  search: AccountSearch,
  { account, upstream, modelId }: Lease,
  { pool }: Pick<SearchTools, 'pool'>,
): boolean {
  const { choice } = search;
  // Mostly all are of one upstream.
  if (pool.lacking(choice.leaseRequest).length < 2) return false;
  search.tried ??= new Map();
  search.tried.set(account.id, 'spent');
  const seen = new Set(search.tried.keys());
  let isLeft = false;
  while (seen.size < MAX_PASSED_OVER) {
    const next = peek(choice, pool, seen);
    if (next === undefined) break;
    const isSame = next.upstream.id === upstream.id && next.modelId === modelId;
    if (isSame) search.tried.set(next.account.id, 'spent');
    else isLeft = true;
    seen.add(next.account.id);
  }
  return isLeft;
}

export function sleepBetween(
  [from, to]: readonly [number, number],
  { clock, random }: SearchTools,
  signal: AbortSignal,
): Promise<void> {
  return clock.sleep(from + random() * (to - from), signal);
}

/** What a request would find now, but for the accounts it is not to try. */
export function lookAhead(
  { leaseRequest }: RouteChoice,
  exclude: ReadonlySet<string>,
  pool: Pool,
): NothingLeft | { readonly kind: 'soon'; readonly retryAfterMs: number } {
  const rest = pool.lease({ ...leaseRequest, exclude, isDryRun: true });
  if (rest.kind === 'none') return rest;
  if (rest.kind === 'lease') rest.lease.release({ kind: 'neutral' });
  return { kind: 'soon', retryAfterMs: rest.kind === 'wait' ? rest.waitMs : NEXT_REQUEST_MS };
}

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
