// The rows of the list under their headings, with what came in meanwhile.

import { Loader } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { RequestRow } from '../../../../src/admin/contract.ts';
import { useFormat } from '../../components/use-format.ts';
import type { SearchTexts } from '../../components/use-search-texts.ts';
import { VirtualRows } from '../../components/virtual-rows.tsx';
import { type Choice, columnsFor, tracksOf } from './columns.ts';
import { RequestLine } from './request-line.tsx';
import { RunningLine } from './running-line.tsx';
import type { RequestRows } from './use-request-rows.ts';
import type { Running, ShownRunningRow } from './use-running.ts';

declare module 'react' {
  interface CSSProperties {
    '--request-columns'?: string;
  }
}

export interface RequestListProps {
  readonly list: RequestRows;
  readonly rows: readonly RequestRow[];
  readonly running: Running;
  readonly search: SearchTexts;
  readonly onTop: (isAtTop: boolean) => void;
  /** Whether more than one gateway or worker served what is listed. */
  readonly isShared: boolean;
  /** Undefined where nobody chose any. */
  readonly chosen: readonly Choice[] | undefined;
  /** In pixels. */
  readonly width: number;
  /** The reader wants to see what came in. */
  readonly onFollow: () => void;
}

const ROW_PX = 45;
/** Narrower lists have no columns. */
const COLUMNS_FROM_PX = 560;
const keyOf = ({ row }: Line): string => row.id;

/** What is under way stands on top of what has ended. */
type Line =
  | { readonly kind: 'running'; readonly row: ShownRunningRow }
  | { readonly kind: 'ended'; readonly row: RequestRow };

export function RequestList(props: RequestListProps) {
  const { list, rows, running, search, isShared, chosen, width, onTop, onFollow } = props;
  const { t } = useTranslation();
  const format = useFormat();
  const isNarrow = width < COLUMNS_FROM_PX;
  const columns = useMemo(
    () => (isNarrow ? NARROW : columnsFor(width, chosen, isShared)),
    [isNarrow, width, chosen, isShared],
  );
  const lines = useMemo(
    (): readonly Line[] => [
      ...running.rows.map((row) => ({ kind: 'running' as const, row })),
      ...rows.map((row) => ({ kind: 'ended' as const, row })),
    ],
    [running.rows, rows],
  );
  const { total, waiting, hasMore, isReadingMore, readMore } = list;
  return (
    <div
      className={isNarrow ? 'request-list is-narrow' : 'request-list'}
      style={{ '--request-columns': tracksOf(columns) }}
    >
      <div className="request-head" aria-hidden="true">
        {columns.map((id) => (
          <span key={id} className={`request-${id}`}>
            {t(`requests.columns.${id}`)}
          </span>
        ))}
      </div>
      <div className="request-rows">
        <VirtualRows
          label={t('requests.list')}
          rows={lines}
          keyOf={keyOf}
          rowHeight={ROW_PX}
          hasMore={hasMore}
          onMore={readMore}
          onTop={onTop}
          onNewest={onFollow}
          shownKey={search.id}
          waiting={waiting > 0 ? t('requests.newRows', { count: waiting }) : undefined}
          renderRow={(line, tabIndex) =>
            line.kind === 'running' ? (
              <RunningLine row={line.row} {...{ columns, tabIndex }} />
            ) : (
              <RequestLine row={line.row} {...{ search, columns, tabIndex }} />
            )
          }
        />
      </div>
      <div className="request-foot" role="status">
        {isReadingMore ? (
          <>
            <Loader size={12} /> {t('requests.readingMore')}
          </>
        ) : (
          <>
            {total !== undefined &&
              t('requests.count', { count: total, formatted: format.number(total) })}
            {running.total > 0 && (
              <span className="request-running-count">
                {t('requests.runningCount', { count: running.total })}
              </span>
            )}
          </>
        )}
      </div>
    </div>
  );
}

const NARROW = ['status', 'model', 'took', 'when', 'account'] as const;
