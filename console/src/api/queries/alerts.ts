// The webhooks of alerts, and what they were told.

import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { AlertDelivery, AlertList } from '../../../../src/admin/contract.ts';
import { callApi } from '../client.ts';

const REFRESH_MS = 15_000;

export const alertsQuery = queryOptions({
  queryKey: ['alerts'],
  queryFn: ({ signal }) => callApi<AlertList>('GET', '/api/alerts', { signal }),
  refetchInterval: REFRESH_MS,
});

export function useTestAlert() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (channel: string) =>
      callApi<AlertDelivery>('POST', '/api/alerts/test', { body: { channel } }),
    onSettled: () => client.invalidateQueries({ queryKey: alertsQuery.queryKey }),
  });
}
