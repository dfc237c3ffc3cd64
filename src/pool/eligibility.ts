// Whether one account may serve a model now, and the words for why not.

import type { AccountHealth, ModelHealth } from './health.ts';

export type Eligibility =
  | { readonly kind: 'eligible' }
  | { readonly kind: 'not-offered'; readonly verdict: string }
  | { readonly kind: 'unusable'; readonly verdict: string }
  | {
      readonly kind: 'waiting';
      readonly cause: WaitingCause;
      readonly verdict: string;
      readonly remainingMs: number;
    };

/** `limited`: rate or quota; `overloaded`: the upstream; `faulty`: the path; `refused`: the credential. */
export type WaitingCause = 'limited' | 'overloaded' | 'faulty' | 'refused';

export interface EligibilityInput {
  readonly health: AccountHealth;
  /** The account's own id of the model; undefined when it does not offer the model. */
  readonly modelId: string | undefined;
  readonly overloadMs: number;
  readonly now: number;
}

export function checkEligibility(input: EligibilityInput): Eligibility {
  const { health, modelId, overloadMs, now } = input;
  if (health.status.kind === 'disabled') {
    return { kind: 'unusable', verdict: `disabled (${health.status.reason})` };
  }
  if (modelId === undefined) return { kind: 'not-offered', verdict: 'does not offer the model' };
  const blockedMs = health.status.kind === 'blocked' ? health.status.until - now : 0;
  if (blockedMs > 0) return waiting('refused', 'waits for verification', blockedMs);
  if (health.outUntil > now) {
    return waiting('refused', 'was refused its credential', health.outUntil - now);
  }
  const model = health.models.get(modelId);
  if (model !== undefined && model.coolUntil > now) return cooling(model, model.coolUntil - now);
  if (overloadMs > 0) return waiting('overloaded', 'upstream is overloaded', overloadMs);
  return { kind: 'eligible' };
}

function cooling({ cause }: ModelHealth, remainingMs: number): Eligibility {
  switch (cause) {
    case 'missing':
      return { kind: 'not-offered', verdict: 'said it does not know the model' };
    case 'refused':
      return waiting('refused', 'was refused the model', remainingMs);
    case 'path':
      return waiting('faulty', 'failed several times in a minute', remainingMs);
    case 'quota':
    case 'rate':
    case 'none':
      return waiting('limited', `reached its limit (${cause})`, remainingMs);
    default:
      return cause satisfies never;
  }
}

function waiting(cause: WaitingCause, verdict: string, remainingMs: number): Eligibility {
  return { kind: 'waiting', cause, verdict, remainingMs };
}
