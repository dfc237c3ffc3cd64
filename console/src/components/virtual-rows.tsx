// A long list of which only the part on the screen exists; asks for more near its end.

import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef } from 'react';
import { ScrollRegion } from './scroll-region.tsx';
import './virtual-rows.css';

export interface VirtualRowsProps<Row> {
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly renderRow: (row: Row) => ReactNode;
  /** About how high a row is, in pixels; each is measured when it is shown. */
  readonly rowHeight: number;
  readonly label: string;
  readonly hasMore: boolean;
  readonly onMore: () => void;
  /** Shown behind the last row, such as that more are read. */
  readonly foot?: ReactNode;
  /** Whether the reader looks at the newest row. */
  readonly onTop?: (isAtTop: boolean) => void;
}

const ROWS_AHEAD = 40;
const TOP_PX = 24;

export function VirtualRows<Row>(props: VirtualRowsProps<Row>) {
  const { rows, keyOf, renderRow, rowHeight, label, hasMore, onMore, foot, onTop } = props;
  const frame = useRef<HTMLElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : keyOf(row);
    },
    overscan: 12,
  });
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const isNearEnd = hasMore && last >= rows.length - ROWS_AHEAD;
  useEffect(() => {
    if (isNearEnd) onMore();
  }, [isNearEnd, onMore]);
  return (
    <ScrollRegion
      ref={frame}
      className="virtual-frame"
      label={label}
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
              {renderRow(row)}
            </li>
          );
        })}
      </ul>
      {foot}
    </ScrollRegion>
  );
}
