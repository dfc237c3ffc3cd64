// The record of requests: the newest page that follows the feed, older pages by cursor, one in full.

import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import type {
  BodyRecording,
  Replay,
  RequestDetail,
  RequestErrors,
  RequestHistogram,
  RequestList,
  RequestSession,
  RunningRequest,
  RunningRequests,
} from '../../../../src/admin/contract.ts';
import { callApi, pathOf, read, withQuery } from '../client.ts';
import { useChange } from '../use-change.ts';

const PREFIX = '/api/requests';
const PAGE_SIZE = 200;
const HEAD_SIZE = 100;

/** As the API takes them: times in milliseconds since the epoch. */
export type RequestQuery = Readonly<Record<string, string | number | undefined>>;

/** Older and older pages. Not among what the feed makes old: a page of the past stays as it is. */
export const requestPagesQuery = (query: RequestQuery) =>
  infiniteQueryOptions({
    queryKey: ['request-pages', query],
    queryFn: ({ signal, pageParam }) =>
      callApi<RequestList>(
        'GET',
        withQuery(PREFIX, { ...query, cursor: pageParam, limit: PAGE_SIZE }),
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    placeholderData: keepPreviousData,
  });

/** The newest records: the first page that was read, until the feed makes it old. */
export const requestHeadQuery = (query: RequestQuery, first: RequestList | undefined) =>
  queryOptions({
    queryKey: ['requests', 'head', query] as const,
    queryFn: read<RequestList>(withQuery(PREFIX, { ...query, limit: HEAD_SIZE })),
    enabled: first !== undefined,
    ...(first === undefined ? {} : { initialData: first }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    // A range that only moved on shows what it showed, until it is read anew.
    placeholderData: (shown, before) =>
      before !== undefined && isSameFilter(before.queryKey[2], query) ? shown : undefined,
  });

function isSameFilter(left: RequestQuery, right: RequestQuery): boolean {
  const timeless = (query: RequestQuery): string => JSON.stringify({ ...query, from: undefined });
  return (
    (left.from === undefined) === (right.from === undefined) && timeless(left) === timeless(right)
  );
}

const RUNNING_MS = 1000;

export interface RunningRow extends Omit<RunningRequest, 'elapsedMs'> {
  /** By the clock of this browser, to the second. */
  readonly startedAt: number;
}

/** What is under way; asked for while somebody looks. */
export const runningQuery = (isWanted: boolean) =>
  queryOptions({
    queryKey: ['running-requests'],
    async queryFn({ signal }) {
      const path = '/api/running-requests';
      const { requests, total } = await callApi<RunningRequests>('GET', path, { signal });
      const rows = requests.map(({ elapsedMs, ...row }): RunningRow => {
        const startedAt = Math.round((Date.now() - elapsedMs) / 1000) * 1000;
        return { ...row, startedAt };
      });
      return { rows, total };
    },
    enabled: isWanted,
    refetchInterval: RUNNING_MS,
    gcTime: 0,
  });

export function useStopRequest() {
  return useChange(
    (id: string) => callApi('POST', pathOf('/api/running-requests', id, 'stop')),
    ['running-requests'],
  );
}

/** It is counted anew at a pace that costs a busy gateway little. */
const HISTOGRAM_MS = 5000;

export const histogramQuery = (query: RequestQuery, isFollowing: boolean) =>
  queryOptions({
    queryKey: ['request-histogram', query],
    queryFn: read<RequestHistogram>(withQuery('/api/request-histogram', query)),
    staleTime: HISTOGRAM_MS,
    gcTime: 0,
    refetchInterval: isFollowing ? HISTOGRAM_MS : false,
    placeholderData: keepPreviousData,
  });

export const errorGroupsQuery = (query: RequestQuery) =>
  queryOptions({
    queryKey: ['request-errors', query],
    queryFn: read<RequestErrors>(withQuery('/api/request-errors', query)),
    staleTime: HISTOGRAM_MS,
    refetchInterval: HISTOGRAM_MS,
    placeholderData: keepPreviousData,
  });

/** Its calls come in while one looks, and the binding moves. */
const SESSION_MS = 5000;

export const requestSessionQuery = (session: string) =>
  queryOptions({
    queryKey: ['request-session', session],
    queryFn: read<RequestSession>(withQuery('/api/request-session', { session })),
    enabled: session !== '',
    refetchInterval: SESSION_MS,
  });

/** Lets a session choose an account anew with its next call. */
export function useReleaseSession(session: string) {
  return useChange(
    (id: string) => callApi('DELETE', pathOf('/api/sessions', id)),
    requestSessionQuery(session).queryKey,
  );
}

export const bodyRecordingQuery = queryOptions({
  queryKey: ['body-recording'],
  queryFn: read<BodyRecording>('/api/body-recording'),
});

export function useRecordBodies() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (minutes: number) =>
      callApi<BodyRecording>('PUT', '/api/body-recording', { body: { minutes } }),
    onSuccess: (recording) => client.setQueryData(bodyRecordingQuery.queryKey, recording),
  });
}

export const requestQuery = (id: string) =>
  queryOptions({
    queryKey: ['request', id],
    queryFn: read<RequestDetail>(pathOf(PREFIX, id)),
    // A record is written once.
    staleTime: Number.POSITIVE_INFINITY,
  });

export interface ReplayInput {
  readonly id: string;
  readonly account?: string | undefined;
  readonly model?: string | undefined;
  readonly protocol?: string | undefined;
}

export function useReplay() {
  return useMutation({
    mutationFn: ({ id, account, model, protocol }: ReplayInput) =>
      callApi<Replay>('POST', pathOf(PREFIX, id, 'replay'), {
        body: {
          ...(account === undefined ? {} : { account }),
          ...(model === undefined ? {} : { model }),
          ...(protocol === undefined ? {} : { protocol }),
        },
      }),
    gcTime: 0,
  });
}

/** Forgets the records before a time, or all of them. */
export function useForgetRequests() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (before: number | undefined) => callApi('DELETE', withQuery(PREFIX, { before })),
    onSuccess: async () => {
      await client.resetQueries({ queryKey: ['request-pages'] });
      await client.invalidateQueries({ queryKey: ['requests'] });
      await client.invalidateQueries({ queryKey: ['request-histogram'] });
      await client.invalidateQueries({ queryKey: ['request-errors'] });
      await client.invalidateQueries({ queryKey: ['overview'] });
    },
  });
}
