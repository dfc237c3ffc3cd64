// Lines of the log: the newest that follow the feed, and older ones by cursor.

import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { LogPage } from '../../../../src/admin/contract.ts';
import { callApi, read, withQuery } from '../client.ts';

const PATH = '/api/logs';
const PAGE_SIZE = 300;
const HEAD_SIZE = 100;

export interface LogQuery {
  readonly level?: string | undefined;
  readonly search?: string | undefined;
}

export const logPagesQuery = ({ level, search }: LogQuery) =>
  infiniteQueryOptions({
    queryKey: ['log-pages', level, search],
    queryFn: ({ signal, pageParam }) =>
      callApi<LogPage>('GET', writePath({ level, search }, pageParam), { signal }),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    placeholderData: keepPreviousData,
  });

export const logHeadQuery = ({ level, search }: LogQuery, isFollowing: boolean) =>
  queryOptions({
    queryKey: ['logs', 'head', level, search],
    queryFn: read<LogPage>(withQuery(PATH, { level, search, limit: HEAD_SIZE })),
    enabled: isFollowing,
    gcTime: 0,
  });

function writePath({ level, search }: LogQuery, cursor: string): string {
  return withQuery(PATH, { level, search, cursor, limit: PAGE_SIZE });
}
