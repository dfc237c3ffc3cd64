// The frame of every page: navigation, connection, shortcuts, and the place of the page itself.

import { useQuery } from '@tanstack/react-query';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import { getI18n, useTranslation } from 'react-i18next';
import { isUnreachable } from '../api/client.ts';
import { sessionQuery } from '../api/queries/session.ts';
import { ErrorBoundary } from '../components/error-boundary.tsx';
import { later } from '../components/later.tsx';
import { loadRest } from '../i18n/start.ts';
import { PAGES } from '../pages.ts';
import { BottomBar } from './bottom-bar.tsx';
import { CrashNote } from './crash-note.tsx';
import { usePaletteKey } from './palette/palette-button.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { Sidebar } from './sidebar.tsx';
import { useFeed } from './use-feed.ts';
import './app-shell.css';

/** With the texts of all pages: it finds what is on them. */
const Palette = later(async () => {
  const [module] = await Promise.all([import('./palette/palette.tsx'), loadRest(getI18n())]);
  return module.Palette;
});

export function AppShell() {
  const { t } = useTranslation();
  const feed = useFeed();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const { error } = useQuery(sessionQuery);
  usePageOpened(path);
  const [palette, setPalette] = useState<'open' | 'closed'>();
  const openPalette = useCallback(() => setPalette('open'), []);
  usePaletteKey(openPalette);
  return (
    <div className="shell">
      <a className="skip-link" href="#content">
        {t('shell.skip')}
      </a>
      <Sidebar feed={feed} onFind={openPalette} />
      <div className="shell-column">
        {isUnreachable(error) && (
          <div className="banner" role="status">
            {t('shell.disconnected')}
          </div>
        )}
        <RoleBanner />
        <main id="content" className="content" tabIndex={-1}>
          <ErrorBoundary resetKey={path} fallback={(failure) => <CrashNote error={failure} />}>
            <Outlet />
          </ErrorBoundary>
        </main>
      </div>
      <BottomBar feed={feed} onFind={openPalette} />
      <Shortcuts />
      {palette !== undefined && (
        <Palette isOpen={palette === 'open'} onClose={() => setPalette('closed')} />
      )}
    </div>
  );
}

/** Why nothing can be changed here. */
function RoleBanner() {
  const { t } = useTranslation();
  const { data } = useQuery(sessionQuery);
  if (data?.role !== 'viewer') return null;
  return (
    <section className="banner is-calm" aria-label={t('roles.names.viewer')}>
      {t('roles.banner', { role: t('roles.names.viewer') })}
    </section>
  );
}

/** Names the document after the page, and moves the focus there when it is changed. */
function usePageOpened(path: string): void {
  const { t } = useTranslation();
  const lastPath = useRef(path);
  const page = PAGES.find((one) => one.path === path);
  const name = page === undefined ? t('shell.notFound') : t(`shell.pages.${page.name}`);
  useEffect(() => {
    document.title = t('shell.title', { page: name });
  }, [name, t]);
  useEffect(() => {
    if (lastPath.current === path) return;
    lastPath.current = path;
    window.scrollTo(0, 0);
    document.getElementById('content')?.focus({ preventScroll: true });
  }, [path]);
}
