// Sums of what was used, by hour, day, week or month.

import { keepPreviousData, queryOptions, useMutation } from '@tanstack/react-query';
import type { LeadingUsage, Usage } from '../../../../src/admin/contract.ts';
import { callApi, read, withQuery } from '../client.ts';

export const USAGE_GROUPS = [
  ...(['model', 'account', 'key', 'owner', 'team', 'tag', 'protocol', 'none'] as const),
] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

export const USAGE_STEPS = ['hour', 'day', 'week', 'month'] as const;
export type UsageStep = (typeof USAGE_STEPS)[number];

export interface UsageQuery {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly step: UsageStep;
  readonly by: UsageGroup;
  /** In whose days and weeks. */
  readonly timeZone: string;
  /** Whose alone. */
  readonly filter?: UsageNarrowing;
}

/** What usage can be narrowed to. */
export const NARROWING = ['owner', 'team', 'tag', 'key', 'model', 'account'] as const;
export type UsageNarrowing = { readonly [Field in (typeof NARROWING)[number]]?: string };

const REFRESH_MS = 30_000;

/** More colours than these are not told apart. */
export const LEADING_GROUPS = 7;
/** What a table lists of them. */
export const LISTED_GROUPS = 100;

const toSearch = ({ filter = {}, ...query }: UsageQuery) => ({ ...query, ...filter });

/** Up to now. Not among what each request makes old: sums are read again at a pace of their own. */
export const usageQuery = (query: UsageQuery) =>
  queryOptions({
    queryKey: ['usage-sums', toSearch(query)],
    queryFn: read<LeadingUsage>(
      withQuery('/api/usage/leading', {
        ...toSearch(query),
        ...{ leading: LEADING_GROUPS, limit: LISTED_GROUPS },
      }),
    ),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });

/** Of every group, by time. */
export const useReadUsage = () =>
  useMutation({
    mutationFn: (query: UsageQuery) =>
      callApi<Usage>('GET', withQuery('/api/usage', toSearch(query))),
  });
