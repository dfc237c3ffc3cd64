// Writes usage as a table for spreadsheets.

import type { Usage } from '../../../../src/admin/contract.ts';
import { NO_USAGE } from './sum-usage.ts';

/** In US dollars; empty where no request had a price. */
const MONEY_NAMES = ['costUsd', 'flatRateUsd', 'cacheSavingsUsd'];
const MONEY = ['costNanos', 'flatRateNanos', 'cacheSavingsNanos'] as const;

const COLUMNS = [
  ...(['requests', 'errors', 'inputTokens', 'outputTokens'] as const),
  ...(['cachedTokens', 'cacheWriteTokens', 'thoughtTokens', 'images'] as const),
];

export interface Grouping {
  /** What the column of the groups is called. */
  readonly by: string;
  /** What a group is called. */
  nameOf(group: string): string;
}

/** One line for each step and group that was used, or for each step. Times are those of UTC, RFC 3339. */
export function writeCsv({ spans, buckets }: Usage, grouping: Grouping | undefined): string {
  const header = [
    'from',
    ...(grouping === undefined ? [] : [grouping.by]),
    ...COLUMNS,
    ...MONEY_NAMES,
  ];
  const lines = [header.map(writeCell).join(',')];
  const used = new Map(buckets.map((bucket) => [bucket.at, bucket]));
  const rows =
    grouping === undefined
      ? spans.map((at) => used.get(at) ?? { at, group: '', ...NO_USAGE })
      : buckets;
  for (const row of rows) {
    const from = new Date(row.at).toISOString();
    const figures = COLUMNS.map((column) => String(row[column]));
    const money = MONEY.map((name) => (row.pricedRequests === 0 ? '' : String(row[name] / 1e9)));
    const names = grouping === undefined ? [] : [grouping.nameOf(row.group)];
    // A figure is no formula, be it below zero.
    lines.push([...[from, ...names, ...figures].map(writeCell), ...money].join(','));
  }
  return `${lines.join('\r\n')}\r\n`;
}

/** RFC 4180; a cell that a spreadsheet would take for a formula begins with an apostrophe. */
function writeCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
