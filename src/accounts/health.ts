// The health of one account: a pure state machine, and the JSON it is stored as.

import type { UpstreamFailure } from '../canonical/failure.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/json.ts';
import {
  changeTexts,
  readSentence,
  type Sentence,
  textOf,
  told,
  writeSentence,
} from '../lib/localized-message.ts';

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

const CAUSES = ['none', 'quota', 'rate', 'refused', 'missing'] as const;
export type CoolingCause = (typeof CAUSES)[number];

const FRESH_MODEL: ModelHealth = {
  coolUntil: 0,
  since: 0,
  cause: 'none',
  quotaCount: 0,
  rateCount: 0,
  forbiddenCount: 0,
  isGuess: false,
};

type FailureEvent = Extract<HealthEvent, { kind: 'failure' }>;
type Refusal = FailureEvent & HealthMoment;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** No cooldown lasts longer, whatever the upstream says. */
export const MAX_COOLDOWN_MS = 24 * 60 * MINUTE;
const QUOTA_STEPS_MS = [60, 300, 1800, 7200].map((seconds) => seconds * SECOND);
const MAX_RATE_STEP_MS = MINUTE;
/** Figures this young may be older than the refusal they are read after. */
const SETTLING_MS = MINUTE;
const MAX_FORBIDDEN_STEP_MS = 60 * MINUTE;
/** What an account served a moment ago it may serve: a single refusal is of the request then. */
const SERVED_LATELY_MS = MINUTE;
/** So many in a row outweigh that it served a moment ago. */
const REFUSALS_THAT_COUNT = 5;

/** The upstream's own hint, else 60, 300, 1800, 7200 s by consecutive count. */
function afterQuotaRefusal(model: ModelHealth, refusal: Refusal): ModelHealth {
  const quotaCount = Math.max(1, model.quotaCount + (isNewRefusal(model, refusal) ? 1 : 0));
  const step = QUOTA_STEPS_MS[Math.min(quotaCount, QUOTA_STEPS_MS.length) - 1] ?? MINUTE;
  const waitMs = refusal.failure.retryAfterMs ?? step;
  const isGuess = refusal.failure.retryAfterMs === undefined;
  const refused = { ...model, quotaCount, isGuess, figure: undefined };
  return cooled(refused, 'quota', { now: refusal.now, waitMs });
}

/** The upstream's own hint, else 5 s doubled by consecutive count up to a minute, with jitter. */
function afterRateRefusal(model: ModelHealth, refusal: Refusal): ModelHealth {
  const rateCount = Math.max(1, model.rateCount + (isNewRefusal(model, refusal) ? 1 : 0));
  const base = Math.min(5 * SECOND * 2 ** (rateCount - 1), MAX_RATE_STEP_MS);
  const waitMs = refusal.failure.retryAfterMs ?? base * (0.5 + refusal.jitter / 2);
  return cooled({ ...model, rateCount, isGuess: false }, 'rate', { now: refusal.now, waitMs });
}

/** 60 s doubled by consecutive count up to an hour; nothing where the account served the model a moment ago. */
function afterForbidden(model: ModelHealth, refusal: Refusal): ModelHealth {
  const { now, servedAt } = refusal;
  if (!isNewRefusal(model, refusal)) return model;
  const forbiddenCount = model.forbiddenCount + 1;
  const counted = { ...model, forbiddenCount, isGuess: false };
  const servedLately = servedAt !== undefined && servedAt > now - SERVED_LATELY_MS;
  if (servedLately && forbiddenCount < REFUSALS_THAT_COUNT) return counted;
  const waitMs = Math.min(MINUTE * 2 ** (forbiddenCount - 1), MAX_FORBIDDEN_STEP_MS);
  return cooled(counted, 'refused', { now, waitMs });
}

