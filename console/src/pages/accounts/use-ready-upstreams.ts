// Upstreams that an account can be added to although the settings do not name them yet.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { upstreamsQuery } from '../../api/queries/accounts.ts';
import { useChangeSection } from '../../api/queries/config.ts';
import type { AddFormProps, Upstream } from './upstream-select.tsx';

/** They know their address, and a key is all they want. */
const READY_PROFILES = ['anthropic', 'openai', 'gemini-api'] as const;

export interface ReadyUpstreams {
  /** Those there are, before those that are there as soon as an account comes to them; sandboxes last. */
  readonly offered: readonly Upstream[];
  readonly isChanging: boolean;
  readonly error: Error | null;
  isNew(id: string): boolean;
  /**
   * Writes it into the settings where they do not name it yet.
   * @returns what takes it out again
   * @throws when that is refused
   */
  ensure(id: string): Promise<() => Promise<void>>;
}

/** Of one upstream of the settings: what it is before and afterwards; null where it is not there. */
interface Change {
  readonly id: string;
  readonly from: object | null;
  readonly to: object | null;
}

export function useReadyUpstreams({
  upstreams,
  isLoading,
}: Pick<AddFormProps, 'upstreams' | 'isLoading'>): ReadyUpstreams {
  const client = useQueryClient();
  const change = useChangeSection('upstreams');
  // Ends when the list is read again: until then it says what is there of the time before.
  const write = useMutation({
    mutationFn: async ({ id, from, to }: Change) => {
      await change.mutateAsync({ patch: { [id]: to }, onlyWhile: { [id]: from } });
      await client.invalidateQueries({ queryKey: upstreamsQuery.queryKey });
    },
  });
  const fresh = isLoading ? [] : listReady(upstreams);
  const isNew = (id: string): boolean => fresh.some((upstream) => upstream.id === id);
  return {
    offered: [...upstreams, ...fresh].sort(
      (one, other) => Number(one.profile === 'sandbox') - Number(other.profile === 'sandbox'),
    ),
    isChanging: write.isPending,
    error: write.error,
    isNew,
    async ensure(id) {
      const upstream = fresh.find((one) => one.id === id);
      if (upstream === undefined) return async () => {};
      const { profile } = upstream;
      await write.mutateAsync({ id, from: null, to: { profile } });
      return () => write.mutateAsync({ id, from: { profile }, to: null });
    },
  };
}

function listReady(upstreams: readonly Upstream[]): readonly Upstream[] {
  return READY_PROFILES.filter(
    (ready) => !upstreams.some(({ id, profile }) => id === ready || profile === ready),
  ).map((id) => ({
    id,
    profile: id,
    canSignIn: false,
    redirectUrl: null,
    proxy: null,
    accounts: 0,
  }));
}
