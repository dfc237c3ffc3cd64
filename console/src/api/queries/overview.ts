// The overview, and what the live feed makes old.

import { type QueryClient, queryOptions } from '@tanstack/react-query';
import type { Overview } from '../../../../src/admin/contract.ts';
import { read } from '../client.ts';
import type { Topic } from '../events.ts';

const OVERVIEW_KEY = ['overview'] as const;
const REFRESH_MS = 15_000;

export const overviewQuery = queryOptions({
  queryKey: OVERVIEW_KEY,
  queryFn: read<Overview>('/api/overview'),
  refetchInterval: REFRESH_MS,
});

/** The first words of the query keys that an event makes old. */
const STALE_BY_TOPIC: Readonly<Record<Topic, readonly string[]>> = {
  request: ['overview', 'requests', 'usage', 'keys'],
  account: ['overview', 'accounts', 'upstreams'],
  quota: ['overview', 'accounts', 'quota'],
  config: ['config', 'route', 'models', 'accounts', 'upstreams', 'overview'],
  key: ['keys'],
  'address-rule': ['address-rules'],
  log: ['logs'],
  overview: ['overview'],
};

/**
 * Asks again for what is on the screen; the rest when it is next shown. What is being read for the first time may have
 * been answered before the event: the query library would take that answer for a new one.
 */
export function refreshTopics(client: QueryClient, topics: ReadonlySet<Topic>): void {
  const keys = new Set([...topics].flatMap((topic) => STALE_BY_TOPIC[topic]));
  for (const key of keys) {
    const beginning = client
      .getQueryCache()
      .findAll({ queryKey: [key], fetchStatus: 'fetching' })
      .filter(({ state }) => state.data === undefined);
    void client.invalidateQueries({ queryKey: [key] });
    for (const { promise, queryKey } of beginning) {
      const refresh = (): void => void client.invalidateQueries({ queryKey, exact: true });
      // Whoever asked is told of a failure, and asks again.
      promise?.then(refresh, () => undefined);
    }
  }
}
