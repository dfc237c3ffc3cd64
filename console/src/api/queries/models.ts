// The models there are, and where a name goes.

import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Models, Prices, RouteExplanation } from '../../../../src/admin/contract.ts';
import { read, withQuery } from '../client.ts';

export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: read<Models>('/api/models'),
  staleTime: 30_000,
});

export const routeQuery = (model: string) =>
  queryOptions({
    queryKey: ['route', model],
    queryFn: read<RouteExplanation>(withQuery('/api/route', { model })),
    enabled: model !== '',
    placeholderData: keepPreviousData,
  });

/** With the price in force of this model at this upstream, where one is known. */
export const priceQuery = (upstream: string, model: string) =>
  queryOptions({
    queryKey: ['prices', upstream, model],
    queryFn: read<Prices>(withQuery('/api/prices', { upstream, model })),
  });
