// The control of one setting, by the kind of its value; what is typed counts when the field is left.

import {
  Button,
  NumberInput,
  PasswordInput,
  Select,
  Switch,
  TagsInput,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { accountsQuery } from '../api/queries/accounts.ts';
import { modelsQuery } from '../api/queries/models.ts';
import { useFormat } from '../components/use-format.ts';
import type {
  AccountField,
  ChoiceField,
  Field,
  ListField,
  NumberField,
  SecretField,
  SwitchField,
  TextField,
} from './fields.ts';
import { isSecretSet, readTexts } from './section-values.ts';
import type { Setting } from './use-setting.ts';
import { writeBytes } from './write-bytes.ts';

interface ControlProps<Kind extends Field = Field> {
  readonly field: Kind;
  readonly setting: Setting;
  readonly id: string;
}

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

const describedBy = (id: string) => ({ id, 'aria-describedby': `${id}-hint` }) as const;

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

function NumberControl({ field, setting, id }: ControlProps<NumberField>) {
  const { t } = useTranslation();
  const format = useFormat();
  const saved = typeof setting.value === 'number' ? setting.value : undefined;
  const [typed, setTyped] = useState<number | string>(saved ?? '');
  const { least, most, isWhole, unit } = field;
  const isBad =
    typeof typed === 'number' && (typed < least || typed > most || (isWhole && typed % 1 !== 0));
  const commit = (): void => {
    const next = typeof typed === 'number' ? typed : undefined;
    if (!isBad && next !== saved) setting.save(next ?? null);
  };
  return (
    <NumberInput
      {...describedBy(id)}
      value={typed}
      placeholder={t('settings.fallback', { value: writeAmount(field, format.number) })}
      min={least}
      max={most}
      clampBehavior="none"
      allowDecimal={!isWhole}
      thousandSeparator={field.id === 'port' ? '' : ','}
      hideControls
      disabled={!setting.isLoaded}
      rightSectionWidth={unit === undefined ? 0 : 84}
      rightSection={
        unit === undefined ? undefined : (
          <span className="setting-unit">
            {unit === 'bytes' && typeof typed === 'number'
              ? writeBytes(typed)
              : t(`settings.units.${unit}`)}
          </span>
        )
      }
      error={
        isBad
          ? t('settings.outOfRange', { least: format.number(least), most: format.number(most) })
          : undefined
      }
      onChange={setTyped}
      onBlur={commit}
      onKeyDown={onEnter(commit)}
    />
  );
}

function TextControl({ field, setting, id }: ControlProps<TextField>) {
  const { t } = useTranslation();
  const saved = typeof setting.value === 'string' ? setting.value : '';
  const [typed, setTyped] = useState(saved);
  const commit = (): void => {
    const next = typed.trim();
    if (next !== saved) setting.save(next === '' ? null : next);
  };
  return (
    <TextInput
      {...describedBy(id)}
      value={typed}
      placeholder={t('settings.fallback', { value: field.fallback })}
      disabled={!setting.isLoaded}
      autoComplete="off"
      spellCheck={false}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      onBlur={commit}
      onKeyDown={onEnter(commit)}
    />
  );
}

function SecretControl({ setting, id }: ControlProps<SecretField>) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState('');
  const isSet = isSecretSet(setting.value);
  const commit = (): void => {
    if (typed === '') return;
    setting.save(typed);
    setTyped('');
  };
  return (
    <div className="setting-secret">
      <PasswordInput
        {...describedBy(id)}
        value={typed}
        placeholder={t(isSet ? 'settings.secretSet' : 'settings.secretUnset')}
        disabled={!setting.isLoaded}
        autoComplete="new-password"
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        onKeyDown={onEnter(commit)}
      />
      {typed !== '' && (
        <Button size="sm" onClick={commit}>
          {t('common.save')}
        </Button>
      )}
      {typed === '' && isSet && (
        <Button size="sm" variant="default" onClick={() => setting.save(null)}>
          {t('common.remove')}
        </Button>
      )}
    </div>
  );
}

function ListControl({ field, setting, id }: ControlProps<ListField>) {
  const { t } = useTranslation();
  const models = useQuery({ ...modelsQuery, enabled: field.offers === 'models' });
  const values = readTexts(setting.value);
  return (
    <TagsInput
      {...describedBy(id)}
      value={values}
      data={[...new Set(models.data?.models.map((model) => model.id))]}
      limit={40}
      placeholder={t('settings.addEntry')}
      disabled={!setting.isLoaded}
      acceptValueOnBlur
      splitChars={[',', ' ']}
      onChange={(next) => setting.save(next)}
    />
  );
}

function AccountControl({ setting, id }: ControlProps<AccountField>) {
  const { t } = useTranslation();
  const { data } = useQuery(accountsQuery);
  const value = typeof setting.value === 'string' ? setting.value : null;
  const labels = new Set(data?.accounts.map(({ label }) => label));
  if (value !== null) labels.add(value);
  return (
    <Select
      {...describedBy(id)}
      data={[...labels]}
      value={value}
      placeholder={t('settings.noAccount')}
      searchable
      clearable
      disabled={!setting.isLoaded}
      onChange={setting.save}
    />
  );
}

function onEnter(commit: () => void) {
  return (event: KeyboardEvent): void => {
    if (event.key === 'Enter') commit();
  };
}

function writeAmount(
  { fallback, unit, id }: NumberField,
  write: (value: number) => string,
): string {
  // A port is a name, not an amount.
  if (id === 'port') return String(fallback);
  return unit === 'bytes' ? writeBytes(fallback) : write(fallback);
}
