// The control of a list: an entry counts when it is written, and stays there when it is refused.

import { TagsInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { modelsQuery } from '../api/queries/models.ts';
import type { ListField } from './fields.ts';
import { draftList, type ListDraft, showList } from './list-draft.ts';
import { readTexts } from './section-values.ts';
import { type ControlProps, describedBy } from './typed-controls.tsx';

export function ListControl({ field, setting, id }: ControlProps<ListField>) {
  const { t } = useTranslation();
  const models = useQuery({ ...modelsQuery, enabled: field.offers === 'models' });
  const saved = readTexts(setting.value);
  const [draft, setDraft] = useState<ListDraft>();
  const save = (next: readonly string[], made: ListDraft | undefined): void =>
    setting.save(next, () => setDraft((now) => (now === made ? undefined : now)));
  const change = (next: readonly string[]): void => {
    const made = draftList(saved, next, draft);
    setDraft(made);
    // The entry that was refused is taken out again: nothing is left to save.
    if (made === undefined && !setting.isSaving) setting.forgetRefusal();
    else save(next, made);
  };
  /** What got no answer is tried once more. */
  const onBlur = (): void => {
    const isLeft = draft !== undefined && setting.refusal === undefined && !setting.isSaving;
    if (isLeft) save(showList(saved, draft), draft);
  };
  return (
    <TagsInput
      {...describedBy(id)}
      value={showList(saved, draft)}
      data={[...new Set(models.data?.models.map((model) => model.id))]}
      limit={40}
      placeholder={t('settings.addEntry')}
      disabled={!setting.isLoaded}
      acceptValueOnBlur
      splitChars={[',', ' ']}
      error={setting.refusal}
      onSearchChange={(typed) => {
        if (typed !== '') setting.forgetRefusal();
      }}
      onChange={change}
      onBlur={onBlur}
    />
  );
}
