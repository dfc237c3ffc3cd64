// The control of a setting that names an account: by its label, or by its id as the config file may.

import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { accountsQuery } from '../api/queries/accounts.ts';
import type { AccountField } from './fields.ts';
import { type ControlProps, describedBy } from './typed-controls.tsx';

export function AccountControl({ setting, id }: ControlProps<AccountField>) {
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
