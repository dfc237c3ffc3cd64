// What calls teach of quotas: refusals and drawn images are looked into at once, the rest is counted.

import type { AccountBook } from '../accounts/account-book.ts';
import type { Settings } from '../config/effective.ts';
import type { LeaseOutcome } from '../pool/pool.ts';
import { createQuotaEstimates } from '../quota/estimates.ts';
import type { QuotaRefresher } from '../quota/refresher.ts';
import type { Upstream } from '../upstreams/upstream.ts';

export interface QuotaWatchOptions {
  readonly book: AccountBook;
  readonly upstreams: { get(id: string): Upstream | undefined };
  readonly settings: () => Settings;
  readonly refresher: () => QuotaRefresher;
  readonly now: () => number;
}

export type WatchOutcome = (accountId: string, modelId: string, outcome: LeaseOutcome) => void;

export function createQuotaWatch(options: QuotaWatchOptions): WatchOutcome {
  const { book, upstreams, settings, refresher, now } = options;
  const estimates = createQuotaEstimates({
    book,
    now,
    limitOf: (upstreamId, modelId) =>
      settings()
        .upstreams.find(({ id }) => id === upstreamId)
        ?.limits.find((limit) => limit.modelId === modelId),
  });
  const drawsImages = (accountId: string, modelId: string): boolean => {
    const upstream = upstreams.get(book.find(accountId)?.record.upstreamId ?? '');
    return upstream?.capabilities(modelId, undefined).drawsImages ?? false;
  };
  return (accountId, modelId, outcome) => {
    if (outcome.kind === 'success') {
      estimates.noteUse(accountId, modelId, 1);
      if (drawsImages(accountId, modelId)) refresher().noteChanged(accountId);
      return;
    }
    if (outcome.kind !== 'failure') return;
    estimates.noteRefusal(accountId, modelId, outcome.failure);
    const { kind } = outcome.failure;
    const isLimit = kind === 'quota-exhausted' || kind === 'rate-limited';
    if (isLimit) refresher().noteChanged(accountId);
  };
}
