// Chooses the columns of the list; what is chosen is remembered in this browser.

import { ActionIcon, Menu } from '@mantine/core';
import { IconColumns } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { CHOICES, type Choice, usualChoice } from './columns.ts';

export interface ColumnPickerProps {
  /** Undefined where nobody chose any. */
  readonly chosen: readonly Choice[] | undefined;
  readonly isShared: boolean;
  /** Of the list. */
  readonly width: number;
  readonly onChange: (chosen: readonly Choice[] | undefined) => void;
}

export function ColumnPicker({ chosen, isShared, width, onChange }: ColumnPickerProps) {
  const { t } = useTranslation();
  const shown = chosen ?? usualChoice(width, isShared);
  const toggle = (id: Choice): void => {
    const next = shown.includes(id) ? shown.filter((one) => one !== id) : [...shown, id];
    onChange(CHOICES.filter((one) => next.includes(one)));
  };
  return (
    <Menu position="bottom-end" closeOnItemClick={false}>
      <Menu.Target>
        <ActionIcon
          className="column-picker"
          variant="default"
          size={36}
          aria-label={t('requests.chooseColumns')}
        >
          <IconColumns size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {CHOICES.map((id) => (
          <Menu.CheckboxItem key={id} checked={shown.includes(id)} onChange={() => toggle(id)}>
            {t(`requests.columns.${id}`)}
          </Menu.CheckboxItem>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => onChange(undefined)} disabled={chosen === undefined}>
          {t('requests.usualColumns')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
