// Sums of usage by quarter hour: the smallest piece in which days of all time zones can be told.

import { type RequestRecord, usageModel } from './request-record.ts';
import type { UsageSum } from './request-store.ts';

/** Time zones differ from UTC by whole quarters of an hour. */
export const QUARTER_MS = 900_000;

export interface QuarterSum extends UsageSum {
  /** Beginning of the quarter. */
  readonly at: number;
  readonly model: string;
  readonly account: string;
  readonly keyId: string;
  /** As the key was called last. */
  readonly keyName: string | undefined;
  readonly protocol: string;
}

function startOfQuarter(at: number): number {
  return Math.floor(at / QUARTER_MS) * QUARTER_MS;
}

/** One row for each quarter, model, account, key and protocol. */
export function sumByQuarter(records: readonly RequestRecord[]): readonly QuarterSum[] {
  const sums = new Map<string, QuarterSum>();
  for (const { row } of records) {
    const sum: QuarterSum = {
      at: startOfQuarter(row.at),
      model: usageModel(row),
      account: row.account ?? '',
      keyId: row.keyId,
      keyName: row.keyName,
      protocol: row.protocol,
      requests: 1,
      errors: row.outcome === 'error' ? 1 : 0,
      inputTokens: row.inputTokens ?? 0,
      outputTokens: row.outputTokens ?? 0,
      cachedTokens: row.cachedTokens ?? 0,
      thoughtTokens: row.thoughtTokens ?? 0,
      images: row.images ?? 0,
    };
    const { at, model, account, keyId, protocol } = sum;
    const key = JSON.stringify([at, model, account, keyId, protocol]);
    const known = sums.get(key);
    sums.set(key, known === undefined ? sum : addQuarters(known, sum));
  }
  return [...sums.values()];
}

/** Of the same quarter, model, account, key and protocol; `right` is the later one. */
export function addQuarters(left: QuarterSum, right: QuarterSum): QuarterSum {
  return { ...left, ...addUsage(left, right), keyName: right.keyName ?? left.keyName };
}

export function addUsage(left: UsageSum, right: UsageSum): UsageSum {
  return {
    requests: left.requests + right.requests,
    errors: left.errors + right.errors,
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cachedTokens: left.cachedTokens + right.cachedTokens,
    thoughtTokens: left.thoughtTokens + right.thoughtTokens,
    images: left.images + right.images,
  };
}
