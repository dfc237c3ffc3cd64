// The webhooks of alerts, and what they were told.

import { queryOptions } from '@tanstack/react-query';
import type { AlertDelivery, AlertList } from '../../../../src/admin/contract.ts';
import { callApi, read } from '../client.ts';
import { useChange } from '../use-change.ts';

const REFRESH_MS = 15_000;

export const alertsQuery = queryOptions({
  queryKey: ['alerts'],
  queryFn: read<AlertList>('/api/alerts'),
  refetchInterval: REFRESH_MS,
});

export function useTestAlert() {
  return useChange(
    (channel: string) => callApi<AlertDelivery>('POST', '/api/alerts/test', { body: { channel } }),
    alertsQuery.queryKey,
  );
}
