// Finds the next account of one route for a request: waits for that of its session, for a free call, and for those
// that met a fault of the path.

import type { Clock } from '../lib/clock.ts';
import type { Pool } from '../pool/create-pool.ts';
import type { LeaseRequest, LeaseResult } from '../pool/pool.ts';
import type { RouteChoice } from './call-setup.ts';
import { NEXT_REQUEST_MS, type NothingLeft } from './exhausted.ts';
import { REPEAT_WAITS_MS } from './retry.ts';

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
  for (;;) {
    const { tried, waitedMs } = search;
    const isFirst = tried === undefined && waitedMs === 0 && admitted === undefined;
    const result = pool.lease(
      isFirst
        ? leaseRequest
        : { ...leaseRequest, waitedMs, admitted, exclude: new Set(tried?.keys()) },
    );
    if (result.kind === 'wait') {
      admitted = undefined;
      await clock.sleep(result.waitMs, signal);
      search.waitedMs += result.waitMs;
    } else if (result.kind === 'busy') {
      search.queuedAt ??= clock.monotonic();
      const waiting = { clientKeyId: leaseRequest.clientKeyId, since: search.queuedAt, signal };
      admitted = await pool.slots.wait(result.places, waiting);
      if (admitted === undefined) {
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
