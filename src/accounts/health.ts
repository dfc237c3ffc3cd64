// The health of one account: a pure state machine over its attempts, its quota figures and what a person does.

import type { UpstreamFailure } from '../canonical/error.ts';
import {
  afterPathFault,
  afterQuotaFigure,
  afterQuotaRefusal,
  afterRateRefusal,
  cooled,
  FRESH_MODEL,
  isEndedBySuccess,
  type ModelHealth,
} from './model-health.ts';

/** Plain JSON. Times are milliseconds since the epoch; `detail` is for the operator to read. */
export type AccountStatus =
  | { readonly kind: 'active' }
  /** Leaves only by a person or a new sign-in. */
  | {
      readonly kind: 'disabled';
      readonly reason: DisabledReason;
      readonly since: number;
      readonly detail?: string | undefined;
    }
  /** The upstream wants the account verified; ends by itself. */
  | {
      readonly kind: 'blocked';
      readonly until: number;
      readonly since: number;
      readonly detail?: string | undefined;
    };

/** `standing-by`: made-up accounts that rest while there are real ones. */
export type DisabledReason = 'invalid-grant' | 'forbidden' | 'manual' | 'standing-by';

export interface AccountHealth {
  readonly status: AccountStatus;
  /** Out for every model until then, in milliseconds since the epoch. */
  readonly outUntil: number;
  /** Consecutive refusals of the account's refresh token. */
  readonly revocations: number;
  /** When the last of them was counted; 0 when none is. */
  readonly revokedAt: number;
  /** By the account's own model id; a model without trouble has no entry. */
  readonly models: ReadonlyMap<string, ModelHealth>;
}

/**
 * `startedAt` is when the attempt began, now when absent: what began before a cooldown neither ends
 * it nor counts as one refusal more.
 */
export type HealthEvent =
  | {
      readonly kind: 'success';
      readonly model: string;
      readonly startedAt?: number | undefined;
    }
  | {
      readonly kind: 'failure';
      readonly model: string;
      readonly failure: UpstreamFailure;
      readonly startedAt?: number | undefined;
    }
  /** A figure the upstream itself reported; `readAt` is when it was asked. */
  | {
      readonly kind: 'quota-read';
      readonly model: string;
      readonly remainingFraction: number;
      readonly resetsAt: number | undefined;
      readonly readAt: number;
    }
  /** The token endpoint renewed the account's token. */
  | { readonly kind: 'refreshed' }
  /** Somebody signed in anew or gave a new credential: all is well but what a person disabled. */
  | { readonly kind: 'reauthenticated' }
  /** The verification the upstream asked for is done. */
  | { readonly kind: 'verified' }
  | { readonly kind: 'disable'; readonly detail?: string | undefined }
  /** Rests while other accounts serve, until it is enabled. */
  | { readonly kind: 'stand-by' }
  | { readonly kind: 'enable' }
  /** A person ends the cooldown of one model; of the account and all its models when absent. */
  | { readonly kind: 'clear-cooldown'; readonly model?: string | undefined };

/** When the event happened; `jitter` is a random number in [0, 1). */
export interface HealthMoment {
  readonly now: number;
  readonly jitter: number;
}

export const HEALTHY: AccountHealth = {
  status: { kind: 'active' },
  outUntil: 0,
  revocations: 0,
  revokedAt: 0,
  models: new Map(),
};

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** Out after the first and the second refusal; the third disables. A real revocation shows in seconds. */
const REVOCATION_STEPS_MS = [SECOND, SECOND];
const LONGEST_DETAIL = 200;
/** Clients may name any model; only this many with trouble are remembered. */
const MOST_MODELS = 256;

/**
 * The health after an event; the same object when nothing changed.
 * What each kind of failure does is one row of `afterFailure`.
 */
export function nextHealth(
  health: AccountHealth,
  event: HealthEvent,
  moment: HealthMoment,
): AccountHealth {
  switch (event.kind) {
    case 'success':
      return afterSuccess(health, event, moment);
    case 'failure':
      return afterFailure(health, event, moment);
    case 'quota-read':
      return withModel(health, event.model, (model) => afterQuotaFigure(model, event, moment.now));
    case 'refreshed':
      return withoutRevocations(health);
    case 'reauthenticated':
      return afterSignIn(health);
    case 'verified':
      return health.status.kind === 'blocked' ? activated(health) : health;
    case 'disable':
      return disabled(health, 'manual', { now: moment.now, detail: event.detail });
    case 'stand-by':
      return disabled(health, 'standing-by', { now: moment.now, detail: undefined });
    case 'enable':
      return health.status.kind === 'active' ? health : { ...activated(health), outUntil: 0 };
    case 'clear-cooldown':
      return withoutCooldown(health, event.model);
    default:
      return event satisfies never;
  }
}

function afterSuccess(
  health: AccountHealth,
  { model, startedAt = Number.POSITIVE_INFINITY }: Extract<HealthEvent, { kind: 'success' }>,
  { now }: HealthMoment,
): AccountHealth {
  const cleared = withModel(health, model, (current) =>
    current !== undefined && isEndedBySuccess(current, { startedAt, now }) ? undefined : current,
  );
  const renewed = startedAt > health.revokedAt ? withoutRevocations(cleared) : cleared;
  const { status } = renewed;
  return status.kind === 'blocked' && status.since < startedAt ? activated(renewed) : renewed;
}

