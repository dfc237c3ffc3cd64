// The operator's own mapping and targets: their entries, and changes to them that can be taken back.

import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConfigSection } from '../../../../src/admin/contract.ts';
import { sectionQuery, useChangeSection } from '../../api/queries/config.ts';
import { patchNow, type SectionPatch } from '../../api/queries/merge-patch.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { useSentences } from '../../i18n/use-sentences.ts';

export type Entry = readonly [name: string, target: string];

/** Entries of a section by the names that people chose. */
export interface NamedEntries<Entries> {
  readonly entries: Entries;
  readonly isLoading: boolean;
  readonly error: Error | null;
  reload(): void;
  /**
   * Acts at once; null removes an entry. The notice says what was done and takes it back. `onRefused` gives back
   * what was typed.
   */
  change(patch: SectionPatch, message: string, onRefused?: () => void): void;
}

const NONE: object = {};

export type Mapping = NamedEntries<readonly Entry[]>;

export const useMapping = (): Mapping => useEntries('mapping', readEntries);

export function useEntries<Entries>(
  section: string,
  readValues: (values: object) => Entries,
): NamedEntries<Entries> {
  const { t } = useTranslation();
  const say = useSentences();
  const toasts = useToasts();
  const { data, error, refetch } = useQuery(sectionQuery(section));
  const { mutateAsync } = useChangeSection(section);
  const values: object = data?.values ?? NONE;
  const entries = useMemo(() => readValues(values), [values, readValues]);
  const change: NamedEntries<Entries>['change'] = useCallback(
    (patch, message, onRefused) => {
      const back = patchNow(values, patch);
      const undo = (saved: ConfigSection): void =>
        void mutateAsync({ patch: back, onlyWhile: patchNow(saved.values, patch) }).then(
          () => toasts.done(t('common.undone')),
          toasts.failed,
        );
      // Not the callbacks of one change: those of a change still under way are dropped by the next.
      void mutateAsync({ patch }).then(
        (saved) => {
          const { warnings: [warning, ...more] = [] } = saved;
          if (warning === undefined) return toasts.doneWithUndo(message, () => undo(saved));
          const text =
            more.length === 0 ? say(warning) : t('routing.unserved', { count: more.length + 1 });
          toasts.warnWithUndo(text, () => undo(saved));
        },
        (refusal: unknown) => {
          onRefused?.();
          toasts.failed(refusal);
        },
      );
    },
    [values, mutateAsync, toasts, say, t],
  );
  return {
    entries,
    isLoading: data === undefined && error === null,
    error: data === undefined ? error : null,
    reload: () => void refetch(),
    change,
  };
}

const byName = new Intl.Collator(undefined, { numeric: true });

/** Exact names first, then patterns, each from a to z. */
function readEntries(values: object): readonly Entry[] {
  return Object.entries(values)
    .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    .sort(
      ([left], [right]) =>
        Number(left.includes('*')) - Number(right.includes('*')) || byName.compare(left, right),
    );
}
