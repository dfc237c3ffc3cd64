// All pages, on a phone.

import { Drawer } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { FeedState } from '../api/events.ts';
import { useOpenedLater } from '../components/later.tsx';
import { NavLinks } from './nav-links.tsx';
import { PaletteButton } from './palette/palette-button.tsx';
import { ShellFoot } from './shell-foot.tsx';

export interface PageMenuProps {
  readonly isOpen: boolean;
  readonly feed: FeedState;
  readonly onFind: () => void;
  readonly onClose: () => void;
}

export function PageMenu({ isOpen, feed, onFind, onClose }: PageMenuProps) {
  const { t } = useTranslation();
  const isOpened = useOpenedLater(isOpen);
  return (
    <Drawer
      opened={isOpened}
      onClose={onClose}
      position="bottom"
      size="auto"
      title={t('shell.menu')}
    >
      <PaletteButton
        onOpen={() => {
          onClose();
          onFind();
        }}
      />
      <NavLinks onOpen={onClose} />
      <ShellFoot feed={feed} />
    </Drawer>
  );
}
