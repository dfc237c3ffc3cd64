// Why an account is out of use and the way out, in the words of the console's language.

import type { TFunction } from 'i18next';
import type { Account } from '../../../src/admin/contract.ts';

/** The part of an account that its state is told by. */
export interface StateFacts {
  readonly kind?: Account['kind'] | undefined;
  readonly reason?: string | null | undefined;
}

/** What the gateway says of a reason this console has no word for. */
type Fallback = string | null | undefined;

export function sayReason(facts: StateFacts, t: TFunction): string {
  const reason = readReason(facts);
  if (reason !== undefined) return t(`account.reasons.${reason}`);
  return facts.reason ?? t('common.unknown');
}

export function sayWayOut(facts: StateFacts, fallback: Fallback, t: TFunction): string {
  const reason = readReason(facts);
  return reason === undefined ? (fallback ?? '') : t(`account.waysOut.${reason}`);
}

/** A key is not signed in to, so that its end has words of its own. */
function readReason({ kind, reason }: StateFacts) {
  switch (reason) {
    case 'invalid-grant':
      return kind === undefined || kind === 'oauth' ? reason : 'invalid-key';
    case 'refused-grant':
      return kind === undefined || kind === 'oauth' ? reason : 'refused-key';
    case 'invalid-key':
    case 'forbidden':
    case 'manual':
    case 'standing-by':
    case 'no-upstream':
    case 'verification':
      return reason;
    default:
      return undefined;
  }
}
