// The rows of the list under their headings, with what came in meanwhile.

import { Loader } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { RequestRow } from '../../../../src/admin/contract.ts';
import { useFormat } from '../../components/use-format.ts';
import type { SearchTexts } from '../../components/use-search-texts.ts';
import { VirtualRows } from '../../components/virtual-rows.tsx';
import { RequestLine } from './request-line.tsx';
import type { RequestRows } from './use-request-rows.ts';

export interface RequestListProps {
  readonly list: RequestRows;
  readonly rows: readonly RequestRow[];
  readonly search: SearchTexts;
  readonly onTop: (isAtTop: boolean) => void;
  /** Whether more than one gateway or worker served what is listed. */
  readonly isShared: boolean;
  /** The reader wants to see what came in. */
  readonly onFollow: () => void;
}

const ROW_PX = 45;
const keyOf = ({ id }: RequestRow): string => id;

export function RequestList(props: RequestListProps) {
  const { list, rows, search, isShared, onTop, onFollow } = props;
  const { t } = useTranslation();
  const format = useFormat();
  const { total, waiting, hasMore, isReadingMore, readMore } = list;
  return (
    <div className={isShared ? 'request-list is-shared' : 'request-list'}>
      <div className="request-head" aria-hidden="true">
        <span className="request-when">{t('requests.when')}</span>
        <span className="request-status">{t('requests.status')}</span>
        <span className="request-model">{t('requests.model')}</span>
        <span className="request-protocol">{t('requests.protocol')}</span>
        <span className="request-account">{t('requests.account')}</span>
        {isShared && <span className="request-replica">{t('requests.replica')}</span>}
        <span className="request-tokens">{t('requests.tokens')}</span>
        <span className="request-time">{t('requests.took')}</span>
      </div>
      <div className="request-rows">
        <VirtualRows
          label={t('requests.list')}
          rows={rows}
          keyOf={keyOf}
          rowHeight={ROW_PX}
          hasMore={hasMore}
          onMore={readMore}
          onTop={onTop}
          onNewest={onFollow}
          waiting={waiting > 0 ? t('requests.newRows', { count: waiting }) : undefined}
          renderRow={(row, tabIndex) => <RequestLine {...{ row, search, isShared, tabIndex }} />}
        />
      </div>
      <div className="request-foot" role="status">
        {isReadingMore ? (
          <>
            <Loader size={12} /> {t('requests.readingMore')}
          </>
        ) : (
          total !== undefined &&
          t('requests.count', { count: total, formatted: format.number(total) })
        )}
      </div>
    </div>
  );
}
