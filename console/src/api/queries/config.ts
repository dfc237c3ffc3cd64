// Sections of the settings, each changed by a merge patch against the revision that was shown.

import { type QueryClient, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { ConfigSection, Presets } from '../../../../src/admin/contract.ts';
import { callApi, isStale, read, staleError } from '../client.ts';
import { mergePatch, type SectionPatch } from './merge-patch.ts';
import { SESSION_KEY } from './session-key.ts';

export type { SectionPatch } from './merge-patch.ts';

const keyOf = (section: string) => ['config', section] as const;
/** The section as the gateway said it last; there only while changes are under way. */
const saidKeyOf = (section: string) => ['config', section, 'said'] as const;

const readSection = (section: string, signal?: AbortSignal): Promise<ConfigSection> =>
  callApi('GET', `/api/config/${section}`, signal === undefined ? {} : { signal });

export const sectionQuery = (section: string) =>
  queryOptions({
    queryKey: keyOf(section),
    queryFn: ({ signal }) => readSection(section, signal),
  });

export const presetsQuery = queryOptions({
  queryKey: ['config', 'mapping', 'presets'],
  queryFn: read<Presets>('/api/config/mapping/presets'),
  staleTime: Number.POSITIVE_INFINITY,
});

export interface SectionChange {
  readonly patch: SectionPatch;
  /** Made only while this is so, whatever else was changed: of what is taken back, how it was left. */
  readonly onlyWhile?: SectionPatch;
}

/** The change shows at once, and as long as it is under way; a refusal takes it back and reads the section again. */
export function useChangeSection(section: string) {
  const client = useQueryClient();
  const queryKey = keyOf(section);
  const readAgain = () => client.invalidateQueries({ queryKey, exact: true });
  return useMutation({
    mutationKey: queryKey,
    mutationFn: async ({ patch, onlyWhile }: SectionChange) => {
      await client.cancelQueries({ queryKey, exact: true });
      const revision =
        onlyWhile === undefined
          ? client.getQueryData<ConfigSection>(queryKey)?.revision
          : await revisionWhile(section, onlyWhile);
      return callApi<ConfigSection>('PATCH', `/api/config/${section}`, {
        body: patch,
        ...(revision === undefined ? {} : { revision }),
      });
    },
    // One after the other: each is made against the revision the last one left.
    scope: { id: `config-${section}` },
    onMutate: async () => {
      await client.cancelQueries({ queryKey, exact: true });
      const said =
        client.getQueryData<ConfigSection>(saidKeyOf(section)) ??
        client.getQueryData<ConfigSection>(queryKey);
      if (said !== undefined) showSection(client, said);
    },
    onError: (error, change) => {
      const said = client.getQueryData<ConfigSection>(saidKeyOf(section));
      if (said !== undefined) showSection(client, said, change);
      // The next change needs the revision; all other refusals are told at once.
      return isStale(error) ? readAgain() : void readAgain();
    },
    onSuccess: async (changed, change) => {
      // What is being read may be from before the change: the next one would be made against its revision.
      const isRead = client.isFetching({ queryKey, exact: true }) > 0;
      await client.cancelQueries({ queryKey, exact: true });
      showSection(client, changed, change);
      if (isRead) void readAgain();
      void client.invalidateQueries({ queryKey: keyOf('environment') });
      void client.invalidateQueries({ queryKey: ['route'] });
      void client.invalidateQueries({ queryKey: ['models'] });
      if (section === 'mapping' || section === 'presets') {
        void client.invalidateQueries({ queryKey: presetsQuery.queryKey });
      }
      // Another key or password may be what lets this browser in.
      if (section === 'auth') void client.invalidateQueries({ queryKey: SESSION_KEY });
    },
  });
}

/** The section as the gateway said it, with the changes that it has not answered yet. */
function showSection(client: QueryClient, said: ConfigSection, answered?: SectionChange): void {
  const { section } = said;
  const patches = patchesUnderWay(client, section, answered);
  if (patches.length > 0) client.setQueryData<ConfigSection>(saidKeyOf(section), said);
  else client.removeQueries({ queryKey: saidKeyOf(section), exact: true });
  client.setQueryData<ConfigSection>(keyOf(section), {
    ...said,
    values: patches.reduce<ConfigSection['values']>(mergePatch, said.values),
  });
}

/** The oldest first. */
function patchesUnderWay(
  client: QueryClient,
  section: string,
  except: SectionChange | undefined,
): readonly SectionPatch[] {
  return client
    .getMutationCache()
    .findAll({ mutationKey: keyOf(section), exact: true, status: 'pending' })
    .map(({ state }) => state.variables)
    .filter((change): change is SectionChange => isChange(change) && change !== except)
    .map(({ patch }) => patch);
}

function isChange(variables: unknown): variables is SectionChange {
  return typeof variables === 'object' && variables !== null && 'patch' in variables;
}

/** @throws ApiError `stale` where it is so no more */
async function revisionWhile(section: string, left: SectionPatch): Promise<string> {
  const { values, revision } = await readSection(section);
  if (JSON.stringify(mergePatch(values, left)) === JSON.stringify(values)) return revision;
  throw staleError();
}
