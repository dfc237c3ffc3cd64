// The operator's own mapping: its entries, and changes to it that can be taken back.

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { ConfigSection } from '../../../../src/admin/contract.ts';
import { sectionQuery, useChangeSection } from '../../api/queries/config.ts';
import { patchNow } from '../../api/queries/merge-patch.ts';
import { useToasts } from '../../components/use-toasts.tsx';
import { useSentences } from '../../i18n/use-sentences.ts';

export type Entry = readonly [name: string, target: string];

/** Null removes an entry. */
type MappingPatch = Readonly<Record<string, string | null>>;

export interface Mapping {
  readonly entries: readonly Entry[];
  readonly isLoading: boolean;
  readonly error: Error | null;
  reload(): void;
  /** Acts at once; the notice says what was done and takes it back. `onRefused` gives back what was typed. */
  change(patch: MappingPatch, message: string, onRefused?: () => void): void;
}

export function useMapping(): Mapping {
  const { t } = useTranslation();
  const say = useSentences();
  const toasts = useToasts();
  const { data, error, refetch } = useQuery(sectionQuery('mapping'));
  const { mutateAsync } = useChangeSection('mapping');
  const entries = readEntries(data?.values ?? {});
  return {
    entries,
    isLoading: data === undefined && error === null,
    error: data === undefined ? error : null,
    reload: () => void refetch(),
    change(patch, message, onRefused) {
      const before = new Map(entries);
      const back = Object.fromEntries(
        Object.keys(patch).map((name) => [name, before.get(name) ?? null]),
      );
      const undo = ({ values }: ConfigSection): void =>
        void mutateAsync({ patch: back, onlyWhile: patchNow(values, patch) }).then(
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
