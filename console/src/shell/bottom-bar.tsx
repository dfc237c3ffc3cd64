// The navigation of a phone: the pages used most within reach of the thumb, the rest behind a button.

import { IconMenu2 } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { FeedState } from '../api/events.ts';
import { later } from '../components/later.tsx';
import { PAGES } from '../pages.ts';
import './bottom-bar.css';

const PageMenu = later(async () => (await import('./page-menu.tsx')).PageMenu);

export interface BottomBarProps {
  readonly feed: FeedState;
  readonly onFind: () => void;
}

export function BottomBar({ feed, onFind }: BottomBarProps) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const [wasOpen, setWasOpen] = useState(false);
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
          onClick={() => {
            setOpen(true);
            setWasOpen(true);
          }}
        >
          <IconMenu2 size={21} stroke={1.7} aria-hidden="true" />
          {t('shell.moreMenu')}
        </button>
      </nav>
      {wasOpen && (
        <PageMenu isOpen={isOpen} feed={feed} onFind={onFind} onClose={() => setOpen(false)} />
      )}
    </>
  );
}
