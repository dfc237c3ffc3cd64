// Removes keys with a way back: a removed key is disabled at once, and goes when nobody took it back.

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Key } from '../../../../src/admin/contract.ts';
import { useChangeKey, useRemoveKey } from '../../api/queries/keys.ts';
import { useToasts } from '../../components/use-toasts.tsx';

/** A little longer than the notice with the way back stays. */
const GRACE_MS = 11_000;
const LEAVING_KEY = ['leaving-keys'] as const;

export interface LeavingKeys {
  /** Ids of keys that are not shown any more. */
  readonly ids: readonly string[];
  remove(key: Key): void;
}

export function useLeavingKeys(): LeavingKeys {
  const { t } = useTranslation();
  const client = useQueryClient();
  const toasts = useToasts();
  const change = useChangeKey();
  const removal = useRemoveKey();
  const { data: ids = [] } = useQuery<readonly string[]>({
    queryKey: LEAVING_KEY,
    queryFn: () => [],
    enabled: false,
    gcTime: Number.POSITIVE_INFINITY,
  });
  const setIds = (next: (known: readonly string[]) => readonly string[]): void => {
    client.setQueryData<readonly string[]>(LEAVING_KEY, (known = []) => next(known));
  };
  const show = (id: string): void => setIds((known) => known.filter((one) => one !== id));

  const remove = async (key: Key): Promise<void> => {
    setIds((known) => [...known, key.id]);
    try {
      const stopped = await change.mutateAsync({ key, change: { enabled: false } });
      const timer = window.setTimeout(() => {
        void removal
          .mutateAsync(key.id)
          .catch(toasts.failed)
          .finally(() => show(key.id));
      }, GRACE_MS);
      toasts.doneWithUndo(t('keys.removed', { name: key.name }), () => {
        window.clearTimeout(timer);
        show(key.id);
        if (!key.enabled) return;
        change.mutateAsync({ key: stopped, change: { enabled: true } }).catch(toasts.failed);
      });
    } catch (error) {
      show(key.id);
      toasts.failed(error);
    }
  };
  return { ids, remove: (key) => void remove(key) };
}
