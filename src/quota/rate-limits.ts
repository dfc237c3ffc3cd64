// Keeps what answers say of the rate limits of an account, as readings that rank accounts and keep none out.

import type { AccountBook } from '../accounts/account-book.ts';
import { touchLru } from '../lib/lru.ts';
import type { RateLimit } from '../upstreams/upstream.ts';

interface RateReadingsOptions {
  readonly book: Pick<AccountBook, 'find' | 'setQuotas'>;
  readonly now: () => number;
}

/** Headers of an account's model are read once in so long: they change with every answer. */
const READ_EVERY_MS = 1000;
/** A smaller change ranks no account otherwise. */
const SMALLEST_CHANGE = 0.01;
const MAX_KEPT = 10_000;

/**
 * A limit of a minute is a rate and no quota: it fills up all the time, and its reset is when it is whole again, not
 * when the next call is taken. So an account with nothing left of it comes after others and is not kept from calls;
 * only a refusal, which says how long to wait, does that. It holds until its reset, is not stored, and stands back for
 * a figure of a quota that holds still.
 */
export function createRateReadings({ book, now }: RateReadingsOptions) {
  const readAt = new Map<string, number>();
  return {
    /** `read` is called where it is time to. */
    note(accountId: string, modelId: string, read: () => RateLimit | undefined): void {
      const at = now();
      const key = `${accountId} ${modelId}`;
      const last = readAt.get(key);
      // A clock that was set back does not hold it up.
      if (last !== undefined && last <= at && at - last < READ_EVERY_MS) return;
      touchLru(readAt, [key, at], MAX_KEPT);
      const limit = read();
      const known = book.find(accountId)?.quotas.get(modelId);
      const holds = known !== undefined && (known.resetsAt ?? Number.POSITIVE_INFINITY) > at;
      if (limit === undefined || (holds && known.source !== 'rate')) return;
      const change = holds ? Math.abs(known.remainingFraction - limit.remainingFraction) : 1;
      if (change < SMALLEST_CHANGE) return;
      const reading = { ...limit, source: 'rate', fetchedAt: at } as const;
      book.setQuotas(accountId, new Map([[modelId, reading]]));
    },
  };
}
