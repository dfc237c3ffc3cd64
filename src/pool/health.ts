// The health of one account: a pure state machine over the outcomes of its attempts.

import type { UpstreamFailure } from '../canonical/error.ts';

export type AccountStatus =
  | { readonly kind: 'active' }
  /** Leaves only by a person or a new sign-in. */
  | { readonly kind: 'disabled'; readonly reason: 'invalid-grant' | 'forbidden' | 'manual' }
  | { readonly kind: 'blocked'; readonly until: number };

export interface AccountHealth {
  readonly status: AccountStatus;
  /** Out for every model until then, in milliseconds since the epoch. */
  readonly outUntil: number;
  /** Consecutive refusals of the account's refresh token. */
  readonly revocations: number;
  readonly models: ReadonlyMap<string, ModelHealth>;
}

export interface ModelHealth {
  readonly coolUntil: number;
  readonly cause: CoolingCause;
  /** Consecutive quota and rate refusals; success clears both. */
  readonly quotaCount: number;
  readonly rateCount: number;
  /** Times of recent faults of the path, oldest first. */
  readonly pathFaults: readonly number[];
}

export type CoolingCause = 'none' | 'quota' | 'rate' | 'refused' | 'missing' | 'path';

export type HealthEvent =
  | { readonly kind: 'success'; readonly model: string }
  | { readonly kind: 'failure'; readonly model: string; readonly failure: UpstreamFailure };

export const HEALTHY: AccountHealth = {
  status: { kind: 'active' },
  outUntil: 0,
  revocations: 0,
  models: new Map(),
};

const FRESH_MODEL: ModelHealth = {
  coolUntil: 0,
  cause: 'none',
  quotaCount: 0,
  rateCount: 0,
  pathFaults: [],
};

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** No cooldown lasts longer, whatever the upstream says. */
const LONGEST_MS = 24 * 60 * MINUTE;
const QUOTA_STEPS_MS = [60, 300, 1800, 7200].map((seconds) => seconds * SECOND);
const PATH_WINDOW_MS = MINUTE;
const PATH_FAULTS_BEFORE_COOLING = 3;
const REVOCATIONS_BEFORE_DISABLING = 3;

/**
 * The health after an event. `jitter` is a random number in [0, 1).
 * Rows: the retry table of the design (account pool, "effect on the account").
 */
export function nextHealth(
  health: AccountHealth,
  event: HealthEvent,
  { now, jitter }: { readonly now: number; readonly jitter: number },
): AccountHealth {
  if (event.kind === 'success') {
    return { ...withModel(health, event.model, undefined), revocations: 0 };
  }
  const { model, failure } = event;
  const current = health.models.get(model) ?? FRESH_MODEL;
  const cool = (change: Partial<ModelHealth>): AccountHealth =>
    withModel(health, model, { ...current, ...change });
  switch (failure.kind) {
    case 'quota-exhausted': {
      const step = QUOTA_STEPS_MS[Math.min(current.quotaCount, QUOTA_STEPS_MS.length - 1)];
      const waitMs = failure.retryAfterMs ?? step ?? MINUTE;
      return cool({
        coolUntil: now + clampWait(waitMs),
        cause: 'quota',
        quotaCount: current.quotaCount + 1,
      });
    }
    case 'rate-limited': {
      const base = Math.min(5 * SECOND * 2 ** current.rateCount, MINUTE);
      const waitMs = failure.retryAfterMs ?? base * (0.5 + jitter / 2);
      return cool({
        coolUntil: now + clampWait(waitMs),
        cause: 'rate',
        rateCount: current.rateCount + 1,
      });
    }
    case 'unauthenticated':
      return { ...health, outUntil: now + MINUTE };
    case 'credential-revoked': {
      const revocations = health.revocations + 1;
      if (revocations < REVOCATIONS_BEFORE_DISABLING) {
        return { ...health, revocations, outUntil: now + MINUTE };
      }
      return { ...health, revocations, status: { kind: 'disabled', reason: 'invalid-grant' } };
    }
    case 'verification-required':
      return { ...health, status: { kind: 'blocked', until: now + 10 * MINUTE } };
    case 'forbidden':
      return { ...health, status: { kind: 'disabled', reason: 'forbidden' } };
    case 'model-forbidden':
      return cool({ coolUntil: now + 60 * MINUTE, cause: 'refused' });
    case 'model-not-found':
      return cool({ coolUntil: now + 5 * MINUTE, cause: 'missing' });
    case 'path':
    case 'connection-lost':
      return cool(afterPathFault(current, now));
    case 'overloaded':
    case 'bad-signature':
    case 'rejected':
      return health;
    default:
      return failure.kind satisfies never;
  }
}

function afterPathFault(model: ModelHealth, now: number): Partial<ModelHealth> {
  const pathFaults = [...model.pathFaults.filter((at) => at > now - PATH_WINDOW_MS), now];
  if (pathFaults.length < PATH_FAULTS_BEFORE_COOLING) return { pathFaults };
  return { pathFaults: [], coolUntil: now + 8 * SECOND, cause: 'path' };
}

function clampWait(waitMs: number): number {
  return Math.min(Math.max(waitMs, SECOND), LONGEST_MS);
}

function withModel(
  health: AccountHealth,
  model: string,
  next: ModelHealth | undefined,
): AccountHealth {
  if (next === undefined && !health.models.has(model)) return health;
  const models = new Map(health.models);
  if (next === undefined) models.delete(model);
  else models.set(model, next);
  return { ...health, models };
}
