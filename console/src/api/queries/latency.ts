// How long answers take, and how the attempts on accounts ended.

import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Latency, Outcomes } from '../../../../src/admin/contract.ts';
import { callApi, withQuery } from '../client.ts';
import type { UsageGroup, UsageStep } from './usage.ts';

interface LatencyQuery {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly step: UsageStep;
  readonly by: UsageGroup;
  /** Of one of them alone. */
  readonly group?: string | undefined;
  readonly timeZone?: string | undefined;
}

const REFRESH_MS = 30_000;

/** Up to now, as usage is. */
export const latencyQuery = (query: LatencyQuery) =>
  queryOptions({
    queryKey: ['latency', query],
    queryFn: ({ signal }) =>
      callApi<Latency>('GET', withQuery('/api/latency', { ...query }), { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });

/** Of all accounts, by half hours of the last day. */
export const outcomesQuery = queryOptions({
  queryKey: ['outcomes'],
  queryFn: ({ signal }) => callApi<Outcomes>('GET', '/api/outcomes', { signal }),
  refetchInterval: REFRESH_MS,
});
