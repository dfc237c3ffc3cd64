// What is said to whoever is about to lock their own address out.

import { type GatewayError, invalidRequest } from '../canonical/error.ts';
import { told } from '../lib/told.ts';
import type { AddressStay, AddressVerdict } from './address-verdict.ts';

/** Where whoever makes a change comes from. */
export interface Author {
  readonly from: string;
  /** What the gateway takes the same place for afterwards. */
  readonly to: string;
}

/** A rule may name a later end, which no date can. */
const LAST_DATE = 8_640_000_000_000_000;

export function refuseStay(
  { from, to }: Author,
  stay: AddressStay,
  { rule }: AddressVerdict,
): GatewayError {
  const isOther = from !== to;
  const what = isOther
    ? told`This would lock you out: the gateway would take you for ${to}, and no longer for ${from}`
    : told`This would lock out the address you come from (${from})`;
  if (stay.endsWith !== undefined) {
    const until = new Date(Math.min(stay.endsAt, LAST_DATE)).toISOString();
    return invalidRequest(
      isOther ? 'trusted_proxies' : 'expiresAt',
      told`${what}: the allow rule ${stay.endsWith.range} lets it in until ${until} only. Let that rule never end, or add one that does not, first.`,
    );
  }
  const reason =
    rule === undefined
      ? told`${what}: no rule covers it. Add an allow rule for it first.`
      : told`${what}: the deny rule ${rule.range} covers it. Remove that rule, or narrow it, first.`;
  return invalidRequest(isOther ? 'trusted_proxies' : 'range', reason);
}
