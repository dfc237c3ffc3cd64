// What the rules that cover an address make of it, now and for how long.

import type { AddressRule, RuleList } from './address-rule.ts';

export interface VerdictSettings {
  /** What becomes of an address that no rule covers. */
  readonly fallback: RuleList;
  /** Whether an allow rule wins over a deny rule; otherwise deny wins. */
  readonly allowBeatsDeny: boolean;
}

export interface AddressVerdict {
  readonly verdict: 'allowed' | 'denied';
  /** The narrowest rule that decided; undefined when none covers the address. */
  readonly rule: AddressRule | undefined;
}

/** Who stays out for good has nothing from `now` on, who is in for good has an infinite stay. */
export interface AddressStay {
  /** From when on it is denied, in milliseconds since the epoch: `now` when it is denied already. */
  readonly endsAt: number;
  /** Of a stay that ends later: the allow rule that ends with it. */
  readonly endsWith: AddressRule | undefined;
}

/** `covering` has the narrowest range first. */
export function judgeAddress(
  covering: readonly AddressRule[],
  { fallback, allowBeatsDeny }: VerdictSettings,
  now: number,
): AddressVerdict {
  const inForce = covering.filter((rule) => endOf(rule) > now);
  const stronger: RuleList = allowBeatsDeny ? 'allow' : 'deny';
  const rule = inForce.find(({ list }) => list === stronger) ?? inForce[0];
  const decision = rule?.list ?? fallback;
  return { verdict: decision === 'allow' ? 'allowed' : 'denied', rule };
}

/**
 * How long the address is let in without a break, if no rule comes or goes. The stronger list decides
 * until its last rule ends, then the other one until its last does, then the fallback.
 */
export function stayOf(
  covering: readonly AddressRule[],
  { fallback, allowBeatsDeny }: VerdictSettings,
  now: number,
): AddressStay {
  const lists: readonly RuleList[] = allowBeatsDeny ? ['allow', 'deny'] : ['deny', 'allow'];
  let stay: AddressStay = { endsAt: now, endsWith: undefined };
  for (const list of lists) {
    const last = lastOf(covering.filter((rule) => rule.list === list));
    const endsAt = last === undefined ? now : endOf(last);
    if (endsAt <= stay.endsAt) continue;
    if (list === 'deny') return stay;
    stay = { endsAt, endsWith: last };
  }
  return fallback === 'deny' ? stay : { endsAt: Number.POSITIVE_INFINITY, endsWith: undefined };
}

function lastOf(rules: readonly AddressRule[]): AddressRule | undefined {
  return rules.reduce<AddressRule | undefined>(
    (last, rule) => (last === undefined || endOf(rule) > endOf(last) ? rule : last),
    undefined,
  );
}

function endOf({ expiresAt = Number.POSITIVE_INFINITY }: AddressRule): number {
  return expiresAt;
}
