// A list that follows what happens: the newest page goes before the older ones, unless one reads below.

import { useEffect, useMemo, useState } from 'react';
import { mergeRows } from './merge-rows.ts';

interface Identified {
  readonly id: string;
}

export interface FollowingInput<Row> {
  /** Undefined while the first page is read. */
  readonly older: readonly Row[] | undefined;
  readonly newest: readonly Row[];
  /** Whether the newest page holds all there is. */
  readonly isWhole: boolean;
  readonly isAtTop: boolean;
  /** Puts the newest page in place of the older ones: rows in between were never read. */
  readonly onGap: () => void;
}

export interface FollowingRows<Row> {
  readonly rows: readonly Row[] | undefined;
  /** How many are not shown, because the reader is further down. */
  readonly waiting: number;
}

export function useFollowingRows<Row extends Identified>(
  input: FollowingInput<Row>,
): FollowingRows<Row> {
  const { older, newest, isWhole, isAtTop, onGap } = input;
  const { rows, hasGap } = useMemo(
    () => mergeRows(newest, older ?? [], isWhole),
    [newest, older, isWhole],
  );
  const mustReset = hasGap && isAtTop;
  useEffect(() => {
    if (mustReset) onGap();
  }, [mustReset, onGap]);
  const shown = useHeld(rows, isAtTop);
  if (older === undefined) return { rows: undefined, waiting: 0 };
  return { rows: shown, waiting: rows.length - shown.length };
}

/** New rows above would push away what is being read: they wait until the reader is at the top. */
function useHeld<Row extends Identified>(rows: readonly Row[], isAtTop: boolean): readonly Row[] {
  const [firstId, setFirstId] = useState<string>();
  const newestId = rows[0]?.id;
  useEffect(() => {
    if (isAtTop) setFirstId(newestId);
  }, [isAtTop, newestId]);
  return useMemo(() => {
    if (isAtTop || firstId === undefined) return rows;
    const start = rows.findIndex(({ id }) => id === firstId);
    return start <= 0 ? rows : rows.slice(start);
  }, [rows, isAtTop, firstId]);
}
