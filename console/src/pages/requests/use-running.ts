// The requests under way that the list shows on top: those that its filters take, as far as that is known already.

import { useQuery } from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import { type RunningRow, runningQuery } from '../../api/queries/requests.ts';
import type { RequestFilters } from './filters.ts';
import { matchesRunning } from './matches-running.ts';

/** A row that stays while the list is held, after its request. */
export interface ShownRunningRow extends RunningRow {
  readonly hasEnded: boolean;
}

export interface Running {
  readonly rows: readonly ShownRunningRow[];
  /** All there are, whatever the filters. */
  readonly total: number;
}

const NOTHING: Running = { rows: [], total: 0 };
/** More would push the list away. */
const MAX_ROWS = 20;

/** @param isHeld while somebody reads further down, or holds the list: then no row comes and none goes */
export function useRunning(filters: RequestFilters, isHeld: boolean): Running {
  const shown = useRef(NOTHING);
  const { data } = useQuery(runningQuery(!isHeld || shown.current.rows.length > 0));
  const filterKey = JSON.stringify(filters);
  const running = useMemo(() => {
    if (data === undefined) return NOTHING;
    const wanted: RequestFilters = JSON.parse(filterKey);
    const rows = data.rows
      .filter((row) => matchesRunning(row, wanted))
      .slice(0, MAX_ROWS)
      .toSorted((one, other) => other.startedAt - one.startedAt)
      .map((row) => ({ ...row, hasEnded: false }));
    return { rows, total: data.total };
  }, [data, filterKey]);
  const held = useMemo(() => {
    if (!isHeld || data === undefined) return undefined;
    const now = new Map(data.rows.map((row) => [row.id, row]));
    const rows = shown.current.rows.map((row) => ({
      ...(now.get(row.id) ?? row),
      hasEnded: !now.has(row.id),
    }));
    return { rows, total: data.total };
  }, [isHeld, data]);
  if (held !== undefined) return held;
  if (!isHeld) shown.current = running;
  return shown.current;
}
