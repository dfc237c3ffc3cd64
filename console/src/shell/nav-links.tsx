// The list of pages.

import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { PAGES } from '../pages.ts';

export function NavLinks({ onOpen }: { readonly onOpen?: () => void }) {
  const { t } = useTranslation();
  return (
    <nav className="nav-links" aria-label={t('shell.navigation')}>
      {PAGES.map(({ name, path, icon: PageIcon }) => (
        <Link
          key={name}
          to={path}
          className="nav-link"
          activeOptions={{ exact: path === '/' }}
          onClick={() => onOpen?.()}
        >
          <PageIcon size={18} stroke={1.7} aria-hidden="true" />
          {t(`shell.pages.${name}`)}
        </Link>
      ))}
    </nav>
  );
}
