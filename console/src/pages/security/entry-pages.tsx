// The entries of a log, page after page, the latest first.

import { Button, Skeleton } from '@mantine/core';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorNote } from '../../components/error-note.tsx';

interface EntryPagesProps<Entry> {
  readonly query: UseInfiniteQueryResult<InfiniteData<{ readonly entries: readonly Entry[] }>>;
  /** In place of a table without rows. */
  readonly empty: ReactNode;
  readonly children: (entries: readonly Entry[]) => ReactNode;
}

export function EntryPages<Entry>({ query, empty, children }: EntryPagesProps<Entry>) {
  const { t } = useTranslation();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = query;
  const entries = data?.pages.flatMap((page) => page.entries);
  if (entries === undefined) {
    if (error === null) return <Skeleton height={200} />;
    return <ErrorNote error={error} onRetry={() => void refetch()} />;
  }
  return (
    <>
      {entries.length === 0 ? empty : children(entries)}
      {hasNextPage && (
        <div className="more-rows">
          <Button
            variant="default"
            loading={isFetchingNextPage}
            onClick={() => void fetchNextPage()}
          >
            {t('security.showMore')}
          </Button>
        </div>
      )}
    </>
  );
}
