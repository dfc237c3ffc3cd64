// Sections of the settings, each changed by a merge patch against the revision that was shown.

import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { ConfigSection, Presets } from '../../../../src/admin/contract.ts';
import { callApi } from '../client.ts';
import { mergePatch, type SectionPatch } from './merge-patch.ts';
import { SESSION_KEY } from './session-key.ts';

export type { SectionPatch } from './merge-patch.ts';

const keyOf = (section: string) => ['config', section] as const;

export const sectionQuery = (section: string) =>
  queryOptions({
    queryKey: keyOf(section),
    queryFn: ({ signal }) => callApi<ConfigSection>('GET', `/api/config/${section}`, { signal }),
  });

export const presetsQuery = queryOptions({
  queryKey: ['config', 'mapping', 'presets'],
  queryFn: ({ signal }) => callApi<Presets>('GET', '/api/config/mapping/presets', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** The change shows at once; a refusal takes it back and reads the section again. */
export function useChangeSection(section: string) {
  const client = useQueryClient();
  const queryKey = keyOf(section);
  return useMutation({
    mutationFn: (patch: SectionPatch) => {
      const revision = client.getQueryData<ConfigSection>(queryKey)?.revision;
      return callApi<ConfigSection>('PATCH', `/api/config/${section}`, {
        body: patch,
        ...(revision === undefined ? {} : { revision }),
      });
    },
    // One after the other: each is made against the revision the last one left.
    scope: { id: `config-${section}` },
    onMutate: async (patch) => {
      await client.cancelQueries({ queryKey, exact: true });
      const before = client.getQueryData<ConfigSection>(queryKey);
      if (before !== undefined) {
        client.setQueryData<ConfigSection>(queryKey, {
          ...before,
          values: mergePatch(before.values, patch),
        });
      }
      return before;
    },
    onError: (_error, _patch, before) => {
      if (before !== undefined) client.setQueryData(queryKey, before);
      return client.invalidateQueries({ queryKey, exact: true });
    },
    onSuccess: (changed) => {
      client.setQueryData(queryKey, changed);
      void client.invalidateQueries({ queryKey: keyOf('environment') });
      void client.invalidateQueries({ queryKey: ['route'] });
      void client.invalidateQueries({ queryKey: ['models'] });
      // Another key or password may be what lets this browser in.
      if (section === 'auth') void client.invalidateQueries({ queryKey: SESSION_KEY });
    },
  });
}
