// People of the console and invitations: read, invited, changed, signed out, removed.

import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
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
import { callApi, pathOf } from '../client.ts';
import { SESSION_KEY } from './session-key.ts';

const PEOPLE_KEY = ['people'] as const;
const INVITATIONS_KEY = ['invitations'] as const;

export const peopleQuery = queryOptions({
  queryKey: PEOPLE_KEY,
  queryFn: ({ signal }) => callApi<People>('GET', '/api/people', { signal }),
});

export const invitationsQuery = queryOptions({
  queryKey: INVITATIONS_KEY,
  queryFn: ({ signal }) => callApi<Invitations>('GET', '/api/invitations', { signal }),
});

export interface NewPerson {
  readonly name: string;
  readonly role: Role;
}

export function useInvitePerson() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: NewPerson) =>
      callApi<CreatedInvitation>('POST', '/api/invitations/person', { body }),
    onSuccess: () => client.invalidateQueries({ queryKey: INVITATIONS_KEY }),
    // The answer holds the link: it goes when the form that shows it goes.
    gcTime: 0,
  });
}

export function useInviteHolder() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: NewKey) =>
      callApi<CreatedInvitation>('POST', '/api/invitations/key', { body }),
    onSuccess: () => client.invalidateQueries({ queryKey: INVITATIONS_KEY }),
    gcTime: 0,
  });
}

export function useRevokeInvitation() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => callApi('DELETE', pathOf('/api/invitations', id)),
    onSettled: () => client.invalidateQueries({ queryKey: INVITATIONS_KEY }),
  });
}

export function useChangeRole() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ person, role }: { readonly person: Person; readonly role: Role }) =>
      callApi<Person>('PATCH', pathOf('/api/people', person.id), {
        body: { role },
        revision: person.revision,
      }),
    onSettled: () => client.invalidateQueries({ queryKey: PEOPLE_KEY }),
  });
}

export function useRemovePerson() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => callApi('DELETE', pathOf('/api/people', id)),
    onSettled: () => client.invalidateQueries({ queryKey: PEOPLE_KEY }),
  });
}

export function useSignOutPerson() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => callApi('DELETE', pathOf('/api/people', id, 'sessions')),
    onSettled: () => client.invalidateQueries({ queryKey: PEOPLE_KEY }),
  });
}

export function useOwnPassword() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (password: string) =>
      callApi('POST', '/api/session/password', { body: { password } }),
    onSuccess: () => client.invalidateQueries({ queryKey: SESSION_KEY }),
  });
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
