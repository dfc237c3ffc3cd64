// The health of one model of an account: how long it cools, and what raises or ends that.

import type { UpstreamFailure } from '../canonical/error.ts';

/** Plain JSON; times are milliseconds since the epoch. */
export interface ModelHealth {
  readonly coolUntil: number;
  /** When the cooldown began, or was last made longer. */
  readonly since: number;
  readonly cause: CoolingCause;
  /** Consecutive quota and rate refusals; success clears both. */
  readonly quotaCount: number;
  readonly rateCount: number;
  /** Times of recent faults of the path, oldest first. */
  readonly pathFaults: readonly number[];
  /** The lowest figure of the quota that was read since its last refusal, 0 to 1. */
  readonly figure?: number | undefined;
}

export type CoolingCause = 'none' | 'quota' | 'rate' | 'refused' | 'missing' | 'path';

export const FRESH_MODEL: ModelHealth = {
  coolUntil: 0,
  since: 0,
  cause: 'none',
  quotaCount: 0,
  rateCount: 0,
  pathFaults: [],
};

export interface Refusal {
  readonly failure: UpstreamFailure;
  readonly now: number;
  /** A random number in [0, 1). */
  readonly jitter: number;
  /** When the refused attempt began; undefined when that is not known. */
  readonly startedAt: number | undefined;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** No cooldown lasts longer, whatever the upstream says. */
export const LONGEST_COOLDOWN_MS = 24 * 60 * MINUTE;
const QUOTA_STEPS_MS = [60, 300, 1800, 7200].map((seconds) => seconds * SECOND);
const LONGEST_RATE_STEP_MS = MINUTE;
/** Figures this young may be older than the refusal they are read after. */
const SETTLING_MS = MINUTE;
const PATH_WINDOW_MS = MINUTE;
const PATH_FAULTS_BEFORE_COOLING = 3;
const PATH_COOLDOWN_MS = 8 * SECOND;

/** The upstream's own hint, else 60, 300, 1800, 7200 s by consecutive count. */
export function afterQuotaRefusal(model: ModelHealth, refusal: Refusal): ModelHealth {
  const quotaCount = Math.max(1, model.quotaCount + (isNewRefusal(model, refusal) ? 1 : 0));
  const step = QUOTA_STEPS_MS[Math.min(quotaCount, QUOTA_STEPS_MS.length) - 1] ?? MINUTE;
  const waitMs = refusal.failure.retryAfterMs ?? step;
  const refused = { ...model, quotaCount, figure: undefined };
  return cooled(refused, 'quota', { now: refusal.now, waitMs });
}

/** The upstream's own hint, else 5 s doubled by consecutive count up to a minute, with jitter. */
export function afterRateRefusal(model: ModelHealth, refusal: Refusal): ModelHealth {
  const rateCount = Math.max(1, model.rateCount + (isNewRefusal(model, refusal) ? 1 : 0));
  const base = Math.min(5 * SECOND * 2 ** (rateCount - 1), LONGEST_RATE_STEP_MS);
  const waitMs = refusal.failure.retryAfterMs ?? base * (0.5 + refusal.jitter / 2);
  return cooled({ ...model, rateCount }, 'rate', { now: refusal.now, waitMs });
}

/** Three faults within a minute cool the model for a moment; they never count as refusals. */
export function afterPathFault(model: ModelHealth, now: number): ModelHealth {
  const pathFaults = [...model.pathFaults.filter((at) => at > now - PATH_WINDOW_MS), now];
  if (pathFaults.length < PATH_FAULTS_BEFORE_COOLING) return { ...model, pathFaults };
  return cooled({ ...model, pathFaults: [] }, 'path', { now, waitMs: PATH_COOLDOWN_MS });
}

/** At least a second, at most a day. A cooldown that lasts longer already stays, with its cause. */
export function cooled(
  model: ModelHealth,
  cause: CoolingCause,
  { now, waitMs }: { readonly now: number; readonly waitMs: number },
): ModelHealth {
  const bounded = waitMs >= SECOND ? Math.min(waitMs, LONGEST_COOLDOWN_MS) : SECOND;
  const coolUntil = Math.ceil(now + bounded);
  return model.coolUntil > coolUntil ? model : { ...model, coolUntil, since: now, cause };
}

export interface QuotaFigure {
  readonly remainingFraction: number;
  readonly resetsAt: number | undefined;
  /** When the upstream was asked for it. */
  readonly readAt: number;
}

/** A figure above zero ends a quota cooldown when it shows recovery; zero cools until its reset. */
export function afterQuotaFigure(
  model: ModelHealth | undefined,
  figure: QuotaFigure,
  now: number,
): ModelHealth | undefined {
  const { remainingFraction, resetsAt } = figure;
  if (remainingFraction > 0) return model && afterRoom(model, figure);
  if (resetsAt === undefined || resetsAt <= now) return model && noteFigure(model, 0);
  const until = Math.min(resetsAt, now + LONGEST_COOLDOWN_MS);
  if (model !== undefined && model.coolUntil >= until) return noteFigure(model, 0);
  const empty = { ...(model ?? FRESH_MODEL), figure: 0 };
  return cooled(empty, 'quota', { now, waitMs: until - now });
}

/**
 * A refusal the figures do not show is of a quota they know nothing of, or they lag behind: only one
 * that is higher than another since the refusal, or comes first and late, tells of recovery.
 */
function afterRoom(
  model: ModelHealth,
  { remainingFraction, readAt }: QuotaFigure,
): ModelHealth | undefined {
  if (model.cause !== 'quota' || model.since >= readAt) return model;
  const isRecovered =
    model.figure === undefined
      ? readAt - model.since >= SETTLING_MS
      : remainingFraction > model.figure;
  return isRecovered ? undefined : noteFigure(model, remainingFraction);
}

function noteFigure(model: ModelHealth, figure: number): ModelHealth {
  return model.cause === 'quota' && figure < (model.figure ?? 2) ? { ...model, figure } : model;
}

/** An attempt that began before the cooldown says nothing of what came after. */
export function isEndedBySuccess(
  model: ModelHealth,
  { startedAt, now }: { readonly startedAt: number; readonly now: number },
): boolean {
  return model.coolUntil <= now || model.since < startedAt;
}

/** Refusals of attempts that were under way together are one refusal. */
function isNewRefusal(model: ModelHealth, { startedAt, now }: Refusal): boolean {
  return startedAt === undefined || model.coolUntil <= now || startedAt > model.since;
}
