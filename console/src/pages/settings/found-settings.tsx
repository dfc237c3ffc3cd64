// The settings of every section that hold the words searched for, to be changed where they are found.

import { IconSearch } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { EmptyNote } from '../../components/empty-note.tsx';
import { Panel } from '../../components/panel.tsx';
import { GROUPS } from '../../settings/field-groups.ts';
import type { Field } from '../../settings/fields.ts';
import { ACCESS_PLACE, FILTER_PLACE, WEB_PLACE } from '../../settings/setting-places.ts';
import { SettingRow } from '../../settings/setting-row.tsx';

export function FoundSettings({ search }: { readonly search: string }) {
  const { t } = useTranslation();
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const isFound = ({ id, section, path, variable = '' }: Field): boolean => {
    const name = t(`settings.fields.${id}.name`);
    const hint = t(`settings.fields.${id}.hint`);
    const text = `${name} ${hint} ${section}.${path.join('.')} ${variable}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const groups = [
    ...GROUPS.map(({ id, fields }) => ({ id, title: t(`settings.groups.${id}`), fields })),
    {
      id: 'security',
      title: t('shell.pages.security'),
      fields: [ACCESS_PLACE, FILTER_PLACE, WEB_PLACE].flatMap(({ fields }) => [...fields]),
    },
  ].map(({ id, title, fields }) => ({ id, title, found: fields.filter(isFound) }));
  const shown = groups.filter(({ found }) => found.length > 0);
  if (shown.length === 0) {
    return (
      <EmptyNote
        icon={<IconSearch size={32} stroke={1.5} />}
        title={t('settings.noneFound')}
        hint={t('settings.noneFoundHint')}
      />
    );
  }
  return shown.map(({ id, title, found }) => (
    <Panel key={id} title={title}>
      {found.map((field) => (
        <SettingRow key={field.id} field={field} />
      ))}
    </Panel>
  ));
}
