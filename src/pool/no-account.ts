// Why no account could be leased, by what was said of each.

import type { SelectionLogEntry } from '../canonical/call-record.ts';
import type { WaitingCause } from './eligibility.ts';
import type { LeaseResult } from './pool.ts';
import type { Verdict } from './selection.ts';

/** By then the quota of an account that gave no reset time is read again. */
const UNKNOWN_RECOVERY_MS = 300_000;
const LIMITS: readonly WaitingCause[] = ['limited', 'exhausted', 'protected'];

interface NoAccountFacts {
  /** One of each kind is enough. */
  readonly verdicts: readonly Verdict[];
  /** The soonest end of a wait, from now; undefined when none is known. */
  readonly soonestMs: number | undefined;
  readonly selectionLog: readonly SelectionLogEntry[];
}

/**
 * Why no account can serve a request. The most hopeful reason wins: an account that failed this request
 * may serve the next one; an overload ends within seconds, also where other accounts are at their limit;
 * and a limit that ends says more than an account that is gone.
 */
export function noAccountReason(facts: NoAccountFacts): LeaseResult {
  const { verdicts, soonestMs: retryAfterMs, selectionLog } = facts;
  const kinds = new Set(verdicts.map(({ kind }) => kind));
  if (kinds.has('tried')) return { kind: 'none', reason: 'all-tried', selectionLog };
  if (kinds.has('overloaded')) {
    return { kind: 'none', reason: 'overloaded', retryAfterMs, selectionLog };
  }
  const causes = verdicts.flatMap((one) => (one.kind === 'waiting' ? [one.cause] : []));
  if (causes.some((cause) => LIMITS.includes(cause))) {
    const limitedMs = retryAfterMs ?? UNKNOWN_RECOVERY_MS;
    return { kind: 'none', reason: 'limited', retryAfterMs: limitedMs, selectionLog };
  }
  if (causes.length > 0) return { kind: 'none', reason: 'unusable', retryAfterMs, selectionLog };
  const isUnusable = verdicts.some(
    (one) => one.kind === 'unusable' && (one.isStandIn !== true || !kinds.has('not-offered')),
  );
  return { kind: 'none', reason: isUnusable ? 'unusable' : 'not-offered', selectionLog };
}
