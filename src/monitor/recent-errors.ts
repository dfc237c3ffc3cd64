// The rows of the latest requests that failed, for whoever looks at the overview.

import type { RequestRow } from './request-record.ts';

export interface RecentErrors {
  /** Keeps the row if its request failed. */
  add(row: RequestRow): void;
  /** The latest first. */
  latest(): readonly RequestRow[];
  /** Forgets those that began before a time. */
  removeBefore(at: number): void;
}

const MOST = 100;

export function createRecentErrors(): RecentErrors {
  let rows: readonly RequestRow[] = [];
  return {
    add(row) {
      if (row.outcome === 'error') rows = [...rows, row].slice(-MOST);
    },
    latest: () => rows.toReversed().sort((left, right) => right.at - left.at),
    removeBefore(at) {
      rows = rows.filter((row) => row.at >= at);
    },
  };
}
