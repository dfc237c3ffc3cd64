// Opens a view of the console on invented data, in a browser whose time and zone are always the same.

import { resolve } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { startFakeApi } from './fake-api.ts';
import type { View } from './look-views.ts';

export const ROOT = resolve(import.meta.dirname, '../..');
export const SCHEMES = ['light', 'dark'] as const;

const DIST = process.env.ISTHMUS_LOOK_DIST ?? resolve(ROOT, 'dist');
const LOCALES = { en: 'en-GB', zh: 'zh-CN', ja: 'ja-JP' } as const;
const NOW = Date.UTC(2026, 10, 21, 14, 5);

export interface Look {
  readonly view: View;
  readonly scheme: (typeof SCHEMES)[number];
  readonly size: { readonly width: number; readonly height: number };
  /** Of the address that the page sees; a free one when absent. */
  readonly port?: number;
}

/** Needs a Chromium (CHROMIUM_PATH). */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
}

/** A page that shows nothing yet: whoever listens to it misses nothing, and then calls `show`. */
export async function openView(browser: Browser, { view, scheme, size, port = 0 }: Look) {
  const { path, scene, needsPassword = false, language = 'en' } = view;
  const api = await startFakeApi({ scene, needsPassword, distPath: DIST, port, now: NOW });
  const context = await browser.newContext({
    viewport: size,
    colorScheme: scheme,
    locale: LOCALES[language],
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const loading = follow(page);
  return {
    page,
    async show(): Promise<void> {
      await page.clock.setFixedTime(NOW);
      await page.goto(api.url + path);
      await page.locator('main').first().waitFor();
      await page.waitForLoadState('load');
      await settle(page, loading);
      await view.prepare?.(page);
      await settle(page, loading);
    },
    async close(): Promise<void> {
      await context.close();
      await api.close();
    },
  };
}

/** The requests under way; the live feed, which never ends, is none of them. */
function follow(page: Page): ReadonlySet<unknown> {
  const loading = new Set<unknown>();
  page.on('request', (request) => {
    if (request.resourceType() !== 'eventsource') loading.add(request);
  });
  page.on('requestfinished', (request) => loading.delete(request));
  page.on('requestfailed', (request) => loading.delete(request));
  return loading;
}

/** Until nothing is loading any more, and what was loaded is drawn. */
async function settle(page: Page, loading: ReadonlySet<unknown>): Promise<void> {
  do {
    await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' });
    await evaluate(
      page,
      `document.fonts.ready.then(() => new Promise((done) =>
        requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))`,
    );
  } while (loading.size > 0);
  await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' });
}

/** Through the browser's own door: the page's policy allows no foreign script. */
export async function evaluate(page: Page, expression: string): Promise<unknown> {
  const session = await page.context().newCDPSession(page);
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
  return result.value;
}
