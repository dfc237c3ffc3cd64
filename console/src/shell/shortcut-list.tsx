// The list of the keys that the console knows.

import { Kbd, Modal } from '@mantine/core';
import { Fragment } from 'react';
import { useTranslation } from 'react-i18next';
import { PAGES } from '../pages.ts';
import { IS_APPLE } from './palette/palette-button.tsx';
import './shortcuts.css';
import { useOpenedLater } from '../components/later.tsx';

export interface ShortcutListProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function ShortcutList({ isOpen, onClose }: ShortcutListProps) {
  const { t } = useTranslation();
  const isOpened = useOpenedLater(isOpen);
  const lines: readonly (readonly [keys: readonly string[], text: string])[] = [
    ...PAGES.map(
      ({ name, letter }) =>
        [['g', letter], t('shell.shortcutGo', { page: t(`shell.pages.${name}`) })] as const,
    ),
    [[IS_APPLE ? '⌘K' : 'Ctrl K'], t('shell.palette')],
    [['/'], t('shell.shortcutSearch')],
    [['j'], t('shell.shortcutOlder')],
    [['k'], t('shell.shortcutNewer')],
    [['?'], t('shell.shortcutHelp')],
    [['Esc'], t('shell.shortcutClose')],
  ];
  return (
    <Modal opened={isOpened} onClose={onClose} title={t('shell.shortcuts')}>
      <dl className="shortcuts">
        {lines.map(([keys, text]) => (
          <Fragment key={text}>
            <dt>{text}</dt>
            <dd>
              {keys.map((key, index) => (
                <Fragment key={key}>
                  {index > 0 && <span> {t('shell.afterwards')} </span>}
                  <Kbd>{key}</Kbd>
                </Fragment>
              ))}
            </dd>
          </Fragment>
        ))}
      </dl>
    </Modal>
  );
}
