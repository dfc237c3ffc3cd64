// The models there are, and where a name goes.

import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Models, Prices, RouteExplanation } from '../../../../src/admin/contract.ts';
import { callApi, withQuery } from '../client.ts';

export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: ({ signal }) => callApi<Models>('GET', '/api/models', { signal }),
  staleTime: 30_000,
});

export const routeQuery = (model: string) =>
  queryOptions({
    queryKey: ['route', model],
    queryFn: ({ signal }) =>
      callApi<RouteExplanation>('GET', withQuery('/api/route', { model }), { signal }),
    enabled: model !== '',
    placeholderData: keepPreviousData,
  });

/** With the price in force of this model at this upstream, where one is known. */
export const priceQuery = (upstream: string, model: string) =>
  queryOptions({
    queryKey: ['prices', upstream, model],
    queryFn: ({ signal }) =>
      callApi<Prices>('GET', withQuery('/api/prices', { upstream, model }), { signal }),
  });
