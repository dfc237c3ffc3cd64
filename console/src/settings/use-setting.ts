// One setting: its value in the config file, and changing it with a way back.

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { SettingOverride } from '../../../src/admin/contract.ts';
import { type SectionPatch, sectionQuery, useChangeSection } from '../api/queries/config.ts';
import { useToasts } from '../components/use-toasts.tsx';
import type { Field } from './fields.ts';
import { findOverride, patchOf, valueAt } from './section-values.ts';

export interface Setting {
  /** Undefined where the file says nothing, and while it is read. */
  readonly value: unknown;
  /** What wins over the file here. */
  readonly override: SettingOverride | undefined;
  readonly isLoaded: boolean;
  readonly error: unknown;
  /** Null takes the setting out of the file: its default holds. */
  save(value: unknown): void;
}

export function useSetting(field: Field): Setting {
  const { t } = useTranslation();
  const toasts = useToasts();
  const { data } = useQuery(sectionQuery(field.section));
  const change = useChangeSection(field.section);
  const value = valueAt(data?.values, field.path);
  const write = (patch: SectionPatch, onDone: () => void): void =>
    change.mutate(patch, { onSuccess: onDone, onError: (error) => toasts.failed(error) });
  const save = (next: unknown): void => {
    const name = t(`settings.fields.${field.id}.name`);
    const said = t('settings.saved', { name });
    write(patchOf(field.path, next), () => {
      // What a secret was is known nowhere here.
      if (field.kind === 'secret') toasts.done(said);
      else {
        toasts.doneWithUndo(said, () =>
          write(patchOf(field.path, value ?? null), () => toasts.done(t('common.undone'))),
        );
      }
    });
  };
  const override = findOverride(data, field.path);
  return { value, override, isLoaded: data !== undefined, error: change.error, save };
}
