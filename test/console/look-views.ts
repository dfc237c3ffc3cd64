// The views of the console that are looked at: a page in a scene, brought into a state.

import type { Page } from 'playwright-core';
import type { Scene } from './fake-route.ts';
import { PAGE_VIEWS } from './look-pages.ts';

export interface View {
  readonly name: string;
  readonly path: string;
  readonly scene: Scene;
  readonly needsPassword?: boolean;
  readonly language?: 'en' | 'zh' | 'ja';
  /** Clicks and keys before the picture is taken. */
  prepare?(page: Page): Promise<void>;
}

export const VIEWS: readonly View[] = [
  { name: 'sign-in', path: '/', scene: 'rich', needsPassword: true },
  { name: 'sign-in-chinese', path: '/', scene: 'rich', needsPassword: true, language: 'zh' },
  { name: 'overview', path: '/', scene: 'rich' },
  { name: 'overview-empty', path: '/', scene: 'empty' },
  { name: 'overview-trouble', path: '/', scene: 'trouble' },
  { name: 'overview-chinese', path: '/', scene: 'rich', language: 'zh' },
  { name: 'accounts', path: '/accounts', scene: 'rich' },
  {
    name: 'accounts-table',
    path: '/accounts',
    scene: 'rich',
    async prepare(page) {
      const switcher = page.locator('.toolbar-view label', { hasText: 'Table' });
      if (!(await switcher.isVisible())) return;
      await switcher.click();
      await page.getByLabel('Select maria.lindqvist@example.org').check();
    },
  },
  { name: 'accounts-empty', path: '/accounts', scene: 'empty' },
  { name: 'account-details', path: '/accounts?id=jun', scene: 'rich' },
  { name: 'account-revoked', path: '/accounts?id=revoked', scene: 'rich' },
  { name: 'account-add', path: '/accounts?add=sign-in', scene: 'rich' },
  {
    name: 'account-sign-in',
    path: '/accounts?add=sign-in',
    scene: 'rich',
    prepare: (page) => page.getByRole('button', { name: 'Start sign-in' }).click(),
  },
  { name: 'account-key', path: '/accounts?add=key', scene: 'rich' },
  { name: 'account-import', path: '/accounts?add=import', scene: 'rich' },
  { name: 'accounts-chinese', path: '/accounts', scene: 'rich', language: 'zh' },
  { name: 'overview-japanese', path: '/', scene: 'rich', language: 'ja' },
  { name: 'routing', path: '/routing?name=gpt-4o-mini', scene: 'rich' },
  { name: 'routing-chain', path: '/routing?name=claude-sonnet-5', scene: 'rich' },
  { name: 'routing-empty', path: '/routing', scene: 'empty' },
  { name: 'routing-catalogue', path: '/routing?tab=catalogue', scene: 'rich' },
  { name: 'routing-provider', path: '/routing?tab=provider', scene: 'rich' },
  {
    name: 'shortcuts',
    path: '/',
    scene: 'rich',
    prepare: (page) => page.keyboard.press('?'),
  },
  { name: 'not-found', path: '/no-such-page', scene: 'rich' },
  ...PAGE_VIEWS,
];
