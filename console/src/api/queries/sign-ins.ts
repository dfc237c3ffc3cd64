// Signing an account in at its provider: begin, watch, finish by hand, give up.

import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { SignIn, SignInStart, StartedSignIn } from '../../../../src/admin/contract.ts';
import { ApiError, callApi, isSignedOut, read } from '../client.ts';
import { refreshAccounts } from './accounts.ts';

const POLL_MS = 1500;

export function useStartSignIn() {
  return useMutation({
    mutationFn: (body: SignInStart) => callApi<StartedSignIn>('POST', '/api/oauth/start', { body }),
  });
}

/** How a sign-in goes; asked again until it has ended one way or the other. */
export const signInQuery = (state: string) =>
  queryOptions({
    queryKey: ['sign-in', state],
    queryFn: read<SignIn>(`/api/oauth/${encodeURIComponent(state)}`),
    // A gateway that is away is said at once, and asked again until it is back.
    retry: false,
    refetchInterval: ({ state: { data, error } }) =>
      isOver(error) || isSignedOut(error) || (data !== undefined && data.status !== 'pending')
        ? false
        : POLL_MS,
    // The sign-in happens in another window.
    refetchIntervalInBackground: true,
    gcTime: 0,
  });

/** Nobody knows the sign-in any more: it was cancelled, or is too old. */
export const isOver = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 404;

/** Takes the whole address the browser ended on, or only the code out of it. */
export function useCompleteSignIn(state: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (pasted: string) => {
      const text = pasted.trim();
      const body = /^https?:\/\//i.test(text) ? { url: text } : { code: text, state };
      return callApi<SignIn>('POST', '/api/oauth/complete', { body });
    },
    onSuccess: (signIn) => {
      client.setQueryData(signInQuery(state).queryKey, signIn);
      return refreshAccounts(client);
    },
  });
}

export function useCancelSignIn() {
  return useMutation({
    mutationFn: (state: string) => callApi('DELETE', `/api/oauth/${encodeURIComponent(state)}`),
  });
}
