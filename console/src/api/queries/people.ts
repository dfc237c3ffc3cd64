// People of the console and invitations: read, invited, changed, signed out, removed.

import { queryOptions, useMutation } from '@tanstack/react-query';
import type {
  AcceptedInvitation,
  CreatedInvitation,
  Invitations,
  NewKey,
  OpenedInvitation,
  People,
  Person,
  Role,
} from '../../../../src/admin/contract.ts';
import { callApi, pathOf, read } from '../client.ts';
import { useChange } from '../use-change.ts';
import { SESSION_KEY } from './session-key.ts';

const PEOPLE_KEY = ['people'] as const;
const INVITATIONS_KEY = ['invitations'] as const;

export const peopleQuery = queryOptions({
  queryKey: PEOPLE_KEY,
  queryFn: read<People>('/api/people'),
});

export const invitationsQuery = queryOptions({
  queryKey: INVITATIONS_KEY,
  queryFn: read<Invitations>('/api/invitations'),
});

export interface NewPerson {
  readonly name: string;
  readonly role: Role;
}

const invite = (kind: 'person' | 'key', body: NewPerson | NewKey) =>
  callApi<CreatedInvitation>('POST', `/api/invitations/${kind}`, { body });

export function useInvitePerson() {
  return useChange((body: NewPerson) => invite('person', body), INVITATIONS_KEY, { gcTime: 0 });
}

export function useInviteHolder() {
  return useChange((body: NewKey) => invite('key', body), INVITATIONS_KEY, { gcTime: 0 });
}

export function useRevokeInvitation() {
  return useChange(
    (id: string) => callApi('DELETE', pathOf('/api/invitations', id)),
    INVITATIONS_KEY,
  );
}

export function useChangeRole() {
  return useChange(
    ({ person: { id, revision }, role }: { readonly person: Person; readonly role: Role }) =>
      callApi<Person>('PATCH', pathOf('/api/people', id), { body: { role }, revision }),
    PEOPLE_KEY,
  );
}

export function useRemovePerson() {
  return useChange((id: string) => callApi('DELETE', pathOf('/api/people', id)), PEOPLE_KEY);
}

export function useSignOutPerson() {
  return useChange(
    (id: string) => callApi('DELETE', pathOf('/api/people', id, 'sessions')),
    PEOPLE_KEY,
  );
}

export function useOwnPassword() {
  return useChange(
    (password: string) => callApi('POST', '/api/session/password', { body: { password } }),
    SESSION_KEY,
  );
}

export const openedQuery = (secret: string) =>
  queryOptions({
    queryKey: ['invitation', secret],
    queryFn: () => callApi<OpenedInvitation>('POST', '/api/invitations/open', { body: { secret } }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });

export interface Acceptance {
  readonly secret: string;
  readonly password?: string;
}

export function useAcceptInvitation() {
  return useMutation({
    mutationFn: (body: Acceptance) =>
      callApi<AcceptedInvitation>('POST', '/api/invitations/accept', { body }),
    gcTime: 0,
  });
}

/** Goes to the provider; the browser comes back signed in. */
export function useProvider() {
  return useMutation({
    mutationFn: (invitation: string | undefined) =>
      callApi<{ readonly url: string }>('POST', '/api/session/provider', {
        body: {
          origin: window.location.origin,
          ...(invitation === undefined ? {} : { invitation }),
        },
      }),
    onSuccess: ({ url }) => window.location.assign(url),
  });
}
