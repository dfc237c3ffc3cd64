// How long answers take, and how the attempts on accounts ended.

import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Latency, Outcomes } from '../../../../src/admin/contract.ts';
import { read, withQuery } from '../client.ts';
import { LISTED_GROUPS, type UsageQuery } from './usage.ts';

type LatencyQuery = Omit<UsageQuery, 'timeZone'> & Partial<Pick<UsageQuery, 'timeZone'>>;

const REFRESH_MS = 30_000;

/** Up to now, as usage is. */
export const latencyQuery = ({ filter = {}, ...query }: LatencyQuery) =>
  queryOptions({
    queryKey: ['latency', query, filter],
    queryFn: read<Latency>(
      withQuery('/api/latency', { ...query, ...filter, limit: LISTED_GROUPS }),
    ),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });

/** Of all accounts, by half hours of the last day. */
export const outcomesQuery = queryOptions({
  queryKey: ['outcomes'],
  queryFn: read<Outcomes>('/api/outcomes'),
  refetchInterval: REFRESH_MS,
});
