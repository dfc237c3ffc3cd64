// How long answers take, and how the attempts on accounts ended.

import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Latency, Outcomes } from '../../../../src/admin/contract.ts';
import { callApi, withQuery } from '../client.ts';
import { LISTED_GROUPS, type UsageQuery } from './usage.ts';

type LatencyQuery = Omit<UsageQuery, 'timeZone'> & Partial<Pick<UsageQuery, 'timeZone'>>;

const REFRESH_MS = 30_000;

/** Up to now, as usage is. */
export const latencyQuery = ({ filter = {}, ...query }: LatencyQuery) =>
  queryOptions({
    queryKey: ['latency', query, filter],
    queryFn: ({ signal }) => {
      const search = { ...query, ...filter, limit: LISTED_GROUPS };
      return callApi<Latency>('GET', withQuery('/api/latency', search), { signal });
    },
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });

/** Of all accounts, by half hours of the last day. */
export const outcomesQuery = queryOptions({
  queryKey: ['outcomes'],
  queryFn: ({ signal }) => callApi<Outcomes>('GET', '/api/outcomes', { signal }),
  refetchInterval: REFRESH_MS,
});
