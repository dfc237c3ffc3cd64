// The requests under way that the list shows on top: those that its filters take, as far as that is known already.

import { useQuery } from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import { type RunningRow, runningQuery } from '../../api/queries/requests.ts';
import type { RequestFilters } from './filters.ts';
import { matchesRunning } from './matches-running.ts';

export interface Running {
  readonly rows: readonly RunningRow[];
  /** All there are, whatever the filters. */
  readonly total: number;
}

const NOTHING: Running = { rows: [], total: 0 };
/** More would push the list away. */
const MAX_ROWS = 20;

/** @param isHeld while somebody reads further down, or holds the list: then no row comes and none goes */
export function useRunning(filters: RequestFilters, isHeld: boolean): Running {
  const { data } = useQuery(runningQuery(!isHeld));
  const shown = useRef(NOTHING);
  const filterKey = JSON.stringify(filters);
  const running = useMemo(() => {
    if (data === undefined) return NOTHING;
    const wanted: RequestFilters = JSON.parse(filterKey);
    const rows = data.rows
      .filter((row) => matchesRunning(row, wanted))
      .slice(0, MAX_ROWS)
      .toSorted((one, other) => other.startedAt - one.startedAt);
    return { rows, total: data.total };
  }, [data, filterKey]);
  if (!isHeld) shown.current = running;
  return shown.current;
}
