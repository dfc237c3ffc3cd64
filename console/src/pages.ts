// The pages of the console, in the order of the navigation; each is loaded when it is first opened.

import {
  type Icon,
  IconChartBar,
  IconFileText,
  IconKey,
  IconLayoutDashboard,
  IconListSearch,
  IconMessageCode,
  IconRoute,
  IconSettings,
  IconShieldLock,
  IconTerminal2,
  IconUsers,
} from '@tabler/icons-react';
import { lazyRouteComponent, type RouteComponent } from '@tanstack/react-router';
import type { en } from './i18n/en.ts';
import { loadPage } from './shell/load-page.ts';

export interface Page {
  readonly name: keyof (typeof en)['shell']['pages'];
  readonly path: string;
  /** Pressed after `g`, it opens the page. */
  readonly letter: string;
  readonly icon: Icon;
  /** Stands in the bar at the bottom of a phone, which has room for four. */
  readonly isPrimary: boolean;
  readonly component: RouteComponent;
}

export const PAGES: readonly Page[] = [
  {
    name: 'overview',
    path: '/',
    letter: 'o',
    icon: IconLayoutDashboard,
    isPrimary: true,
    component: lazyRouteComponent(
      () => loadPage(() => import('./pages/overview/page.tsx')),
      'OverviewPage',
    ),
  },
  {
    name: 'accounts',
    path: '/accounts',
    letter: 'a',
    icon: IconUsers,
    isPrimary: true,
    component: lazyRouteComponent(
      () => loadPage(() => import('./pages/accounts/page.tsx')),
      'AccountsPage',
    ),
  },
  {
    name: 'routing',
    path: '/routing',
    letter: 'r',
    icon: IconRoute,
    isPrimary: true,
    component: lazyRouteComponent(
      () => loadPage(() => import('./pages/routing/page.tsx')),
      'RoutingPage',
    ),
  },
  {
    name: 'keys',
    path: '/keys',
    letter: 'k',
    icon: IconKey,
    isPrimary: false,
    component: lazyRouteComponent(
      () => loadPage(() => import('./pages/keys/page.tsx')),
      'KeysPage',
    ),
  },
  {
    name: 'requests',
    path: '/requests',
    letter: 'q',
    icon: IconListSearch,
    isPrimary: true,
    component: lazyRouteComponent(
      () => loadPage(() => import('./pages/requests/page.tsx')),
      'RequestsPage',
    ),
  },
  {
    name: 'usage',
    path: '/usage',
    letter: 'u',
    icon: IconChartBar,
    isPrimary: false,
    component: lazyRouteComponent(
      () => loadPage(() => import('./pages/usage/page.tsx')),
      'UsagePage',
    ),
  },
  {
    name: 'playground',
    path: '/playground',
    letter: 'p',
    icon: IconMessageCode,
    isPrimary: false,
    component: lazyRouteComponent(
      () => loadPage(() => import('./pages/playground/page.tsx')),
      'PlaygroundPage',
    ),
  },
  {
    name: 'clients',
    path: '/clients',
    letter: 'c',
    icon: IconTerminal2,
    isPrimary: false,
    component: lazyRouteComponent(
      () => loadPage(() => import('./pages/clients/page.tsx')),
      'ClientsPage',
    ),
  },
  {
    name: 'security',
    path: '/security',
    letter: 's',
    icon: IconShieldLock,
    isPrimary: false,
    component: lazyRouteComponent(
      () => loadPage(() => import('./pages/security/page.tsx')),
      'SecurityPage',
    ),
  },
  {
    name: 'settings',
    path: '/settings',
    letter: 't',
    icon: IconSettings,
    isPrimary: false,
    component: lazyRouteComponent(
      () => loadPage(() => import('./pages/settings/page.tsx')),
      'SettingsPage',
    ),
  },
  {
    name: 'logs',
    path: '/logs',
    letter: 'l',
    icon: IconFileText,
    isPrimary: false,
    component: lazyRouteComponent(
      () => loadPage(() => import('./pages/logs/page.tsx')),
      'LogsPage',
    ),
  },
];

/** Opened from another page: no entry of the navigation leads there. */
export const SUBPAGES: readonly Pick<Page, 'path' | 'component'>[] = [
  {
    path: '/requests/session',
    component: lazyRouteComponent(
      () => loadPage(() => import('./pages/requests/session-page.tsx')),
      'SessionPage',
    ),
  },
];
