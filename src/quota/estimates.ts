// Quota figures for upstreams that report none, from limits and our use; and rate limits that answers name.

import type { Account, QuotaReading } from '../accounts/account.ts';
import type { AccountBook } from '../accounts/account-book.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import type { RateLimit } from '../canonical/quota.ts';
import { touchLru } from '../lib/collections.ts';

interface QuotaLimit {
  /** Calls that one window allows. */
  readonly requests: number;
  readonly windowMs: number;
}

interface QuotaEstimatesOptions {
  readonly book: AccountBook;
  readonly limitOf: (upstreamId: string, modelId: string) => QuotaLimit | undefined;
  /** False while no model has one. */
  readonly isConfigured: () => boolean;
  readonly now: () => number;
}

const MAX_LEARNED = 10_000;

/** Figures the upstream reports itself are never overwritten. */
export function createQuotaEstimates(options: QuotaEstimatesOptions) {
  const { book, limitOf, isConfigured, now } = options;
  const learned = new Map<string, QuotaLimit>();
  const write = (account: Account, modelId: string, reading: QuotaReading): void =>
    book.setQuotas(account.record.id, new Map([[modelId, reading]]));
  const findLimit = ({ record }: Account, modelId: string): QuotaLimit | undefined =>
    limitOf(record.upstreamId, modelId) ??
    (learned.size === 0 ? undefined : learned.get(`${record.id} ${modelId}`));
  return {
    /** Counts calls that the upstream answered. */
    noteUse(accountId: string, modelId: string, calls: number): void {
      if (learned.size === 0 && !isConfigured()) return;
      const account = book.find(accountId);
      const reading = account?.quotas.get(modelId);
      if (account === undefined || reading?.source === 'upstream') return;
      const known = reading?.source === 'estimated' ? reading : undefined;
      const limit = findLimit(account, modelId);
      if (limit === undefined) return;
      write(account, modelId, afterUse(known, { limit, calls, now: now() }));
    },
    /** Keeps what a refusal tells of the limit and of its end. */
    noteRefusal(accountId: string, modelId: string, failure: UpstreamFailure): void {
      if (failure.kind !== 'quota-exhausted') return;
      const limit = limitIn(failure);
      if (limit !== undefined) touchLru(learned, [`${accountId} ${modelId}`, limit], MAX_LEARNED);
      const account = book.find(accountId);
      const isReported = account?.quotas.get(modelId)?.source === 'upstream';
      const resetsAt = resetOf(failure, now());
      if (account === undefined || isReported || resetsAt === undefined) return;
      write(account, modelId, {
        remainingFraction: 0,
        resetsAt,
        source: 'estimated',
        fetchedAt: now(),
      });
    },
    /** Figures by a limit of the operator's that is another one now are no more: they would hold until their window ends. */
    forgetChanged(limitBefore: QuotaEstimatesOptions['limitOf']): void {
      for (const { record, quotas } of book.list()) {
        const changed = [...quotas].filter(([modelId, { source }]) => {
          const before = limitBefore(record.upstreamId, modelId);
          const latest = limitOf(record.upstreamId, modelId);
          const isSame =
            before?.requests === latest?.requests && before?.windowMs === latest?.windowMs;
          return source === 'estimated' && before !== undefined && !isSame;
        });
        book.setQuotas(record.id, new Map(changed.map(([modelId]) => [modelId, undefined])));
      }
    },
    /** Calls that one window allows: the operator's own figure, else what refusals told. */
    callLimitOf: (account: Account, modelId: string): number | undefined =>
      findLimit(account, modelId)?.requests,
  };
}

/** The figure after some calls; a window begins with the first call behind the end of the last one. */
function afterUse(
  before: QuotaReading | undefined,
  {
    limit,
    calls,
    now,
  }: { readonly limit: QuotaLimit; readonly calls: number; readonly now: number },
): QuotaReading {
  const { remainingFraction = 1, resetsAt = 0 } = before ?? {};
  const isRunning = resetsAt > now;
  const left = (isRunning ? remainingFraction : 1) * limit.requests - calls;
  return {
    // Rounded to whole calls: a fraction loses a little with each.
    remainingFraction: Math.max(0, Math.round(left)) / limit.requests,
    resetsAt: isRunning ? resetsAt : now + limit.windowMs,
    source: 'estimated',
    fetchedAt: now,
  };
}

function limitIn({ quota }: UpstreamFailure): QuotaLimit | undefined {
  if (quota?.limit === undefined || quota.windowMs === undefined) return undefined;
  return quota.limit > 0 ? { requests: quota.limit, windowMs: quota.windowMs } : undefined;
}

function resetOf({ quota, retryAfterMs }: UpstreamFailure, now: number): number | undefined {
  if (quota?.resetsAt !== undefined) return quota.resetsAt;
  return retryAfterMs === undefined ? undefined : now + retryAfterMs;
}

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
