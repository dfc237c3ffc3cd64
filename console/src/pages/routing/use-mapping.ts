// The operator's own mapping: its entries, and changes to it that can be taken back.

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { sectionQuery, useChangeSection } from '../../api/queries/config.ts';
import { useToasts } from '../../components/use-toasts.tsx';

export type Entry = readonly [name: string, target: string];

/** Null removes an entry. */
export type MappingPatch = Readonly<Record<string, string | null>>;

export interface Mapping {
  readonly entries: readonly Entry[];
  readonly isLoading: boolean;
  readonly error: Error | null;
  reload(): void;
  /** Acts at once; the notice says what was done and takes it back. */
  change(patch: MappingPatch, message: string): void;
}

export function useMapping(): Mapping {
  const { t } = useTranslation();
  const toasts = useToasts();
  const { data, error, refetch } = useQuery(sectionQuery('mapping'));
  const { mutate } = useChangeSection('mapping');
  const entries = readEntries(data?.values ?? {});
  return {
    entries,
    isLoading: data === undefined && error === null,
    error: data === undefined ? error : null,
    reload: () => void refetch(),
    change(patch, message) {
      const before = new Map(entries);
      const back = Object.fromEntries(
        Object.keys(patch).map((name) => [name, before.get(name) ?? null]),
      );
      const undo = (): void =>
        mutate(back, { onSuccess: () => toasts.done(t('common.undone')), onError: toasts.failed });
      mutate(patch, {
        onSuccess: () => toasts.doneWithUndo(message, undo),
        onError: toasts.failed,
      });
    },
  };
}

/** Exact names first, then patterns, each from a to z. */
function readEntries(values: object): readonly Entry[] {
  return Object.entries(values)
    .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    .sort(
      ([left], [right]) =>
        Number(left.includes('*')) - Number(right.includes('*')) || left.localeCompare(right),
    );
}
