// A long list of which only the part on the screen exists; asks for more near its end.

import { Button } from '@mantine/core';
import { IconArrowUp } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useMemo, useRef } from 'react';
import { ScrollRegion } from './scroll-region.tsx';
import { useRowFocus } from './use-row-focus.ts';
import './virtual-rows.css';

export interface VirtualRowsProps<Row> {
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** The index is that of its link or button in the order of Tab stops. */
  readonly renderRow: (row: Row, tabIndex: 0 | -1) => ReactNode;
  /** About how high a row is, in pixels; each is measured when it is shown. */
  readonly rowHeight: number;
  readonly label: string;
  readonly hasMore: boolean;
  readonly onMore: () => void;
  /** The row that is to be seen when it becomes this one. */
  readonly shownKey?: string | undefined;
  /** Shown behind the last row, such as that more are read. */
  readonly foot?: ReactNode;
  /** Whether the reader looks at the newest row. */
  readonly onTop?: (isAtTop: boolean) => void;
  /** The reader asked for the newest rows. */
  readonly onNewest?: () => void;
  /** Says how many new rows wait above what is read; undefined where none do. */
  readonly waiting?: string | undefined;
}

const ROWS_AHEAD = 40;
const TOP_PX = 24;

export function VirtualRows<Row>(props: VirtualRowsProps<Row>) {
  const {
    rows,
    keyOf,
    renderRow,
    rowHeight,
    label,
    hasMore,
    onMore,
    shownKey,
    foot,
    onTop,
    onNewest,
    waiting,
  } = props;
  const frame = useRef<HTMLElement>(null);
  const keys = useMemo(() => rows.map(keyOf), [rows, keyOf]);
  const focus = useRowFocus(frame, keys);
  const virtualizer = useVirtualizer<HTMLElement, Element>({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => keys[index] ?? index,
    rangeExtractor: focus.rangeExtractor,
    overscan: 12,
  });
  const items = virtualizer.getVirtualItems();
  const last = virtualizer.range?.endIndex ?? 0;
  const stop = focus.activeIndex < 0 ? (virtualizer.range?.startIndex ?? 0) : focus.activeIndex;
  const isNearEnd = hasMore && last >= rows.length - ROWS_AHEAD;
  useEffect(() => {
    if (isNearEnd) onMore();
  }, [isNearEnd, onMore]);
  const shownIndex = shownKey === undefined ? -1 : keys.indexOf(shownKey);
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows that come in push it on, and it may go out of sight
  useEffect(() => {
    if (shownIndex >= 0) virtualizer.scrollToIndex(shownIndex, { align: 'auto' });
  }, [shownKey, virtualizer]);
  return (
    <div className="virtual-place">
      {waiting !== undefined && (
        <Button
          className="virtual-waiting"
          size="compact-sm"
          radius="xl"
          leftSection={<IconArrowUp size={14} />}
          onClick={() => {
            onNewest?.();
            frame.current?.scrollTo({ top: 0 });
          }}
        >
          {waiting}
        </Button>
      )}
      <ScrollRegion
        ref={frame}
        className="virtual-frame"
        label={label}
        // Its rows are reached by keyboard, and it scrolls with them.
        hasOwnStop={false}
        onFocus={focus.onFocus}
        onBlur={focus.onBlur}
        onKeyDown={(event) => focus.onKeyDown(event, virtualizer)}
        onScroll={({ currentTarget }) => onTop?.(currentTarget.scrollTop < TOP_PX)}
      >
        <ul className="virtual-list" style={{ blockSize: virtualizer.getTotalSize() }}>
          {items.map(({ index, key, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <li
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                aria-posinset={index + 1}
                aria-setsize={hasMore ? -1 : rows.length}
                style={{ transform: `translateY(${start}px)` }}
              >
                {renderRow(row, index === stop ? 0 : -1)}
              </li>
            );
          })}
        </ul>
        {foot}
      </ScrollRegion>
    </div>
  );
}
