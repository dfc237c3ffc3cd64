// Keys of people as the console reads and changes them; changes show at once and are taken back on refusal.

import { type QueryClient, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type {
  CreatedKey,
  Key,
  KeyChange,
  KeyList,
  NewKey,
} from '../../../../src/admin/contract.ts';
import { callApi, isStale, pathOf, read } from '../client.ts';
import { useChange } from '../use-change.ts';

const PREFIX = '/api/keys';
const KEYS_KEY = ['keys'] as const;
const REFRESH_MS = 30_000;

export const keysQuery = queryOptions({
  queryKey: KEYS_KEY,
  queryFn: read<KeyList>(PREFIX),
  refetchInterval: REFRESH_MS,
});

export function useCreateKey() {
  return useChange((body: NewKey) => callApi<CreatedKey>('POST', PREFIX, { body }), KEYS_KEY, {
    gcTime: 0,
  });
}

export function useRotateKey() {
  return useChange(
    ({
      key: { id, revision },
      overlapHours,
    }: {
      readonly key: Key;
      readonly overlapHours: number;
    }) =>
      callApi<CreatedKey>('POST', pathOf(PREFIX, id, 'rotate'), {
        body: { overlapHours },
        revision,
      }),
    KEYS_KEY,
    { gcTime: 0 },
  );
}

export interface KeyEdit {
  readonly key: Key;
  readonly change: KeyChange;
}

export function useChangeKey() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ key, change }: KeyEdit) =>
      callApi<Key>('PATCH', pathOf(PREFIX, key.id), { body: change, revision: key.revision }),
    onMutate: async ({ key, change }) => {
      await client.cancelQueries({ queryKey: KEYS_KEY });
      replaceKey(client, applyChange(key, change));
    },
    onSuccess: (key) => replaceKey(client, key),
    onError: (error, { key }) => {
      replaceKey(client, key);
      const read = client.invalidateQueries({ queryKey: KEYS_KEY });
      // Whoever is told that it was read again finds it read; all else is told at once.
      return isStale(error) ? read : undefined;
    },
  });
}

export function useRemoveKey() {
  return useChange((id: string) => callApi('DELETE', pathOf(PREFIX, id)), KEYS_KEY);
}

function replaceKey(client: QueryClient, key: Key): void {
  client.setQueryData<KeyList>(KEYS_KEY, (known) =>
    known === undefined
      ? known
      : { keys: known.keys.map((one) => (one.id === key.id ? key : one)) },
  );
}

const LIMITS = [
  ...(['owner', 'team'] as const),
  ...(['expiresAt', 'maxAddresses', 'requestsPerMinute', 'tokensPerMinute'] as const),
  ...(['maxConcurrency', 'curfew', 'recording'] as const),
];

/** The key as it will be; null takes a limit away. */
function applyChange(key: Key, change: KeyChange): Key {
  const { name = key.name, enabled = key.enabled, allowedModels = key.allowedModels } = change;
  const { tags = key.tags } = change;
  let changed: Key = { ...key, name, enabled, allowedModels, tags };
  for (const limit of LIMITS) {
    const value = change[limit];
    if (value === undefined) continue;
    const { [limit]: _before, ...rest } = changed;
    changed = value === null ? rest : { ...rest, [limit]: value };
  }
  return changed;
}
