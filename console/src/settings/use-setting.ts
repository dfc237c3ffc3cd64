// One setting: its value in the config file, and changing it with a way back.

import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { SettingOverride } from '../../../src/admin/contract.ts';
import { ApiError } from '../api/client.ts';
import { type SectionPatch, sectionQuery, useChangeSection } from '../api/queries/config.ts';
import { readFieldError } from '../components/read-field-error.ts';
import { useToasts } from '../components/use-toasts.tsx';
import type { Field } from './fields.ts';
import { findOverride, patchOf, valueAt } from './section-values.ts';

export interface Setting {
  /** Undefined where the file says nothing, and while it is read. */
  readonly value: unknown;
  /** What wins over the file here. */
  readonly override: SettingOverride | undefined;
  readonly isLoaded: boolean;
  readonly isSaving: boolean;
  /** What the gateway said against the last change, until `forgetRefusal`. */
  readonly refusal: string | undefined;
  forgetRefusal(): void;
  /** Null takes the setting out of the file: its default holds. `onSaved` runs when it is in force. */
  save(value: unknown, onSaved?: () => void): void;
}

/** Fields whose control says itself why a value was refused. */
const SAYS_REFUSAL: ReadonlySet<Field['kind']> = new Set(['number', 'text', 'secret', 'list']);

export function useSetting(field: Field): Setting {
  const { t } = useTranslation();
  const toasts = useToasts();
  const { data } = useQuery(sectionQuery(field.section));
  const change = useChangeSection(field.section);
  const value = valueAt(data?.values, field.path);
  const write = (patch: SectionPatch, onDone: () => void): void =>
    change.mutate(patch, {
      onSuccess: onDone,
      onError: (error) => {
        if (!SAYS_REFUSAL.has(field.kind) || readRefusal(error) === undefined) toasts.failed(error);
      },
    });
  const save = (next: unknown, onSaved?: () => void): void => {
    const name = t(`settings.fields.${field.id}.name`);
    const said = t('settings.saved', { name });
    write(patchOf(field.path, next), () => {
      onSaved?.();
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
  return {
    value,
    override,
    isLoaded: data !== undefined,
    isSaving: change.isPending,
    refusal: readRefusal(change.error),
    forgetRefusal: change.reset,
    save,
  };
}

/** The gateway names the field by its place in the config file. */
function readRefusal(error: unknown): string | undefined {
  if (!(error instanceof ApiError) || error.field === undefined) return undefined;
  return readFieldError(error, error.field);
}