/** At least a second, at most a day. A cooldown that lasts longer already stays, with its cause. */
function cooled(
  model: ModelHealth,
  cause: CoolingCause,
  { now, waitMs }: { readonly now: number; readonly waitMs: number },
): ModelHealth {
  const bounded = waitMs >= SECOND ? Math.min(waitMs, MAX_COOLDOWN_MS) : SECOND;
  const coolUntil = Math.ceil(now + bounded);
  return model.coolUntil > coolUntil ? model : { ...model, coolUntil, since: now, cause };
}

type QuotaFigure = Extract<HealthEvent, { kind: 'quota-read' }>;

/** A figure above zero ends a quota cooldown when it shows recovery; zero cools until its reset. */
function afterQuotaFigure(
  model: ModelHealth | undefined,
  figure: QuotaFigure,
  now: number,
): ModelHealth | undefined {
  const { remainingFraction, resetsAt } = figure;
  if (remainingFraction > 0) return model && afterRoom(model, figure);
  if (resetsAt === undefined || resetsAt <= now) return model && noteFigure(model, 0);
  const until = Math.min(resetsAt, now + MAX_COOLDOWN_MS);
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
function isEndedBySuccess(
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

/** Plain JSON. Times are milliseconds since the epoch; `detail` is for the operator to read. */
export type AccountStatus =
  | { readonly kind: 'active' }
  /** Leaves only by a person or a new sign-in; one with `probeAt` by a probe that succeeds, too. */
  | {
      readonly kind: 'disabled';
      readonly reason: DisabledReason;
      readonly since: number;
      /** `invalid-key`: when it is tried again by itself. */
      readonly probeAt?: number | undefined;
      readonly detail?: string | Sentence | undefined;
    }
  /** The upstream wants the account verified; ends by itself. */
  | {
      readonly kind: 'blocked';
      readonly until: number;
      readonly since: number;
      readonly detail?: string | Sentence | undefined;
    };

type OutStatus = Exclude<AccountStatus, { readonly kind: 'active' }>;

/** `standing-by`: an account of the sandbox that rests while there are real ones. */
const REASONS = ['invalid-grant', 'invalid-key', 'forbidden', 'manual', 'standing-by'] as const;
type DisabledReason = (typeof REASONS)[number];

export interface AccountHealth {
  readonly status: AccountStatus;
  /** Out for every model until then, in milliseconds since the epoch. */
  readonly outUntil: number;
  /** Consecutive refusals of the account's refresh token. */
  readonly revocations: number;
  /** When the last of them was counted; 0 when none is. */
  readonly revokedAt: number;
  /** Consecutive refusals of its credential (401), and when the first and the last of them came. */
  readonly refusals: number;
  readonly refusedSince: number;
  readonly refusedAt: number;
  /** About when it last served a request, to ten minutes; 0 when it never did. */
  readonly servedAt: number;
  /** Probes that failed since its key was found invalid. */
  readonly probes: number;
  /** By the account's own model id; a model without trouble has no entry. */
  readonly models: ReadonlyMap<string, ModelHealth>;
}

/** True for made-up accounts that rest while there are real ones. */
export function isStandingBy({ health: { status } }: { readonly health: AccountHealth }): boolean {
  return status.kind === 'disabled' && status.reason === 'standing-by';
}

/** True for what somebody disabled, and for made-up accounts that rest: nothing is wrong with them. */
export function isDisabledOnPurpose(account: { readonly health: AccountHealth }): boolean {
  const { status } = account.health;
  return isStandingBy(account) || (status.kind === 'disabled' && status.reason === 'manual');
}

/** `startedAt` is when the attempt began, now when absent: what began before a cooldown does not change it. */
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
      /** When the account last served this model, or for a refused credential any model. */
      readonly servedAt?: number | undefined;
      /** True for an API key, which nothing renews. */
      readonly isKey?: boolean | undefined;
    }
  /** A request of one token that was made to see whether the account is served at all. */
  | { readonly kind: 'probed'; readonly failure: UpstreamFailure | undefined }
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
  /** Somebody signed in anew, gave a new credential or another upstream: all is well but what a person disabled. */
  | { readonly kind: 'reauthenticated' }
  /** The verification the upstream asked for is done. */
  | { readonly kind: 'verified' }
  | { readonly kind: 'disable'; readonly detail?: string | Sentence | undefined }
  /** Rests while other accounts serve, until it is enabled. */
  | { readonly kind: 'stand-by' }
  | { readonly kind: 'enable' }
  /** A person ends the cooldown of one model; of the account and all its models when absent. */
  | { readonly kind: 'clear-cooldown'; readonly model?: string | undefined };

/** When the event happened; `jitter` is a random number in [0, 1). */
interface HealthMoment {
  readonly now: number;
  readonly jitter: number;
}

export const HEALTHY: AccountHealth = {
  status: { kind: 'active' },
  outUntil: 0,
  revocations: 0,
  revokedAt: 0,
  refusals: 0,
  refusedSince: 0,
  refusedAt: 0,
  servedAt: 0,
  probes: 0,
  models: new Map(),
};
/** Out after the first and the second refusal; the third disables. A real revocation shows in seconds. */
const REVOCATION_STEPS_MS = [SECOND, SECOND];
/** An account that served somebody a moment ago has a credential that is accepted. */
const TRUSTED_FOR_MS = 10 * SECOND;
const FIRST_REFUSAL_MS = 5 * SECOND;
const MAX_REFUSAL_MS = MINUTE;
/** A key that never worked is found invalid at once, one that did after so many refusals in so long a time. */
const REFUSALS_OF_NEW_KEY = 2;
const REFUSALS_OF_USED_KEY = 5;
const REFUSED_FOR_MS = 10 * MINUTE;
const PROBE_STEPS_MS = [MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE];
const SERVED_STEP_MS = 10 * MINUTE;
const MAX_DETAIL_LENGTH = 200;
/** Clients may name any model; only this many with trouble are remembered. */
const MAX_MODELS = 256;

/** True for a success that ends nothing and is noted already, as most are. */
export function isUneventful(health: AccountHealth, event: HealthEvent, now: number): boolean {
  const { status, refusals, revocations, servedAt, models } = health;
  return (
    event.kind === 'success' &&
    status.kind === 'active' &&
    refusals + revocations + models.size === 0 &&
    Math.abs(now - servedAt) < SERVED_STEP_MS
  );
}

/** The health after an event; the same object when nothing changed. Failures are rows of `afterFailure`. */
export function nextHealth(
  health: AccountHealth,
  event: HealthEvent,
  moment: HealthMoment,
): AccountHealth {
  switch (event.kind) {
    case 'success':
      return isUneventful(health, event, moment.now) ? health : afterSuccess(health, event, moment);
    case 'failure':
      return afterFailure(health, event, moment);
    case 'probed':
      return afterProbe(health, event, moment);
    case 'quota-read':
      return withModel(health, event.model, (model) => afterQuotaFigure(model, event, moment.now));
    case 'refreshed':
      return withoutRevocations(health);
    case 'reauthenticated':
      return afterSignIn(health);
    case 'verified':
      return health.status.kind === 'blocked' ? activated(health) : health;
    case 'disable':
      return disabled(health, 'manual', moment.now, event.detail);
    case 'stand-by':
      return disabled(health, 'standing-by', moment.now);
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
  const known = withoutRefusals(noteServed(cleared, now));
  const renewed = startedAt > health.revokedAt ? withoutRevocations(known) : known;
  const { status } = renewed;
  return status.kind === 'blocked' && status.since < startedAt ? activated(renewed) : renewed;
}

function afterFailure(
  health: AccountHealth,
  event: FailureEvent,
  { now, jitter }: HealthMoment,
): AccountHealth {
  const { model, failure, startedAt = now } = event;
  const { detail } = failure;
  const refusal: Refusal = { ...event, now, jitter };
  const change = (next: (current: ModelHealth) => ModelHealth): AccountHealth =>
    withModel(health, model, (current = FRESH_MODEL) => next(current));
  switch (failure.kind) {
    case 'quota-exhausted':
      return change((current) => afterQuotaRefusal(current, refusal));
    case 'rate-limited':
      return change((current) => afterRateRefusal(current, refusal));
    case 'unauthenticated':
      return afterRefusal(health, event, now);
    case 'credential-revoked':
      return afterRevocation(health, startedAt, now, detail);
    case 'verification-required':
      return blocked(health, now, detail);
    case 'forbidden':
      return disabled(health, 'forbidden', now, detail);
    case 'model-forbidden':
      return change((current) => afterForbidden(current, refusal));
    case 'model-not-found':
      return change((current) => cooled(current, 'missing', { now, waitMs: 5 * MINUTE }));
    // These count into the success share, which ranks accounts and takes none out of use.
    case 'path':
    case 'connection-lost':
    case 'credential-unavailable':
    // What one request made of a model says nothing about the account: others must not wait for it.
    case 'unusable-answer':
    // Nor does a proxy that serves all of them.
    case 'gateway-proxy':
    case 'overloaded':
    case 'bad-signature':
    case 'missing-signature':
    case 'lacking':
    case 'rejected':
      return health;
    default:
      return failure.kind satisfies never;
  }
}

/** Refusals of attempts that were under way together are one refusal. */
function afterRefusal(health: AccountHealth, event: FailureEvent, now: number): AccountHealth {
  const { startedAt = now, servedAt, isKey, failure } = event;
  if (health.status.kind === 'disabled') return health;
  if (health.refusals > 0 && startedAt < health.refusedAt) return health;
  const refusals = health.refusals + 1;
  const refusedSince = health.refusals === 0 ? now : health.refusedSince;
  const counted = { ...health, refusals, refusedSince, refusedAt: now };
  if (isKey === true && isInvalidKey(counted)) {
    const invalid = disabled(counted, 'invalid-key', now, failure.detail);
    return withProbeAt({ ...invalid, probes: 0 }, now);
  }
  if (servedAt !== undefined && servedAt > now - TRUSTED_FOR_MS) return counted;
  const waitMs = Math.min(FIRST_REFUSAL_MS * 2 ** (refusals - 1), MAX_REFUSAL_MS);
  return out(counted, now + waitMs);
}

function isInvalidKey({ servedAt, refusals, refusedSince, refusedAt }: AccountHealth): boolean {
  if (servedAt === 0) return refusals >= REFUSALS_OF_NEW_KEY;
  return refusals >= REFUSALS_OF_USED_KEY && refusedAt - refusedSince >= REFUSED_FOR_MS;
}

/** Of an invalid key: back in use, or the next probe. Of a model that was refused: what the account is worth. */
function afterProbe(
  health: AccountHealth,
  { failure }: Extract<HealthEvent, { kind: 'probed' }>,
  { now }: HealthMoment,
): AccountHealth {
  const { status } = health;
  if (status.kind === 'disabled') {
    if (status.reason !== 'invalid-key') return health;
    const isRefused = failure !== undefined && failure.kind !== 'rejected';
    if (!isRefused) return { ...noteServed(activated(health), now), outUntil: 0 };
    return withProbeAt({ ...health, probes: health.probes + 1 }, now);
  }
  if (failure?.kind === 'verification-required') {
    return blocked(health, now, failure.detail);
  }
  const isForbidden = failure?.kind === 'forbidden' || failure?.kind === 'model-forbidden';
  if (!isForbidden) return health;
  return disabled(health, 'forbidden', now, failure.detail);
}

function withProbeAt(health: AccountHealth, now: number): AccountHealth {
  const { status, probes } = health;
  if (status.kind !== 'disabled') return health;
  const stepMs = PROBE_STEPS_MS[Math.min(probes, PROBE_STEPS_MS.length - 1)] ?? MINUTE;
  return { ...health, status: { ...status, probeAt: now + stepMs } };
}

function noteServed(health: AccountHealth, now: number): AccountHealth {
  return Math.abs(now - health.servedAt) < SERVED_STEP_MS ? health : { ...health, servedAt: now };
}

/** An answer shows that the credential is accepted, whenever it was asked for. */
function withoutRefusals(health: AccountHealth): AccountHealth {
  if (health.refusals === 0) return health;
  return { ...health, refusals: 0, refusedSince: 0, refusedAt: 0, outUntil: 0 };
}

/** All who waited for one refresh learn of its refusal; it counts once. */
function afterRevocation(
  health: AccountHealth,
  startedAt: number,
  now: number,
  detail: string | Sentence | undefined,
): AccountHealth {
  const { revocations, revokedAt } = health;
  const stepMs = REVOCATION_STEPS_MS[revocations];
  const lastStepMs = REVOCATION_STEPS_MS[revocations - 1] ?? 0;
  const isKnown = revocations > 0 && (startedAt <= revokedAt || now < revokedAt + lastStepMs);
  if (isKnown || health.status.kind === 'disabled') return health;
  const counted = { ...health, revocations: revocations + 1, revokedAt: now };
  if (stepMs === undefined) return disabled(counted, 'invalid-grant', now, detail);
  return out(counted, now + stepMs);
}

function afterSignIn(health: AccountHealth): AccountHealth {
  const { status } = health;
  const isMeant =
    status.kind === 'disabled' && (status.reason === 'manual' || status.reason === 'standing-by');
  const renewed = withoutRefusals(withoutRevocations(withoutCooldown(health, undefined)));
  return isMeant ? renewed : activated(renewed);
}

function withoutRevocations(health: AccountHealth): AccountHealth {
  return health.revocations === 0 ? health : { ...health, revocations: 0, revokedAt: 0 };
}

function activated(health: AccountHealth): AccountHealth {
  return {
    ...withoutRefusals(withoutRevocations(health)),
    probes: 0,
    status: { kind: 'active' },
  };
}

/** What disabled an account first stays its reason, until a person decides. */
function disabled(
  health: AccountHealth,
  reason: DisabledReason,
  now: number,
  detail?: string | Sentence,
): AccountHealth {
  if (health.status.kind === 'disabled' && reason !== 'manual') return health;
  return { ...health, status: { kind: 'disabled', reason, since: now, ...detailOf(detail) } };
}

function blocked(
  health: AccountHealth,
  now: number,
  detail: string | Sentence | undefined,
): AccountHealth {
  if (health.status.kind === 'disabled') return health;
  const until = now + 10 * MINUTE;
  return { ...health, status: { kind: 'blocked', until, since: now, ...detailOf(detail) } };
}

function out(health: AccountHealth, until: number): AccountHealth {
  return until <= health.outUntil ? health : { ...health, outUntil: until };
}

/** One line of at most 200 characters. */
function detailOf(detail: string | Sentence | undefined): Pick<OutStatus, 'detail'> {
  if (detail === undefined) return {};
  const short = typeof detail === 'string' ? shorten(detail) : changeTexts(detail, shorten);
  return textOf(short) === '' ? {} : { detail: short };
}

function shorten(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  const short = line.length > MAX_DETAIL_LENGTH ? `${line.slice(0, MAX_DETAIL_LENGTH - 1)}…` : line;
  return short.toWellFormed();
}

function withoutCooldown(health: AccountHealth, model: string | undefined): AccountHealth {
  if (model !== undefined) return withModel(health, model, () => undefined);
  const isClear = health.outUntil === 0 && health.models.size === 0;
  return isClear ? health : { ...withoutRefusals(health), outUntil: 0, models: new Map() };
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
  if (models.size > MAX_MODELS) models.delete(soonestToEnd(models));
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

export interface Trial {
  readonly what: 'models' | 'answer';
  readonly isGood: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly durationMs: number;
  /** What came of it, for the operator alone. */
  readonly message: Sentence;
}

/** What a model list says of the account that read it: one without models is none, and asks for no credential. */
export function sayListed(models: number): Sentence {
  return models === 0
    ? told`The upstream lists no models, so only a request shows whether its address and the credential are right.`
    : told`Models the upstream offers: ${models}.`;
}

/** In memory alone: after a restart each account is tried again. */
export class AccountTrials {
  readonly #last = new Map<string, Trial>();

  /** What an answer has shown, a model list read later does not say better, unless it is refused. */
  note(accountId: string, trial: Trial): void {
    const known = this.#last.get(accountId);
    if (trial.what === 'models' && trial.isGood && known?.what === 'answer') return;
    this.#last.set(accountId, trial);
  }

  last(accountId: string): Trial | undefined {
    return this.#last.get(accountId);
  }

  forget(accountId: string): void {
    this.#last.delete(accountId);
  }
}

const NUMBERS = [
  ...(['outUntil', 'revocations', 'revokedAt', 'refusals', 'refusedSince', 'refusedAt'] as const),
  ...(['servedAt', 'probes'] as const),
] as const;

/** Models are pairs, as their names are the client's and may be any text. */
export function writeHealth({ status, models, ...numbers }: AccountHealth): JsonObject {
  const probeAt = status.kind === 'disabled' ? (status.probeAt ?? null) : null;
  const detail = status.kind === 'active' ? null : writeDetail(status.detail);
  return {
    status: { ...status, detail, probeAt },
    ...numbers,
    models: [...models].map(([id, model]) => [id, { ...model, figure: model.figure ?? null }]),
  };
}

/** A text from elsewhere as text, so that an earlier version reads it too. */
function writeDetail(detail: string | Sentence | undefined): JsonValue {
  if (detail === undefined) return null;
  return typeof detail === 'string' ? detail : writeSentence(detail);
}

/** What `writeHealth` wrote. An unreadable status is `disabled` by hand; all else is as in a healthy account. */
export function readHealth(value: JsonValue): AccountHealth {
  const stored = isJsonObject(value) ? value : {};
  const pairs = Array.isArray(stored.models) ? stored.models : [];
  const { status: _status, models: _models, ...numbers } = HEALTHY;
  const read = { ...numbers };
  for (const key of NUMBERS) read[key] = readTime(stored[key]);
  return { ...read, status: readStatus(stored.status), models: new Map(pairs.flatMap(readModel)) };
}

function readStatus(value: JsonValue | undefined): AccountStatus {
  const stored = isJsonObject(value) ? value : {};
  const since = readTime(stored.since);
  const read = readSentence(stored.detail ?? null);
  const detail = read === undefined ? {} : { detail: read };
  switch (stored.kind) {
    case 'active':
      return { kind: 'active' };
    case 'blocked':
      return { kind: 'blocked', until: readTime(stored.until), since, ...detail };
    case 'disabled': {
      const reason = REASONS.find((known) => known === stored.reason) ?? 'manual';
      const probeAt = reason === 'invalid-key' ? { probeAt: readTime(stored.probeAt) } : {};
      return { kind: 'disabled', reason, since, ...probeAt, ...detail };
    }
    default:
      return {
        kind: 'disabled',
        reason: 'manual',
        since,
        detail: told`Its stored state is damaged.`,
      };
  }
}

function readModel(pair: JsonValue): readonly (readonly [string, ModelHealth])[] {
  if (!Array.isArray(pair)) return [];
  const [id, stored] = pair;
  if (typeof id !== 'string' || !isJsonObject(stored)) return [];
  // Older versions took accounts out of use for faults of the path.
  if (stored.cause === 'path') return [];
  const model: ModelHealth = {
    coolUntil: readTime(stored.coolUntil),
    since: readTime(stored.since),
    cause: CAUSES.find((known) => known === stored.cause) ?? 'none',
    quotaCount: readTime(stored.quotaCount),
    rateCount: readTime(stored.rateCount),
    forbiddenCount: readTime(stored.forbiddenCount),
    isGuess: stored.isGuess === true,
    figure: typeof stored.figure === 'number' ? stored.figure : undefined,
  };
  return [[id, model]];
}

function readTime(value: JsonValue | undefined): number {
  return typeof value === 'number' && value >= 0 ? value : 0;
}
