// Why no account can serve a request, told from what was found at them.

import type { Eligibility, WaitingCause } from './eligibility.ts';
import type { Considered, LeaseResult, NoneLeftReason } from './pool.ts';

export type Finding = Exclude<Eligibility, { kind: 'eligible' }> | { readonly kind: 'tried' };

/**
 * The most hopeful reason wins: an account that this request merely found failing may serve the next
 * one; accounts behind an overload are free in seconds, also where others are at their limit; and a
 * limit that passes says more than an account that is gone.
 */
const REASONS: readonly (readonly [readonly WaitingCause[], NoneLeftReason])[] = [
  [['overloaded'], 'overloaded'],
  [['limited', 'exhausted', 'protected'], 'limited'],
  [['refused', 'blocked'], 'unusable'],
];

/** By then the figures of an account that gave no reset time were read again. */
const UNKNOWN_RECOVERY_MS = 300_000;

export interface NoneLeftFacts {
  /** One of each reason is enough. */
  readonly findings: readonly Finding[];
  /** The soonest end of a wait, from now; undefined when none is known. */
  readonly soonestMs: number | undefined;
  readonly considered: readonly Considered[];
}

export function noneLeft({ findings, soonestMs, considered }: NoneLeftFacts): LeaseResult {
  const kinds = new Set(findings.map((finding) => finding.kind));
  if (kinds.has('tried')) return { kind: 'none', reason: 'all-tried', considered };
  const causes = new Set(
    findings.flatMap((finding) => (finding.kind === 'waiting' ? [finding.cause] : [])),
  );
  for (const [known, reason] of REASONS) {
    if (!known.some((cause) => causes.has(cause))) continue;
    const retryAfterMs = soonestMs ?? (reason === 'limited' ? UNKNOWN_RECOVERY_MS : undefined);
    return { kind: 'none', reason, retryAfterMs, considered };
  }
  const isUnusable = findings.some(
    (finding) =>
      finding.kind === 'unusable' && (finding.isStandIn !== true || !kinds.has('not-offered')),
  );
  return { kind: 'none', reason: isUnusable ? 'unusable' : 'not-offered', considered };
}
