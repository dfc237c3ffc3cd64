// One setting: its value in the config file, and changing it with a way back.

import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConfigSection, SettingOverride } from '../../../src/admin/contract.ts';
import { ApiError } from '../api/client.ts';
import { sectionQuery, useChangeSection } from '../api/queries/config.ts';
import { patchNow } from '../api/queries/merge-patch.ts';
import { readFieldError } from '../components/read-field-error.ts';
import { useIsThere } from '../components/use-settle.ts';
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
  const isThere = useIsThere();
  const { data } = useQuery(sectionQuery(field.section));
  const { mutateAsync } = useChangeSection(field.section);
  const [underWay, setUnderWay] = useState(0);
  const [refusal, setRefusal] = useState<string>();
  /** Counts what was saved and typed here: a refusal is said at the field while nothing came after. */
  const turn = useRef(0);
  const value = valueAt(data?.values, field.path);
  const forgetRefusal = (): void => {
    turn.current += 1;
    setRefusal(undefined);
  };
  const save = (next: unknown, onSaved?: () => void): void => {
    const name = t(`settings.fields.${field.id}.name`);
    const said = t('settings.saved', { name });
    const patch = patchOf(field.path, next);
    const undo = ({ values }: ConfigSection): void =>
      void mutateAsync({
        patch: patchOf(field.path, value ?? null),
        onlyWhile: patchNow(values, patch),
      }).then(() => toasts.done(t('common.undone')), toasts.failed);
    const onDone = (saved: ConfigSection): void => {
      onSaved?.();
      // What a secret was is known nowhere here.
      if (field.kind === 'secret') toasts.done(said);
      else toasts.doneWithUndo(said, () => undo(saved));
    };
    forgetRefusal();
    const now = turn.current;
    const onRefused = (error: unknown): void => {
      const words = SAYS_REFUSAL.has(field.kind) ? readRefusal(error) : undefined;
      if (words !== undefined && isThere.current && turn.current === now) setRefusal(words);
      else toasts.failed(error);
    };
    setUnderWay((count) => count + 1);
    void mutateAsync({ patch })
      .then(onDone, onRefused)
      .finally(() => setUnderWay((count) => count - 1));
  };
  const override = findOverride(data, field.path);
  return {
    value,
    override,
    isLoaded: data !== undefined,
    isSaving: underWay > 0,
    refusal,
    forgetRefusal,
    save,
  };
}

/** The gateway names the field by its place in the config file. */
function readRefusal(error: unknown): string | undefined {
  if (!(error instanceof ApiError) || error.field === undefined) return undefined;
  return readFieldError(error, error.field);
}
