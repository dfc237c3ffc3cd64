// A clock that was set back: waits that began in what is now the future would last until it comes again.

import type { AccountBook } from '../accounts/account-book.ts';
import type { Clock } from '../lib/clock.ts';

/** Less is a correction as time servers make them. */
const TOLERANCE_MS = 1000;
/** An account that was refused its credential is out for no longer. */
const LONGEST_OUT_MS = 60_000;

export interface SetBackOptions {
  readonly book: Pick<AccountBook, 'list' | 'apply' | 'setQuotas'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Ends what rests beside the accounts and began after this moment. */
  readonly endRestsSince: (moment: number) => void;
}

/**
 * Looks at the clock before a choice is made. When it was set back, what began in the future is over,
 * and what was read then counts no more: the upstream says anew what still holds.
 */
export function createSetBackWatch(options: SetBackOptions): () => void {
  const { clock } = options;
  let seen = clock.now();
  endFutureWaits(options, seen);
  return () => {
    const now = clock.now();
    if (now < seen - TOLERANCE_MS) endFutureWaits(options, now);
    seen = now;
  };
}

function endFutureWaits({ book, endRestsSince }: SetBackOptions, now: number): void {
  const future = now + TOLERANCE_MS;
  endRestsSince(future);
  for (const { record, health, quotas } of book.list()) {
    const { status } = health;
    if (status.kind === 'blocked' && status.since > future) {
      book.apply(record.id, { kind: 'verified' });
    }
    if (health.outUntil > future + LONGEST_OUT_MS) {
      book.apply(record.id, { kind: 'clear-cooldown' });
    }
    // A refusal that came before the last one does not count, and all of them would.
    if (health.revokedAt > future) book.apply(record.id, { kind: 'refreshed' });
    for (const [model, { since }] of health.models) {
      if (since > future) book.apply(record.id, { kind: 'clear-cooldown', model });
    }
    const readLater = [...quotas].filter(([, { fetchedAt }]) => fetchedAt > future);
    book.setQuotas(record.id, new Map(readLater.map(([model]) => [model, undefined])));
  }
}
