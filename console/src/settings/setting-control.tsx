// The control of one setting, by the kind of its value.

import { Select, Switch } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { AccountControl } from './account-control.tsx';
import type { ChoiceField, SwitchField } from './fields.ts';
import { ListControl } from './list-control.tsx';
import { NumberControl } from './number-control.tsx';
import { type ControlProps, describedBy, SecretControl, TextControl } from './typed-controls.tsx';

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
