// The navigation of a phone: the pages used most within reach of the thumb, the rest behind a button.

import { Drawer } from '@mantine/core';
import { IconMenu2 } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { FeedState } from '../api/events.ts';
import { PAGES } from '../pages.ts';
import { NavLinks } from './nav-links.tsx';
import { ShellFoot } from './shell-foot.tsx';
import './bottom-bar.css';

export function BottomBar({ feed }: { readonly feed: FeedState }) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <>
      <nav className="bottom-bar" aria-label={t('shell.navigation')}>
        {PAGES.filter(({ isPrimary }) => isPrimary).map(({ name, path, icon: PageIcon }) => (
          <Link
            key={name}
            to={path}
            className="bottom-link"
            activeOptions={{ exact: path === '/' }}
          >
            <PageIcon size={21} stroke={1.7} aria-hidden="true" />
            {t(`shell.pages.${name}`)}
          </Link>
        ))}
        <button
          type="button"
          className="bottom-link"
          aria-haspopup="dialog"
          onClick={() => setOpen(true)}
        >
          <IconMenu2 size={21} stroke={1.7} aria-hidden="true" />
          {t('shell.moreMenu')}
        </button>
      </nav>
      <Drawer
        opened={isOpen}
        onClose={close}
        position="bottom"
        size="auto"
        title={t('shell.menu')}
        closeButtonProps={{ 'aria-label': t('common.close') }}
      >
        <NavLinks onOpen={close} />
        <ShellFoot feed={feed} />
      </Drawer>
    </>
  );
}
