// What is known now of an account's quota for one model: a figure whose window is over says nothing.

import type { Account } from '../accounts/account.ts';
import { LONGEST_COOLDOWN_MS } from '../accounts/model-health.ts';

export interface KnownQuota {
  /** 0 to 1. */
  readonly remainingFraction: number;
  readonly resetsAt: number | undefined;
  /** When the figure stops being one: at its reset, and a day after it was read at the latest. */
  readonly until: number;
}

export function knownQuota(
  { quotas }: Account,
  modelId: string,
  now: number,
): KnownQuota | undefined {
  const reading = quotas.get(modelId);
  if (reading === undefined) return undefined;
  const { remainingFraction, resetsAt, fetchedAt } = reading;
  const until = Math.min(resetsAt ?? Number.POSITIVE_INFINITY, fetchedAt + LONGEST_COOLDOWN_MS);
  return until <= now ? undefined : { remainingFraction, resetsAt, until };
}

export function isExhausted({ remainingFraction }: Pick<KnownQuota, 'remainingFraction'>): boolean {
  return !(remainingFraction > 0);
}
