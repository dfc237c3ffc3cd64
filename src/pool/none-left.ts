// Why no account can serve a request, told from what was found at each of them.

import type { Eligibility, WaitingCause } from './eligibility.ts';
import type { Considered, LeaseResult, NoneLeftReason } from './pool.ts';

export type Finding = Eligibility | { readonly kind: 'tried'; readonly verdict: string };

/**
 * The most hopeful reason wins: an account that this request merely found failing may serve the next
 * one, and a limit that passes says more than an account that is gone.
 */
const REASONS: readonly (readonly [WaitingCause, NoneLeftReason])[] = [
  ['limited', 'limited'],
  ['overloaded', 'overloaded'],
  ['faulty', 'faulty'],
  ['refused', 'unusable'],
];

export function noneLeft(
  findings: readonly Finding[],
  considered: readonly Considered[],
): LeaseResult {
  const kinds = new Set(findings.map((finding) => finding.kind));
  if (kinds.has('tried')) return { kind: 'none', reason: 'all-tried', considered };
  const waits = findings.filter((finding) => finding.kind === 'waiting');
  const retryAfterMs =
    waits.length === 0 ? undefined : Math.min(...waits.map((wait) => wait.remainingMs));
  for (const [cause, reason] of REASONS) {
    if (waits.some((wait) => wait.cause === cause)) {
      return { kind: 'none', reason, retryAfterMs, considered };
    }
  }
  return { kind: 'none', reason: kinds.has('unusable') ? 'unusable' : 'not-offered', considered };
}
