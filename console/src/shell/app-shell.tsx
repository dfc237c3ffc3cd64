// The frame of every page: navigation, connection, shortcuts, and the place of the page itself.

import { IconMenu2 } from '@tabler/icons-react';
import { type Query, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import { getI18n, useTranslation } from 'react-i18next';
import { isUnreachable } from '../api/client.ts';
import { type FeedState, openFeed } from '../api/events.ts';
import { refreshTopics } from '../api/queries/overview.ts';
import { sessionQuery } from '../api/queries/session.ts';
import { SESSION_KEY } from '../api/queries/session-key.ts';
import { ErrorBoundary } from '../components/error-boundary.tsx';
import { later } from '../components/later.tsx';
import { loadRest } from '../i18n/choose-language.ts';
import { PAGES } from '../pages.ts';
import { CrashNote } from './crash-note.tsx';
import { Logo } from './logo.tsx';
import { NavLinks } from './nav-links.tsx';
import { PaletteButton, usePaletteKey } from './palette/palette-button.tsx';
import { ShellFoot } from './shell-foot.tsx';
import './bottom-bar.css';
import './sidebar.css';
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
  // Not the path, which may be written in other ways, or be that of a part of a page.
  const route = useRouterState({ select: ({ matches }) => `${matches.at(-1)?.routeId}/` });
  const page = PAGES.find((one) => route.startsWith(`${one.path}/`));
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

interface SidebarProps {
  readonly feed: FeedState;
  readonly onFind: () => void;
}

function Sidebar({ feed, onFind }: SidebarProps) {
  return (
    <aside className="sidebar">
      <div className="sidebar-column">
        <div className="sidebar-head">
          <Logo />
        </div>
        <PaletteButton onOpen={onFind} />
        <NavLinks />
        <ShellFoot feed={feed} />
      </div>
    </aside>
  );
}

const PageMenu = later(async () => (await import('./page-menu.tsx')).PageMenu);

interface BottomBarProps {
  readonly feed: FeedState;
  readonly onFind: () => void;
}

function BottomBar({ feed, onFind }: BottomBarProps) {
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

/** Keeps the live feed open while the console is, and asks anew for what it says is old. */
function useFeed(): FeedState {
  const client = useQueryClient();
  const [state, setState] = useState<FeedState>('connecting');
  useEffect(() => {
    const feed = openFeed({
      page: document,
      onState(next) {
        setState(next);
        // Why it broke, the feed cannot say: the gateway may be away, or the session over.
        void client.invalidateQueries({ queryKey: SESSION_KEY });
        if (next === 'open') void client.refetchQueries({ type: 'active', predicate: hasFailed });
      },
      onTopics: (topics) => refreshTopics(client, topics),
    });
    return () => feed.close();
  }, [client]);
  return state;
}

function hasFailed({ state }: Query): boolean {
  return state.status === 'error';
}

const ShortcutList = later(async () => (await import('./shortcut-list.tsx')).ShortcutList);

/** How long `g` waits for its letter. */
const PATIENCE_MS = 1500;

function Shortcuts() {
  const navigate = useNavigate();
  const [isListed, setListed] = useState(false);
  const [wasListed, setWasListed] = useState(false);
  const leaderAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (isTaken(event)) return;
      const isSecond = event.timeStamp - leaderAt.current < PATIENCE_MS;
      leaderAt.current = Number.NEGATIVE_INFINITY;
      const page = isSecond ? PAGES.find(({ letter }) => letter === event.key) : undefined;
      if (page !== undefined) void navigate({ to: page.path });
      else if (event.key === 'g') leaderAt.current = event.timeStamp;
      else if (event.key === '?') {
        setListed(true);
        setWasListed(true);
      } else if (event.key !== '/' || !focusSearch()) return;
      event.preventDefault();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [navigate]);
  return wasListed ? <ShortcutList isOpen={isListed} onClose={() => setListed(false)} /> : null;
}

/** Keys belong to fields, to open dialogs and to the browser first. */
function isTaken(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true;
  if (document.querySelector('[role="dialog"][aria-modal="true"]') !== null) return true;
  const { target } = event;
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches('input, textarea, select, [role="menuitem"]');
}

function focusSearch(): boolean {
  const field = document.querySelector<HTMLElement>('[data-page-search]');
  field?.focus();
  return field !== null;
}
