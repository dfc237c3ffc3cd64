// Whether an account can serve a model now, and why not.

import type { Account } from '../accounts/account.ts';
import { type CoolingCause, MAX_COOLDOWN_MS, type ModelHealth } from '../accounts/health.ts';
import { foldCase } from '../lib/names.ts';
import type { Upstream } from '../upstreams/upstream.ts';

export type Eligibility =
  | { readonly kind: 'eligible' }
  | {
      readonly kind: 'unusable';
      readonly verdict: string;
      /** True for one that is only there while there are no others. */
      readonly isStandIn?: boolean | undefined;
      /** True for one that serves who asks for it by name. */
      readonly isOnCall?: boolean | undefined;
    }
  | {
      readonly kind: 'not-offered';
      readonly verdict: string;
      /** When that ends by itself, in milliseconds since the epoch. */
      readonly until?: number | undefined;
    }
  | Waiting;

interface Waiting {
  readonly kind: 'waiting';
  readonly cause: WaitingCause;
  readonly verdict: string;
  /** When that ends by itself, in milliseconds since the epoch; undefined when nobody knows. */
  readonly until: number | undefined;
  /** True where that is only when the figure is believed no more: it is read again long before. */
  readonly isEndUnknown?: boolean | undefined;
  /** Where no account is left, one request in this time tries it all the same. */
  readonly triedEveryMs?: number | undefined;
  /** The first of them not before then, in milliseconds since the epoch; at once when absent. */
  readonly triedFrom?: number | undefined;
}

/** `limited` by refusals; `exhausted` and `protected` by figures; `refused` credential or model. */
export type WaitingCause = 'limited' | 'exhausted' | 'protected' | 'refused' | 'blocked';

interface EligibilityInput {
  readonly account: Account;
  /** The account's own id of the model; undefined when it does not offer the model. */
  readonly modelId: string | undefined;
  readonly isProtected: boolean;
  /** True when calls under way have reserved all that is left of the quota. */
  readonly isReserved: boolean;
  readonly now: number;
}

/** Of several reasons to wait, the one that lasts longest; an explicit limit before a refusal. */
export function checkEligibility(input: EligibilityInput): Eligibility {
  const { account, modelId, now } = input;
  const { health } = account;
  // First, as a disabled account is no reason why a model nobody offers cannot be had.
  if (modelId === undefined) return { kind: 'not-offered', verdict: 'does not offer the model' };
  if (health.status.kind === 'disabled') {
    const isOnCall = health.status.reason === 'standing-by';
    if (account.origin === 'sandbox') return { ...RESTING, isOnCall };
    return { kind: 'unusable', verdict: DISABLED[health.status.reason], isOnCall };
  }
  const waits = accountWaits(account, now);
  const model = health.models.get(modelId);
  if (model !== undefined && model.coolUntil > now) {
    if (model.cause === 'missing') {
      return { kind: 'not-offered', verdict: NOT_KNOWN, until: model.coolUntil };
    }
    waits.push({
      kind: 'waiting',
      ...COOLING[model.cause],
      until: model.coolUntil,
      ...trialsOf(model),
    });
  }
  const quotaWait = waitForQuota(input, modelId);
  if (quotaWait !== undefined) waits.push(quotaWait);
  // What nothing may override hides what a request may try all the same.
  const explicit = waits.filter(({ triedEveryMs }) => triedEveryMs === undefined);
  return (explicit.length > 0 ? explicit : waits).toSorted(byEnd).at(-1) ?? { kind: 'eligible' };
}

/** A refusal is no limit: it leaves no model without an account. */
const REFUSED_TRIAL_MS = 1_000;
const GUESSED_LIMIT_TRIAL_MS = 60_000;

/** How long a quota is used up is our own guess where the upstream gave no hint: the refusal is as good as a trial. */
function trialsOf({ cause, isGuess, since }: ModelHealth): Partial<Waiting> {
  if (cause === 'refused') return { triedEveryMs: REFUSED_TRIAL_MS };
  if (cause !== 'quota' || !isGuess) return {};
  return { triedEveryMs: GUESSED_LIMIT_TRIAL_MS, triedFrom: since + GUESSED_LIMIT_TRIAL_MS };
}

const NOT_KNOWN = 'reported the model as unknown';

const DISABLED = {
  'invalid-grant': 'disabled: its sign-in is no longer accepted; sign in again',
  'invalid-key': 'disabled: its key is refused; give it a new key',
  forbidden: 'disabled: the upstream refused the account; enable it when that is settled',
  manual: 'disabled by hand',
  'standing-by': 'on standby: real accounts are used first',
} as const;

const RESTING = {
  kind: 'unusable',
  verdict: 'of the built-in sandbox, on standby or disabled',
  isStandIn: true,
} as const;

const COOLING: Readonly<
  Record<Exclude<CoolingCause, 'missing'>, Pick<Waiting, 'cause' | 'verdict'>>
> = {
  quota: { cause: 'limited', verdict: 'reached its limit (quota)' },
  rate: { cause: 'limited', verdict: 'reached its limit (rate)' },
  none: { cause: 'limited', verdict: 'reached its limit' },
  refused: { cause: 'refused', verdict: 'was refused the model' },
};

function accountWaits({ health }: Account, now: number): Waiting[] {
  const waits: Waiting[] = [];
  if (health.status.kind === 'blocked' && health.status.until > now) {
    const { until } = health.status;
    waits.push({ kind: 'waiting', cause: 'blocked', verdict: 'waits for verification', until });
  }
  if (health.outUntil > now) {
    waits.push({
      kind: 'waiting',
      cause: 'refused',
      verdict: 'was refused its credential',
      until: health.outUntil,
      triedEveryMs: REFUSED_TRIAL_MS,
    });
  }
  return waits;
}

