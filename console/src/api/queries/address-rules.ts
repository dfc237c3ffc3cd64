// Who may come in by address: the rules, what an address would meet, and who was refused.

import {
  infiniteQueryOptions,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import type {
  AccessEntry,
  AccessLog,
  AddressCheck,
  AddressRule,
  AddressRuleChange,
  AddressRuleList,
  NewAddressRule,
} from '../../../../src/admin/contract.ts';
import { callApi, isStale, pathOf, withQuery } from '../client.ts';

const PREFIX = '/api/address-rules';
const RULES_KEY = ['address-rules'] as const;
const REFRESH_MS = 15_000;
const PAGE_SIZE = 100;

export const addressRulesQuery = queryOptions({
  queryKey: RULES_KEY,
  queryFn: ({ signal }) => callApi<AddressRuleList>('GET', PREFIX, { signal }),
  refetchInterval: REFRESH_MS,
});

export const accessLogQuery = (verdict: AccessEntry['verdict'] | undefined) =>
  infiniteQueryOptions({
    queryKey: ['access-log', verdict],
    queryFn: ({ signal, pageParam }) =>
      callApi<AccessLog>(
        'GET',
        withQuery('/api/access-log', {
          cursor: pageParam,
          limit: PAGE_SIZE,
          verdict,
        }),
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

export function useAddRule() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: NewAddressRule) => callApi<AddressRule>('POST', PREFIX, { body }),
    onSuccess: () => client.invalidateQueries({ queryKey: RULES_KEY }),
  });
}

export interface RuleEdit {
  /** As it was read: a change against an older one is refused. */
  readonly rule: AddressRule;
  readonly change: AddressRuleChange;
}

export function useChangeRule() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ rule: { id, revision }, change }: RuleEdit) =>
      callApi<AddressRule>('PATCH', pathOf(PREFIX, id), { body: change, revision }),
    onSuccess: () => client.invalidateQueries({ queryKey: RULES_KEY }),
    onError: (error) => {
      const read = client.invalidateQueries({ queryKey: RULES_KEY });
      // Whoever is told that it was read again finds it read; all else is told at once.
      return isStale(error) ? read : undefined;
    },
  });
}

export function useRemoveRule() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => callApi('DELETE', pathOf(PREFIX, id)),
    onSuccess: () => client.invalidateQueries({ queryKey: RULES_KEY }),
    onError: () => void client.invalidateQueries({ queryKey: RULES_KEY }),
  });
}

export function useCheckAddress() {
  return useMutation({
    mutationFn: (address: string) =>
      callApi<AddressCheck>('POST', `${PREFIX}/check`, { body: { address } }),
  });
}
