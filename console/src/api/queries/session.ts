// Signing in to the console and out of it.

import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { ConsoleSession } from '../../../../src/admin/contract.ts';
import { callApi, isSignedOut } from '../client.ts';
import { SESSION_KEY } from './session-key.ts';

const AWAY_POLL_MS = 4000;

export const sessionQuery = queryOptions({
  queryKey: SESSION_KEY,
  queryFn: ({ signal }) => callApi<ConsoleSession>('GET', '/api/session', { signal }),
  staleTime: 60_000,
  // A gateway that is away is said at once, and asked again until it is back.
  retry: false,
  refetchInterval: ({ state }) => (state.error === null ? false : AWAY_POLL_MS),
});

export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (password: string) => callApi('POST', '/api/session', { body: { password } }),
    onSuccess: () => {
      client.setQueryData<ConsoleSession>(SESSION_KEY, { signedIn: true, needsPassword: true });
      // Whatever was refused in between is asked for again.
      return client.invalidateQueries();
    },
  });
}

/** The page is loaded anew, so that nothing of what it showed stays behind. */
export function useSignOut() {
  return useMutation({
    // Whose session was over already is signed out.
    mutationFn: () =>
      callApi('DELETE', '/api/session').catch((error: unknown) => {
        if (!isSignedOut(error)) throw error;
      }),
    onSuccess: () => window.location.reload(),
  });
}
