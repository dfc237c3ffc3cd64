// How answers of the API are kept, asked for again, and what a lost session does to them.

import { MutationCache, notifyManager, QueryCache, QueryClient } from '@tanstack/react-query';
import type { ConsoleSession } from '../../../src/admin/contract.ts';
import { ApiError, isSignedOut } from './client.ts';
import { SESSION_KEY } from './queries/session-key.ts';

const MAX_RETRIES = 2;

const NOBODY: ConsoleSession = { signedIn: false, needsPassword: true, asksName: false };

// What a click changes shows before the next click: a button that is at work takes no second one.
notifyManager.setScheduler(queueMicrotask);

export function createQueryClient(): QueryClient {
  const onError = (error: Error): void => {
    if (!isSignedOut(error)) return;
    client.setQueryData<ConsoleSession>(SESSION_KEY, (known = NOBODY) => ({
      ...known,
      ...{ signedIn: false, needsPassword: true },
    }));
  };
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 5000,
        retry: (failures, error) => failures < MAX_RETRIES && mayPass(error),
        // The console runs beside the gateway, often without any other network.
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  });
  return client;
}

/** Refusals stay refusals; only faults pass. */
function mayPass(error: Error): boolean {
  return !(error instanceof ApiError) || error.status === 0 || error.status >= 500;
}
