// Whether one account may serve a model now, and the words for why not.

import type { Account } from '../accounts/account.ts';
import type { CoolingCause } from '../accounts/model-health.ts';
import { isExhausted, knownQuota } from './known-quota.ts';

export type Eligibility =
  | { readonly kind: 'eligible' }
  | {
      readonly kind: 'unusable';
      readonly verdict: string;
      /** True for one that is only there while there are no others. */
      readonly isStandIn?: boolean | undefined;
    }
  | {
      readonly kind: 'not-offered';
      readonly verdict: string;
      /** When that ends by itself, in milliseconds since the epoch. */
      readonly until?: number | undefined;
    }
  | Waiting;

export interface Waiting {
  readonly kind: 'waiting';
  readonly cause: WaitingCause;
  readonly verdict: string;
  /** When that ends by itself, in milliseconds since the epoch; undefined when nobody knows. */
  readonly until: number | undefined;
}

/**
 * `limited`: rate or quota refusals; `exhausted`: a figure says that nothing is left; `protected`:
 * too little is left; `overloaded`: the upstream; `faulty`: the path; `refused`: the credential.
 */
export type WaitingCause =
  | 'limited'
  | 'exhausted'
  | 'protected'
  | 'overloaded'
  | 'faulty'
  | 'refused';

export interface EligibilityInput {
  readonly account: Account;
  /** The account's own id of the model; undefined when it does not offer the model. */
  readonly modelId: string | undefined;
  readonly isProtected: boolean;
  /** True when calls under way have reserved all that is left of the quota. */
  readonly isReserved: boolean;
  readonly now: number;
}

/** Of several reasons to wait, the one that lasts longest. */
export function checkEligibility(input: EligibilityInput): Eligibility {
  const { account, modelId, now } = input;
  const { health } = account;
  // First, as a disabled account is no reason why a model nobody offers cannot be had.
  if (modelId === undefined) return { kind: 'not-offered', verdict: 'does not offer the model' };
  if (health.status.kind === 'disabled') {
    if (account.origin === 'sandbox') return RESTING;
    return { kind: 'unusable', verdict: DISABLED[health.status.reason] };
  }
  const waits = accountWaits(account, now);
  const model = health.models.get(modelId);
  if (model !== undefined && model.coolUntil > now) {
    if (model.cause === 'missing') {
      return { kind: 'not-offered', verdict: NOT_KNOWN, until: model.coolUntil };
    }
    waits.push({ kind: 'waiting', ...COOLING[model.cause], until: model.coolUntil });
  }
  const quotaWait = waitForQuota(input, modelId);
  if (quotaWait !== undefined) waits.push(quotaWait);
  return waits.toSorted(byEnd).at(-1) ?? { kind: 'eligible' };
}

const NOT_KNOWN = 'said it does not know the model';

const DISABLED = {
  'invalid-grant': 'disabled: its sign-in is no longer accepted; sign in again',
  forbidden: 'disabled: the upstream refused the account; enable it when that is settled',
  manual: 'disabled by hand',
  'standing-by': 'resting: real accounts go before it',
} as const;

const RESTING: Eligibility = {
  kind: 'unusable',
  verdict: 'of the built-in sandbox, and resting or disabled',
  isStandIn: true,
};

const COOLING: Readonly<
  Record<Exclude<CoolingCause, 'missing'>, Pick<Waiting, 'cause' | 'verdict'>>
> = {
  quota: { cause: 'limited', verdict: 'reached its limit (quota)' },
  rate: { cause: 'limited', verdict: 'reached its limit (rate)' },
  none: { cause: 'limited', verdict: 'reached its limit' },
  refused: { cause: 'refused', verdict: 'was refused the model' },
  path: { cause: 'faulty', verdict: 'failed several times in a minute' },
};

function accountWaits({ health }: Account, now: number): Waiting[] {
  const waits: Waiting[] = [];
  const refused = { kind: 'waiting', cause: 'refused' } as const;
  if (health.status.kind === 'blocked' && health.status.until > now) {
    waits.push({ ...refused, verdict: 'waits for verification', until: health.status.until });
  }
  if (health.outUntil > now) {
    waits.push({ ...refused, verdict: 'was refused its credential', until: health.outUntil });
  }
  return waits;
}

function waitForQuota(
  { account, isProtected, isReserved, now }: EligibilityInput,
  modelId: string,
): Waiting | undefined {
  const quota = knownQuota(account, modelId, now);
  if (isReserved) {
    const verdict = 'has reserved the rest of its quota for calls under way';
    return { kind: 'waiting', cause: 'exhausted', verdict, until: quota?.until };
  }
  if (quota === undefined) return undefined;
  if (isExhausted(quota)) {
    const verdict = 'has no quota left';
    return { kind: 'waiting', cause: 'exhausted', verdict, until: quota.until };
  }
  if (!isProtected) return undefined;
  const verdict = 'keeps the rest of its quota (protection)';
  return { kind: 'waiting', cause: 'protected', verdict, until: quota.resetsAt };
}

function byEnd(a: Waiting, b: Waiting): number {
  const [endA, endB] = [a.until ?? Number.POSITIVE_INFINITY, b.until ?? Number.POSITIVE_INFINITY];
  return endA === endB ? 0 : endA - endB;
}
