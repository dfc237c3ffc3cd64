// The routes of the console: one for each page, inside the shell.

import { IconMapOff } from '@tabler/icons-react';
import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import type { i18n } from 'i18next';
import { useTranslation } from 'react-i18next';
import { EmptyNote } from './components/empty-note.tsx';
import { LinkButton } from './components/link-button.tsx';
import { loadRest } from './i18n/choose-language.ts';
import { PAGES, SUBPAGES } from './pages.ts';
import { AppShell } from './shell/app-shell.tsx';
import { CrashNote } from './shell/crash-note.tsx';
import { loadPage } from './shell/load-page.ts';
import { loadStyles } from './styles/load-styles.ts';

/** All pages but the overview come with the rest of the texts and styles. */
export function createConsoleRouter(texts: i18n) {
  const root = createRootRoute({ component: AppShell, notFoundComponent: NotFound });
  const routes = [...PAGES, ...SUBPAGES].flatMap(({ path, component }) => {
    const isSubpage = SUBPAGES.some((subpage) => subpage.path === path);
    const page = createRoute({
      getParentRoute: () => root,
      path,
      component,
      validateSearch: readTexts,
      ...(path === '/'
        ? {}
        : { loader: () => loadPage(() => loadRestOf(texts)), staleTime: Infinity }),
    });
    if (path === '/' || isSubpage) return [page];
    // `/accounts/42` is the same as `/accounts?id=42`: one thing, opened over its list.
    const one = createRoute({
      getParentRoute: () => root,
      path: `${path}/$id`,
      beforeLoad({ params }: { readonly params: { readonly id?: string } }) {
        throw redirect({ to: path, search: { id: params.id ?? '' }, replace: true });
      },
    });
    return [page, one];
  });
  return createRouter({
    routeTree: root.addChildren(routes),
    defaultPreload: 'intent',
    defaultErrorComponent: ({ error }) => <CrashNote error={error} />,
    // Plain names and texts, so that addresses can be written by hand.
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: writeSearch,
  });
}

/** Texts and styles: what pages but the overview need besides their code. */
async function loadRestOf(texts: i18n): Promise<void> {
  await Promise.all([loadRest(texts), loadStyles()]);
}

function readTexts(search: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(search).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
}

function writeSearch(search: Record<string, unknown>): string {
  const text = new URLSearchParams(readTexts(search)).toString();
  return text === '' ? '' : `?${text}`;
}

/** What stands at an address that is no page. */
function NotFound() {
  const { t } = useTranslation();
  return (
    <EmptyNote
      icon={<IconMapOff size={32} />}
      titleAs="h1"
      title={t('shell.notFound')}
      hint={t('shell.notFoundHint')}
      action={<LinkButton to="/">{t('shell.toOverview')}</LinkButton>}
    />
  );
}
