// Keeps the live feed open while the console is, and asks anew for what it says is old.

import { type Query, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type FeedState, openFeed } from '../api/events.ts';
import { refreshTopics } from '../api/queries/overview.ts';
import { SESSION_KEY } from '../api/queries/session-key.ts';

export function useFeed(): FeedState {
  const client = useQueryClient();
  const [state, setState] = useState<FeedState>('connecting');
  useEffect(() => {
    const feed = openFeed({
      page: document,
      onState(next) {
        setState(next);
        // Why it broke, the feed cannot say: the gateway may be away, or the session over.
        void client.invalidateQueries({ queryKey: SESSION_KEY });
        if (next === 'open') void client.refetchQueries({ type: 'active', predicate: hasFailed });
      },
      onTopics: (topics) => refreshTopics(client, topics),
    });
    return () => feed.close();
  }, [client]);
  return state;
}

function hasFailed({ state }: Query): boolean {
  return state.status === 'error';
}
