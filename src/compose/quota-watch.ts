// What calls teach of quotas: refusals and drawn images are looked into at once, the rest is counted.

import type { AccountBook } from '../accounts/account-book.ts';
import type { Settings } from '../config/effective.ts';
import type { LeaseOutcome } from '../pool/pool.ts';
import { createQuotaEstimates, type QuotaEstimates } from '../quota/estimates.ts';
import type { QuotaRefresher } from '../quota/refresher.ts';
import type { Upstream } from '../upstreams/upstream.ts';

export interface QuotaWatchOptions {
  readonly book: AccountBook;
  readonly upstreams: { get(id: string): Upstream | undefined };
  readonly settings: () => Settings;
  /** One spelling for every way to write a model's name. */
  readonly normalizeName: (name: string) => string;
  readonly refresher: () => QuotaRefresher;
  readonly now: () => number;
}

export interface QuotaWatch {
  noteOutcome(accountId: string, modelId: string, outcome: LeaseOutcome): void;
  /** Calls that one window of the account's quota allows, where that is configured or was learned. */
  readonly callLimitOf: QuotaEstimates['callLimitOf'];
}

export function createQuotaWatch(options: QuotaWatchOptions): QuotaWatch {
  const { book, upstreams, settings, normalizeName, refresher, now } = options;
  const estimates = createQuotaEstimates({
    book,
    now,
    limitOf(upstreamId, asked) {
      const { limits = [] } = settings().upstreams.find(({ id }) => id === upstreamId) ?? {};
      const name = normalizeName(asked);
      return (
        limits.find(({ modelId }) => modelId === asked) ??
        limits.find(({ modelId }) => normalizeName(modelId) === name)
      );
    },
  });
  const drawsImages = (accountId: string, modelId: string): boolean => {
    const upstream = upstreams.get(book.find(accountId)?.record.upstreamId ?? '');
    return upstream?.capabilities(modelId, undefined).drawsImages ?? false;
  };
  const noteOutcome: QuotaWatch['noteOutcome'] = (accountId, modelId, outcome) => {
    if (outcome.kind === 'success') estimates.noteUse(accountId, modelId, 1);
    if (outcome.kind === 'failure') {
      estimates.noteRefusal(accountId, modelId, outcome.failure);
      const { kind } = outcome.failure;
      if (kind === 'quota-exhausted' || kind === 'rate-limited') refresher().noteChanged(accountId);
      return;
    }
    // A drawing the client did not wait for may be counted like any other: only the upstream knows.
    if (drawsImages(accountId, modelId)) refresher().noteChanged(accountId);
  };
  return { noteOutcome, callLimitOf: estimates.callLimitOf };
}