function waitForQuota(
  { account, isProtected, isReserved, now }: EligibilityInput,
  modelId: string,
): Waiting | undefined {
  const quota = knownQuota(account, modelId, now);
  const exhausted = (verdict: string): Waiting => ({
    ...{ kind: 'waiting', cause: 'exhausted', verdict, until: quota?.until },
    ...(quota !== undefined && quota.resetsAt === undefined ? { isEndUnknown: true } : {}),
  });
  if (isReserved) return exhausted('has reserved the rest of its quota for calls under way');
  if (quota === undefined) return undefined;
  if (isExhausted(quota)) return exhausted('has no quota left');
  if (!isProtected) return undefined;
  const verdict = 'reserves the rest of its quota (protection)';
  return { kind: 'waiting', cause: 'protected', verdict, until: quota.resetsAt };
}

function byEnd(a: Waiting, b: Waiting): number {
  const [endA, endB] = [a.until ?? Number.POSITIVE_INFINITY, b.until ?? Number.POSITIVE_INFINITY];
  return endA === endB ? 0 : endA - endB;
}

interface KnownQuota {
  /** 0 to 1. */
  readonly remainingFraction: number;
  readonly resetsAt: number | undefined;
  /** When the figure stops being one: at its reset, and a day after it was read at the latest. */
  readonly until: number;
}

/** The quota reading of one model, unless its window is over. A rate is none. */
export function knownQuota(account: Account, modelId: string, now: number): KnownQuota | undefined {
  const isRate = account.quotas.get(modelId)?.source === 'rate';
  return isRate ? undefined : latestReading(account, modelId, now);
}

/** What is left of the model's quota or, where that is not known, of its rate limit: 0 to 1. */
export function knownShare(account: Account, modelId: string, now: number): number | undefined {
  return latestReading(account, modelId, now)?.remainingFraction;
}

function latestReading({ quotas }: Account, modelId: string, now: number): KnownQuota | undefined {
  const reading = quotas.get(modelId);
  if (reading === undefined) return undefined;
  const { remainingFraction, resetsAt, fetchedAt } = reading;
  const until = Math.min(resetsAt ?? Number.POSITIVE_INFINITY, fetchedAt + MAX_COOLDOWN_MS);
  return until <= now ? undefined : { remainingFraction, resetsAt, until };
}

export function isExhausted({ remainingFraction }: Pick<KnownQuota, 'remainingFraction'>): boolean {
  return !(remainingFraction > 0);
}

/** What the upstream is asked for; undefined when the account's list, being complete, has no such model. */
export type OwnId = (account: Account, model: string) => string | undefined;

type ModelList = NonNullable<Account['models']>;

/** The models of a list that stand for a routed name which is none of its ids. */
export interface FamilyModels {
  preferred(name: string, listed: ModelList): string | undefined;
  unlisted(name: string): string | undefined;
  newest(name: string, listed: ModelList): string | undefined;
  /** What a model is not that serves where a list has none of the right family, or not the version that is named. */
  lossOf(name: string, id: string): 'family' | 'version' | undefined;
}

const LOSSES = [undefined, 'version', 'family'] as const;

/** Of models that serve a name the one that loses least of it, the first of those that are alike. */
export function nearest<Model>(
  models: Iterable<Model>,
  lossOf: (model: Model) => (typeof LOSSES)[number],
): Model | undefined {
  let found: Model | undefined;
  let least: number = LOSSES.length;
  for (const model of models) {
    const loss = LOSSES.indexOf(lossOf(model));
    if (loss === 0) return model;
    if (loss < least) [found, least] = [model, loss];
  }
  return found;
}

/** Finds the id by which an account knows a routed model. */
export function createOwnIds({
  upstreams,
  families,
}: {
  readonly upstreams: {
    get(id: string): Pick<Upstream, 'modelIds' | 'unlistedId' | 'servesUnlisted'> | undefined;
  };
  /** As the settings are now. */
  readonly families?: (() => FamilyModels) | undefined;
}): OwnId {
  // A list is the same object until it is read anew, and every model asks for it.
  const known = new WeakMap<ModelList, ReadonlyMap<string, string>>();
  const foldedIds = (models: ModelList): ReadonlyMap<string, string> => {
    const folded =
      known.get(models) ?? new Map(Array.from(models.keys(), (id) => [foldCase(id), id]));
    known.set(models, folded);
    return folded;
  };
  const spelled = (models: ModelList, ids: readonly string[]): string | undefined => {
    const exact = ids.find((id) => models.has(id));
    if (exact !== undefined) return exact;
    const folded = foldedIds(models);
    const other = ids.find((id) => folded.has(foldCase(id)));
    return other === undefined ? undefined : folded.get(foldCase(other));
  };
  return ({ record, models }, model) => {
    const upstream = upstreams.get(record.upstreamId);
    if (upstream === undefined) return undefined;
    const rule = families?.();
    const ids = upstream.modelIds(model);
    if (models === undefined)
      return rule?.unlisted(model) ?? upstream.unlistedId?.(model) ?? ids[0];
    return (
      rule?.preferred(model, models) ??
      spelled(models, [model]) ??
      rule?.newest(model, models) ??
      spelled(models, ids) ??
      (upstream.servesUnlisted === true ? upstream.unlistedId?.(model) : undefined)
    );
  };
}
