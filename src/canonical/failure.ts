// What went wrong with one attempt at an upstream.

import { type Sentence, type SpokenError, told } from '../lib/localized-message.ts';
import type { QuotaLesson } from './quota.ts';

/**
 * What went wrong with one upstream attempt; the retry table (`dispatch/retry.ts`) has one row a kind.
 * `connection-lost` means the connection ended before any response byte; `path` is every other
 * fault between here and the upstream's answer (5xx, network, garbage, truncation before content).
 * `unusable-answer` is the model's own doing: it said nothing, or made a call nobody can carry out.
 * `forbidden` is the account's own: suspended, without billing, its key revoked; `model-forbidden` is every
 * other 403, which may be the account's, the model's or the request's.
 * `credential-unavailable`: no credential could be had just now, so that the upstream was not asked.
 * `lacking`: the model lacks what the request needs, and another candidate may have it.
 * `gateway-proxy`: the proxy that all calls of the gateway go through failed or refused; no account is to blame.
 */
export type UpstreamFailureKind =
  | 'rate-limited'
  | 'quota-exhausted'
  | 'unauthenticated'
  | 'credential-revoked'
  | 'credential-unavailable'
  | 'verification-required'
  | 'forbidden'
  | 'model-forbidden'
  | 'model-not-found'
  | 'bad-signature'
  | 'missing-signature'
  | 'lacking'
  | 'rejected'
  | 'overloaded'
  | 'connection-lost'
  | 'unusable-answer'
  | 'gateway-proxy'
  | 'path';

/** Failures that count against an account. Others are of one request, of the gateway, or limits. */
export const ACCOUNT_FAILURES: ReadonlySet<string> = new Set<UpstreamFailureKind>([
  ...(['unauthenticated', 'credential-revoked', 'credential-unavailable'] as const),
  ...(['verification-required', 'forbidden', 'model-forbidden'] as const),
  ...(['overloaded', 'connection-lost', 'unusable-answer', 'path'] as const),
]);

export interface UpstreamFailure {
  readonly kind: UpstreamFailureKind;
  /** HTTP status of the upstream's answer; absent when there was none. */
  readonly status?: number | undefined;
  /** The upstream's machine-readable reason. */
  readonly reason?: string | undefined;
  /** The wait the upstream itself asked for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** What the upstream said, without secrets: for the operator, never for clients. */
  readonly detail?: string | Sentence | undefined;
  /** The upstream's own word for how an answer ended that cannot be used; absent for words of a natural end. */
  readonly finishReason?: string | undefined;
  /**
   * True where another try is vain: a gateway like this one says it, which has asked its own upstreams and gave up, or the
   * provider of a credential gives none for a reason that stays.
   */
  readonly isTriedOut?: true | undefined;
  /** True of a limit that the request alone is larger than: nothing is used up, and waiting is vain. */
  readonly isOversized?: true | undefined;
  /** What a refusal taught of the quota behind it. */
  readonly quota?: QuotaLesson | undefined;
}

/** A failure of which the upstream said nothing is told in our words, with what lies behind them: `connect ECONNREFUSED …`. */
export function explainFailure(
  failure: UpstreamFailure,
  { sentence, cause }: Pick<SpokenError, 'sentence' | 'cause'>,
): UpstreamFailure & { readonly detail: string | Sentence } {
  const { detail } = failure;
  if (detail !== undefined) return { ...failure, detail };
  const behind = cause instanceof Error ? cause.message : '';
  return { ...failure, detail: behind === '' ? sentence : told`${sentence} (${behind})` };
}
