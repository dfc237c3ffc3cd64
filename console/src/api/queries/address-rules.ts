// Who may come in by address: the rules, what an address would meet, and who was refused.

import { infiniteQueryOptions, queryOptions, useMutation } from '@tanstack/react-query';
import type {
  AccessEntry,
  AccessLog,
  AddressCheck,
  AddressRule,
  AddressRuleChange,
  AddressRuleList,
  NewAddressRule,
} from '../../../../src/admin/contract.ts';
import { callApi, pathOf, read, withQuery } from '../client.ts';
import { useChange } from '../use-change.ts';

const PREFIX = '/api/address-rules';
const RULES_KEY = ['address-rules'] as const;
const REFRESH_MS = 15_000;
const PAGE_SIZE = 100;

export const addressRulesQuery = queryOptions({
  queryKey: RULES_KEY,
  queryFn: read<AddressRuleList>(PREFIX),
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
  return useChange(
    (body: NewAddressRule) => callApi<AddressRule>('POST', PREFIX, { body }),
    RULES_KEY,
  );
}

export interface RuleEdit {
  /** As it was read: a change against an older one is refused. */
  readonly rule: AddressRule;
  readonly change: AddressRuleChange;
}

export function useChangeRule() {
  return useChange(
    ({ rule: { id, revision }, change }: RuleEdit) =>
      callApi<AddressRule>('PATCH', pathOf(PREFIX, id), { body: change, revision }),
    RULES_KEY,
  );
}

export function useRemoveRule() {
  return useChange((id: string) => callApi('DELETE', pathOf(PREFIX, id)), RULES_KEY);
}

export function useCheckAddress() {
  return useMutation({
    mutationFn: (address: string) =>
      callApi<AddressCheck>('POST', `${PREFIX}/check`, { body: { address } }),
  });
}