function afterFailure(
  health: AccountHealth,
  { model, failure, startedAt }: Extract<HealthEvent, { kind: 'failure' }>,
  { now, jitter }: HealthMoment,
): AccountHealth {
  const { detail } = failure;
  const refusal = { failure, now, jitter, startedAt };
  const change = (next: (current: ModelHealth) => ModelHealth): AccountHealth =>
    withModel(health, model, (current = FRESH_MODEL) => next(current));
  switch (failure.kind) {
    case 'quota-exhausted':
      return change((current) => afterQuotaRefusal(current, refusal));
    case 'rate-limited':
      return change((current) => afterRateRefusal(current, refusal));
    case 'unauthenticated':
      return out(health, now + MINUTE);
    case 'credential-revoked':
      return afterRevocation(health, { now, detail, startedAt: startedAt ?? now });
    case 'verification-required':
      return blocked(health, { now, detail });
    case 'forbidden':
      return disabled(health, 'forbidden', { now, detail });
    case 'model-forbidden':
      return change((current) => cooled(current, 'refused', { now, waitMs: 60 * MINUTE }));
    case 'model-not-found':
      return change((current) => cooled(current, 'missing', { now, waitMs: 5 * MINUTE }));
    case 'path':
    case 'connection-lost':
    case 'credential-unavailable':
      return change((current) => afterPathFault(current, now));
    // What one request made of a model says nothing about the account: others must not wait for it.
    case 'unusable-answer':
    case 'overloaded':
    case 'bad-signature':
    case 'missing-signature':
    case 'rejected':
      return health;
    default:
      return failure.kind satisfies never;
  }
}

interface Occasion {
  readonly now: number;
  readonly detail?: string | undefined;
}

/** All who waited for one refresh learn of its refusal; it counts once. */
function afterRevocation(
  health: AccountHealth,
  { now, startedAt, detail }: Occasion & { readonly startedAt: number },
): AccountHealth {
  const { revocations, revokedAt } = health;
  const stepMs = REVOCATION_STEPS_MS[revocations];
  const lastStepMs = REVOCATION_STEPS_MS[revocations - 1] ?? 0;
  const isKnown = revocations > 0 && (startedAt <= revokedAt || now < revokedAt + lastStepMs);
  if (isKnown || health.status.kind === 'disabled') return health;
  const counted = { ...health, revocations: revocations + 1, revokedAt: now };
  if (stepMs === undefined) return disabled(counted, 'invalid-grant', { now, detail });
  return out(counted, now + stepMs);
}

function afterSignIn(health: AccountHealth): AccountHealth {
  const { status } = health;
  const isMeant =
    status.kind === 'disabled' && (status.reason === 'manual' || status.reason === 'standing-by');
  const renewed = { ...withoutRevocations(health), outUntil: 0 };
  return isMeant ? renewed : activated(renewed);
}

function withoutRevocations(health: AccountHealth): AccountHealth {
  return health.revocations === 0 ? health : { ...health, revocations: 0, revokedAt: 0 };
}

function activated(health: AccountHealth): AccountHealth {
  return { ...withoutRevocations(health), status: { kind: 'active' } };
}

/** What disabled an account first stays its reason, until a person decides. */
function disabled(
  health: AccountHealth,
  reason: DisabledReason,
  { now, detail }: Occasion,
): AccountHealth {
  if (health.status.kind === 'disabled' && reason !== 'manual') return health;
  return { ...health, status: { kind: 'disabled', reason, since: now, ...detailOf(detail) } };
}

function blocked(health: AccountHealth, { now, detail }: Occasion): AccountHealth {
  if (health.status.kind === 'disabled') return health;
  const until = now + 10 * MINUTE;
  return { ...health, status: { kind: 'blocked', until, since: now, ...detailOf(detail) } };
}

function out(health: AccountHealth, until: number): AccountHealth {
  return until <= health.outUntil ? health : { ...health, outUntil: until };
}

/** One line of at most 200 characters. */
function detailOf(detail: string | undefined): { readonly detail?: string } {
  const line = detail?.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  if (line === undefined || line === '') return {};
  const short = line.length > LONGEST_DETAIL ? `${line.slice(0, LONGEST_DETAIL - 1)}…` : line;
  return { detail: short.toWellFormed() };
}

function withoutCooldown(health: AccountHealth, model: string | undefined): AccountHealth {
  if (model !== undefined) return withModel(health, model, () => undefined);
  const isClear = health.outUntil === 0 && health.models.size === 0;
  return isClear ? health : { ...health, outUntil: 0, models: new Map() };
}

function withModel(
  health: AccountHealth,
  model: string,
  change: (current: ModelHealth | undefined) => ModelHealth | undefined,
): AccountHealth {
  const current = health.models.get(model);
  const next = change(current);
  if (next === current) return health;
  const models = new Map(health.models);
  if (next === undefined) models.delete(model);
  else models.set(model, next);
  if (models.size > MOST_MODELS) models.delete(soonestToEnd(models));
  return { ...health, models };
}

function soonestToEnd(models: ReadonlyMap<string, ModelHealth>): string {
  let found = '';
  let soonest = Number.POSITIVE_INFINITY;
  for (const [model, { coolUntil }] of models) {
    if (coolUntil < soonest) [found, soonest] = [model, coolUntil];
  }
  return found;
}
