// The rows of the list: older ones by page, the newest as they come in while the list follows.

import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo } from 'react';
import type { RequestRow } from '../../../../src/admin/contract.ts';
import {
  type RequestQuery,
  requestHeadQuery,
  requestPagesQuery,
} from '../../api/queries/requests.ts';
import { useFollowingRows } from '../../components/use-following-rows.ts';
import { useReadMore } from '../../components/use-read-more.ts';

export interface RequestRows {
  /** Undefined until the first is found, or all were looked through. */
  readonly rows: readonly RequestRow[] | undefined;
  readonly total: number | undefined;
  /** How many came in that are not shown yet: the list is paused, or its reader further down. */
  readonly waiting: number;
  readonly error: unknown;
  readonly hasMore: boolean;
  readonly isReadingMore: boolean;
  readMore(): void;
  retry(): void;
}

const NO_ROWS: readonly RequestRow[] = [];

export function useRequestRows(
  query: RequestQuery,
  { isFollowing }: { readonly isFollowing: boolean },
): RequestRows {
  const client = useQueryClient();
  const pages = useInfiniteQuery(requestPagesQuery(query));
  const first = pages.isPlaceholderData ? undefined : pages.data?.pages[0];
  const { data: head } = useQuery(requestHeadQuery(query, first));
  const older = useMemo(() => pages.data?.pages.flatMap(({ requests }) => requests), [pages.data]);
  const onGap = useCallback(() => {
    if (head === undefined) return;
    client.setQueryData(requestPagesQuery(query).queryKey, { pages: [head], pageParams: [''] });
  }, [client, head, query]);
  const { rows, waiting } = useFollowingRows({
    older,
    newest: head?.requests ?? NO_ROWS,
    isWhole: head?.nextCursor === undefined,
    isAtTop: isFollowing,
    onGap,
  });
  const more = useReadMore(pages);
  const { error, hasMore, readMore } = more;
  // A page looks through older records for a moment only: without a row so far the next one goes on.
  const isSearching = rows?.length === 0 && hasMore;
  useEffect(() => {
    if (isSearching && error === null) readMore();
  }, [isSearching, error, readMore]);
  return {
    rows: isSearching ? undefined : rows,
    total: head?.total ?? pages.data?.pages[0]?.total,
    waiting,
    isReadingMore: pages.isFetchingNextPage,
    ...more,
  };
}
