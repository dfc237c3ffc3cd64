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
  /** Consecutive 403 that may be the account's, the model's or the request's. */
  readonly forbiddenCount: number;
  /** True while only our own guess says how long it cools: it may be tried before. */
  readonly isGuess: boolean;
  /** The lowest figure of the quota that was read since its last refusal, 0 to 1. */
  readonly figure?: number | undefined;
}

export type CoolingCause = 'none' | 'quota' | 'rate' | 'refused' | 'missing';

export const FRESH_MODEL: ModelHealth = {
  coolUntil: 0,
  since: 0,
  cause: 'none',
  quotaCount: 0,
  rateCount: 0,
  forbiddenCount: 0,
  isGuess: false,
};

export interface Refusal {
  readonly failure: UpstreamFailure;
  readonly now: number;
  /** A random number in [0, 1). */
  readonly jitter: number;
  /** When the refused attempt began; undefined when that is not known. */
  readonly startedAt: number | undefined;
  /** When the account last served the model, as far as that is remembered. */
  readonly servedAt: number | undefined;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** No cooldown lasts longer, whatever the upstream says. */
export const LONGEST_COOLDOWN_MS = 24 * 60 * MINUTE;
const QUOTA_STEPS_MS = [60, 300, 1800, 7200].map((seconds) => seconds * SECOND);
const LONGEST_RATE_STEP_MS = MINUTE;
/** Figures this young may be older than the refusal they are read after. */
const SETTLING_MS = MINUTE;
const LONGEST_FORBIDDEN_STEP_MS = 60 * MINUTE;
/** What an account served a moment ago it may serve: a single refusal is of the request then. */
const SERVED_LATELY_MS = MINUTE;
/** So many in a row outweigh that it served a moment ago. */
const REFUSALS_THAT_COUNT = 5;

/** The upstream's own hint, else 60, 300, 1800, 7200 s by consecutive count. */
export function afterQuotaRefusal(model: ModelHealth, refusal: Refusal): ModelHealth {
  const quotaCount = Math.max(1, model.quotaCount + (isNewRefusal(model, refusal) ? 1 : 0));
  const step = QUOTA_STEPS_MS[Math.min(quotaCount, QUOTA_STEPS_MS.length) - 1] ?? MINUTE;
  const waitMs = refusal.failure.retryAfterMs ?? step;
  const isGuess = refusal.failure.retryAfterMs === undefined;
  const refused = { ...model, quotaCount, isGuess, figure: undefined };
  return cooled(refused, 'quota', { now: refusal.now, waitMs });
}

/** The upstream's own hint, else 5 s doubled by consecutive count up to a minute, with jitter. */
export function afterRateRefusal(model: ModelHealth, refusal: Refusal): ModelHealth {
  const rateCount = Math.max(1, model.rateCount + (isNewRefusal(model, refusal) ? 1 : 0));
  const base = Math.min(5 * SECOND * 2 ** (rateCount - 1), LONGEST_RATE_STEP_MS);
  const waitMs = refusal.failure.retryAfterMs ?? base * (0.5 + refusal.jitter / 2);
  return cooled({ ...model, rateCount, isGuess: false }, 'rate', { now: refusal.now, waitMs });
}

/** 60 s doubled by consecutive count up to an hour; nothing where the account served the model a moment ago. */
export function afterForbidden(model: ModelHealth, refusal: Refusal): ModelHealth {
  const { now } = refusal;
  if (!isNewRefusal(model, refusal)) return model;
  const forbiddenCount = model.forbiddenCount + 1;
  const counted = { ...model, forbiddenCount, isGuess: false };
  if (servedLately(refusal) && forbiddenCount < REFUSALS_THAT_COUNT) return counted;
  const waitMs = Math.min(MINUTE * 2 ** (forbiddenCount - 1), LONGEST_FORBIDDEN_STEP_MS);
  return cooled(counted, 'refused', { now, waitMs });
}

function servedLately({ servedAt, now }: Pick<Refusal, 'servedAt' | 'now'>): boolean {
  return servedAt !== undefined && servedAt > now - SERVED_LATELY_MS;
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
  // That it was permitted is known from any answer, whenever it was asked for.
  if (model.cause === 'refused') return true;
  return model.coolUntil <= now || model.since < startedAt;
}

/** Refusals of attempts that were under way together are one refusal. */
function isNewRefusal(model: ModelHealth, { startedAt, now }: Refusal): boolean {
  return startedAt === undefined || model.coolUntil <= now || startedAt > model.since;
}
