// The end of a list that is read by pages: whether there is more, and how it is asked for.

import type { InfiniteQueryObserverResult } from '@tanstack/react-query';
import { useCallback } from 'react';

export function useReadMore(pages: InfiniteQueryObserverResult) {
  const { error, fetchNextPage, isFetchingNextPage, hasNextPage, refetch } = pages;
  const readMore = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage();
  }, [fetchNextPage, isFetchingNextPage]);
  return { error, hasMore: hasNextPage, readMore, retry: () => void refetch() };
}
