// Signing in to the console and out of it.

import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ConsoleSession, Role } from '../../../../src/admin/contract.ts';
import { callApi, isSignedOut, read } from '../client.ts';
import { SESSION_KEY } from './session-key.ts';

const AWAY_POLL_MS = 4000;

export interface SignIn {
  readonly password: string;
  /** Of a person with a password of their own. */
  readonly name?: string;
}

export const sessionQuery = queryOptions({
  queryKey: SESSION_KEY,
  queryFn: read<ConsoleSession>('/api/session'),
  staleTime: 60_000,
  // A gateway that is away is said at once, and asked again until it is back.
  retry: false,
  refetchInterval: ({ state }) => (state.error === null ? false : AWAY_POLL_MS),
});

/** What who is signed in may do; the least while nobody knows. */
function useRole(): Role {
  return useQuery(sessionQuery).data?.role ?? 'viewer';
}

const ROLES: readonly Role[] = ['viewer', 'operator', 'owner'];

/** Whether who is signed in has at least this role. */
export function useMay(least: Role): boolean {
  return ROLES.indexOf(useRole()) >= ROLES.indexOf(least);
}

export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: SignIn) => callApi('POST', '/api/session', { body }),
    // Whatever was refused in between is asked for again; who signed in, and as what, comes first.
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: SESSION_KEY });
      await client.invalidateQueries();
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
