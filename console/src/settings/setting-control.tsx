// The control of one setting, by the kind of its value.

import { Select, Switch, TagsInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { accountsQuery } from '../api/queries/accounts.ts';
import { modelsQuery } from '../api/queries/models.ts';
import { AmountInput } from '../components/amount-input.tsx';
import { writeGrouped } from '../components/read-amount.ts';
import { useAmount } from '../components/use-amount.ts';
import { useFormat } from '../components/use-format.ts';
import { useUnsaved } from '../components/use-unsaved.tsx';
import { writeBytes } from '../components/write-bytes.ts';
import type { AccountField, ChoiceField, ListField, NumberField, SwitchField } from './fields.ts';
import { draftList, type ListDraft, showList } from './list-draft.ts';
import { readTexts } from './section-values.ts';
import {
  type ControlProps,
  describedBy,
  SecretControl,
  TextControl,
  unless,
} from './typed-controls.tsx';

export function SettingControl({ field, ...rest }: ControlProps) {
  switch (field.kind) {
    case 'switch':
      return <SwitchControl field={field} {...rest} />;
    case 'choice':
      return <ChoiceControl field={field} {...rest} />;
    case 'number':
      return <NumberControl field={field} {...rest} />;
    case 'text':
      return <TextControl field={field} {...rest} />;
    case 'secret':
      return <SecretControl field={field} {...rest} />;
    case 'list':
      return <ListControl field={field} {...rest} />;
    case 'account':
      return <AccountControl field={field} {...rest} />;
    default:
      return field satisfies never;
  }
}

function SwitchControl({ field, setting, id }: ControlProps<SwitchField>) {
  const value = typeof setting.value === 'boolean' ? setting.value : field.fallback;
  return (
    <Switch
      {...describedBy(id)}
      size="md"
      checked={value}
      disabled={!setting.isLoaded}
      onChange={({ currentTarget }) => setting.save(currentTarget.checked)}
    />
  );
}

function ChoiceControl({ field, setting, id }: ControlProps<ChoiceField>) {
  const { t } = useTranslation();
  const value = typeof setting.value === 'string' ? setting.value.toLowerCase() : field.fallback;
  return (
    <Select
      {...describedBy(id)}
      data={field.options.map((option) => ({
        value: option.value,
        label: t(`settings.options.${option.text}`),
      }))}
      value={value}
      allowDeselect={false}
      disabled={!setting.isLoaded}
      onChange={(next) => {
        if (next !== null && next !== value) setting.save(next);
      }}
    />
  );
}

/** The control of a setting that names an account: by its label, or by its id as the config file may. */
function AccountControl({ setting, id }: ControlProps<AccountField>) {
  const { t } = useTranslation();
  const { data } = useQuery(accountsQuery);
  const value = typeof setting.value === 'string' ? setting.value : null;
  const accounts = data?.accounts ?? [];
  const byId = accounts.find((account) => account.id === value);
  const labels = new Set(accounts.map(({ label }) => label));
  const isNobody = data !== undefined && value !== null && !labels.has(value) && !byId;
  const others = [...labels].filter((label) => label !== byId?.label);
  const options = others.map((label) => ({ value: label, label }));
  if (value !== null && !labels.has(value)) options.push({ value, label: byId?.label ?? value });
  return (
    <Select
      {...describedBy(id)}
      data={options}
      value={value}
      placeholder={t('settings.noAccount')}
      searchable
      clearable
      disabled={!setting.isLoaded}
      error={isNobody ? t('settings.accountNotThere') : undefined}
      onChange={(next) => setting.save(next)}
    />
  );
}

/** The control of a list: an entry counts when it is written, and stays there when it is refused. */
function ListControl({ field, setting, id }: ControlProps<ListField>) {
  const { t } = useTranslation();
  const models = useQuery({ ...modelsQuery, enabled: field.offers === 'models' });
  const saved = readTexts(setting.value);
  const [draft, setDraft] = useState<ListDraft>();
  useUnsaved(draft !== undefined && !setting.isSaving);
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

/** The control of an amount of the settings: saved when it is left, and refused where it is written. */
function NumberControl({ field, setting, id }: ControlProps<NumberField>) {
  const { t } = useTranslation();
  const format = useFormat();
  const { read, sayProblem } = useAmount(field);
  const saved = typeof setting.value === 'number' ? setting.value : undefined;
  const [draft, setDraft] = useState<string>();
  useUnsaved(draft !== undefined && !setting.isSaving);
  const typed = draft ?? (saved === undefined ? '' : writeValue(field, saved));
  const commit = (): void => {
    if (sayProblem(typed) !== undefined || setting.refusal !== undefined) return;
    const amount = read(typed);
    const next = amount.kind === 'value' ? amount.value : undefined;
    if (next !== saved) setting.save(next ?? null, () => setDraft(unless(typed)));
    else if (!setting.isSaving) setDraft(undefined);
  };
  return (
    <AmountInput
      {...describedBy(id)}
      range={field}
      value={typed}
      placeholder={t('settings.fallback', { value: writeFallback(field, format.number) })}
      disabled={!setting.isLoaded}
      error={setting.refusal}
      onChange={(text) => {
        setting.forgetRefusal();
        setDraft(text);
      }}
      onCommit={commit}
    />
  );
}

// A port is a name, not an amount.
function writeValue({ id }: NumberField, value: number): string {
  return id === 'port' ? String(value) : writeGrouped(value);
}

function writeFallback(
  { fallback, unit, id }: NumberField,
  write: (value: number) => string,
): string {
  if (id === 'port') return String(fallback);
  return unit === 'bytes' ? writeBytes(fallback) : write(fallback);
}
